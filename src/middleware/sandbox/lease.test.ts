import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { ClientTool } from "@langchain/core/tools";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { stateFiles } from "../../files/backends/state.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { clarificationMiddleware } from "../clarification/index.ts";
import { threadDataMiddleware, threadFolders } from "../thread-data/index.ts";
import { sandboxMiddleware, type SandboxOptions, type SandboxProvider } from "./index.ts";
import { Lease } from "./lease.ts";

const baseDir = mkdtempSync(join(tmpdir(), "holdfast-leases-"));
afterAll(() => rmSync(baseDir, { recursive: true }));

const PATH = "/mnt/user-data/outputs/a.md";
const write = (content: string) => callTool("write_file", { file_path: PATH, content });
const read = callTool("read_file", { file_path: PATH });
const go = { messages: [new HumanMessage("go")] };

const THREAD = { threadId: "1", folders: threadFolders(baseDir, "1") };

let log: string[];
let provider: SandboxProvider;
beforeEach(() => {
  log = [];
  provider = {
    name: "logging",
    acquire: () => {
      log.push("acquire");
      return Promise.resolve({ id: "1", isolation: "none", backend: stateFiles({}) });
    },
    release: () => {
      log.push("release");
      return Promise.resolve();
    },
  };
});

/** A promise, and what fulfils it. */
function latch() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** Requests of one thread, or of none, each with an agent of its own. */
function thread(thread_id: string | undefined, options: SandboxOptions = {}) {
  const checkpointer = new MemorySaver();
  return async (
    steps: Step[],
    { input = go, tools = [], ...config }: RunnableConfig & { input?: unknown; tools?: ClientTool[] } = {},
  ) => {
    const agent = createAgent({
      model: new ScriptedModel(steps),
      tools,
      middleware: [
        threadDataMiddleware({ baseDir, ...options }),
        sandboxMiddleware({ provider, baseDir, ...options }),
        clarificationMiddleware(),
      ],
      checkpointer: thread_id === undefined ? undefined : checkpointer,
    });
    const state = await agent.invoke(input as typeof go, {
      ...config,
      ...(thread_id !== undefined && { configurable: { thread_id } }),
    });
    const replies = state.messages.filter((message) => ToolMessage.isInstance(message));
    return { replies: replies.map((message) => message.text), folder: state.threadData?.outputs };
  };
}

/** A step or a tool that waits: `started` when it does, until `finish` is called. */
function waiting() {
  const [started, finished] = [latch(), latch()];
  const wait = async (): Promise<string> => {
    started.open();
    await finished.opened;
    return "ok";
  };
  return { wait, started: started.opened, finish: finished.open };
}

describe("a sandbox is released", () => {
  it("when a plain run ends", async () => {
    await thread("1")([write("1"), "ok"]);
    expect(log).toEqual(["acquire", "release"]);
  });

  it("when the run that continues after a question ends, and not before", async () => {
    const run = thread("1");
    await run([write("1"), callTool("ask_clarification", { question: "?" })]);
    expect(log).toEqual(["acquire"]);
    const { replies } = await run([read, "ok"], { input: new Command({ resume: "yes" }) });
    expect(replies.at(-1)).toContain("1");
    expect(log).toEqual(["acquire", "release"]);
  });

  it("when the run after a failed one ends", async () => {
    const run = thread("1");
    await expect(run([write("1"), new Error("model down")])).rejects.toThrow("model down");
    expect(log).toEqual(["acquire"]);
    await run(["ok"]);
    expect(log).toEqual(["acquire", "release"]);
  });

  it("when the run after an aborted one ends, whose model still has not answered", async () => {
    const run = thread("1");
    const { wait, started, finish } = waiting();
    const controller = new AbortController();
    const aborted = run([write("1"), wait], { signal: controller.signal });
    await started;
    controller.abort();
    await expect(aborted).rejects.toThrow(/abort/i);
    const { replies } = await run([read, "ok"]);
    expect(replies.at(-1)).toContain("1");
    expect(log).toEqual(["acquire", "release"]);
    finish();
  });

  it("when the last of two concurrent runs ends, in its model or in a tool", async () => {
    for (const where of ["model", "tool"]) {
      const run = thread(where);
      const { wait, started, finish } = waiting();
      const slow = tool(wait, { name: "slow", description: "s", schema: z.object({}) });
      const first = run(where === "model" ? [write("1"), wait] : [write("1"), callTool("slow"), "ok"], {
        tools: [slow],
      });
      await started;
      await run([read, "ok"]);
      expect(log).toEqual(["acquire"]);
      finish();
      await first;
      expect(log).toEqual(["acquire", "release"]);
      log.length = 0;
    }
  });

  it("when the other of two runs at a time has failed", async () => {
    const run = thread("1");
    const { wait, started, finish } = waiting();
    const first = run([write("1"), wait]);
    await started;
    await expect(run([new Error("model down")])).rejects.toThrow("model down");
    finish();
    await first;
    expect(log).toEqual(["acquire", "release"]);
  });

  it("at once when a run without a thread fails, which no other run can follow", async () => {
    const run = thread(undefined);
    await expect(run([write("1"), new Error("model down")])).rejects.toThrow("model down");
    expect(log).toEqual(["acquire", "release"]);
  });

  it("when the run after one that stopped between two calls ends", async () => {
    const run = thread("1");
    await expect(run([write("1"), read], { recursionLimit: 3 })).rejects.toThrow("Recursion limit");
    await run(["ok"]);
    expect(log).toEqual(["acquire", "release"]);
  });

  it("not by the end of a run that started during another run's call", async () => {
    const lease = new Lease(provider, THREAD);
    await lease.sandbox();
    const call = { run: "a", signal: undefined };
    lease.begin(call);
    const other = { run: "b", signal: undefined };
    lease.begin(other);
    lease.end(other, { failed: false });
    lease.end(call, { failed: false });
    await lease.release("b");
    expect(log).toEqual(["acquire"]);
    await lease.release("a");
    expect(log).toEqual(["acquire", "release"]);
  });

  it("although a tool of an aborted run has not noticed", async () => {
    const lease = new Lease(provider, THREAD);
    await lease.sandbox();
    lease.begin({ run: "a", signal: AbortSignal.abort() });
    const call = { run: "b", signal: undefined };
    lease.begin(call);
    lease.end(call, { failed: false });
    await lease.release("b");
    expect(log).toEqual(["acquire", "release"]);
  });

  it("before the thread's next one is acquired", async () => {
    const { wait, finish } = waiting();
    const slow: SandboxProvider = {
      ...provider,
      release: async (sandbox) => {
        await wait();
        await provider.release(sandbox);
      },
    };
    const lease = new Lease(slow, THREAD);
    await lease.sandbox();
    const released = lease.release("a");
    const next = lease.sandbox();
    finish();
    await Promise.all([released, next]);
    expect(log).toEqual(["acquire", "release", "acquire"]);
    expect(lease.isIdle).toBe(false);
    await lease.release("b");
    expect(lease.isIdle).toBe(true);
  });
});

describe("a sandbox is not shared", () => {
  it("by threads of the same id in different base directories", async () => {
    const { wait, started, finish } = waiting();
    const steps = [write("A's secret"), wait];
    const first = thread("1", { baseDir: join(baseDir, "a") })(steps);
    await started;
    const { replies } = await thread("1", { baseDir: join(baseDir, "b") })([read, "ok"]);
    expect(replies[0]).not.toContain("secret");
    expect(log).toEqual(["acquire", "acquire", "release"]);
    finish();
    await first;
    expect(log).toEqual(["acquire", "acquire", "release", "release"]);
  });

  it("by runs without a thread, which have folders of their own", async () => {
    const { wait, started, finish } = waiting();
    const steps = [write("secret"), wait];
    const anonymous = thread(undefined);
    const first = anonymous(steps);
    await started;
    const second = await anonymous([read, "ok"]);
    const third = await thread("thread")([read, "ok"]);
    for (const { replies } of [second, third]) expect(replies[0]).not.toContain("secret");
    finish();
    const folders = [await first, second, third].map(({ folder }) => folder);
    expect(new Set(folders).size).toBe(3);
    expect(log.filter((entry) => entry === "acquire")).toHaveLength(3);
    expect(log.filter((entry) => entry === "release")).toHaveLength(3);
  });
});
