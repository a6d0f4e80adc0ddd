import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, InMemoryTransport, type Progress } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { questionContract, reasonIn, textOf } from "../../../test/contracts/questions.ts";
import { sqliteSaver, type SqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { RunHost } from "../../threads/host/host.ts";
import { threadsGraph } from "../../threads/host/threads-graph.ts";
import { DEFAULT_SETTINGS, type RunSettings } from "../../threads/prepare/settings.ts";
import { loadSdk } from "./sdk.ts";
import { mcpServer } from "./server.ts";
import { Threads, type Patience } from "./threads.ts";

interface Stage {
  Host?: typeof RunHost;
  settings?: Partial<RunSettings>;
  /** Fills in a form; undefined declines it. */
  fill?: (message: string) => Record<string, string> | undefined;
}

async function connected(
  steps: readonly Step[],
  patience: Partial<Patience> = {},
  { Host = RunHost, settings = {}, fill }: Stage = {},
) {
  const saver = await sqliteSaver(":memory:");
  const scripted = new ScriptedModel(steps);
  const model = { model: scripted, name: "scripted", source: "option", isFallback: false };
  const graph = threadsGraph({
    saver,
    defaults: { ...DEFAULT_SETTINGS, ask: ["delete_file"], ...settings },
    cwd: process.cwd(),
    modelOf: async () => model,
  });
  const host = new Host({
    graphs: new Map([["holdfast", graph]]),
    checkpointer: saver,
    ledger: saver.ledger,
  });
  const threads = new Threads(host, saver, { waitMs: 3_600_000, silenceMs: 3_600_000, ...patience });
  const [here, there] = InMemoryTransport.createLinkedPair();
  await mcpServer(await loadSdk(), threads).connect(there);
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities: fill ? { elicitation: { form: {} } } : {} },
  );
  if (fill) {
    client.setRequestHandler("elicitation/create", ({ params }) => {
      const content = fill(params.message);
      return content ? { action: "accept" as const, content } : { action: "decline" as const };
    });
  }
  await client.connect(here);
  const call = async (
    name: string,
    args: object,
    onprogress?: (progress: Progress) => void,
    signal?: AbortSignal,
  ) => {
    const result = await client.callTool(
      { name, arguments: { ...args } },
      { timeout: 3_600_000, onprogress, signal },
    );
    const [block] = result.content;
    const text = block?.type === "text" ? block.text : "";
    return { text, ...(result.structuredContent as object) } as {
      text: string;
      thread: string;
      state: string;
      answer: string;
      plan: object[];
    };
  };
  return { call, model: scripted, saver, close: () => host.stop() };
}

/** A step that takes until somebody says so. */
function gate(): { step: Step; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const step: Step = async () => {
    await opened;
    return "Done at last.";
  };
  return { step, open };
}

it("a caller without progress events gets the thread early and waits in another call", async () => {
  const { step, open } = gate();
  const { call, close } = await connected([step], { waitMs: 1 });
  const first = await call("run_task", { task: "Take your time" });
  expect(first.state).toBe("running");
  const { thread } = first;
  expect(await call("continue_task", { thread })).toMatchObject({ thread, state: "running" });
  open();
  await vi.waitFor(
    async () =>
      expect(await call("continue_task", { thread })).toMatchObject({
        state: "done",
        answer: "Done at last.",
      }),
    120_000,
  );
  await close();
});

it("a caller that hears progress hears it also while nothing happens", async () => {
  const { step, open } = gate();
  const { call, close } = await connected([step], { silenceMs: 1 });
  const heard: Progress[] = [];
  const done = call("run_task", { task: "Take your time" }, (one) => {
    heard.push(one);
    if (heard.length === 5) open();
  });
  expect(await done).toMatchObject({ state: "done" });
  expect(heard.length).toBeGreaterThanOrEqual(5);
  await close();
});

it("a waiting thread keeps a turn's finished work when the caller sends new words", async () => {
  const { call, close } = await connected([
    callTool("write_file", { file_path: "/a.md", content: "a" }),
    [callTool("write_todos", { todos: ["Read", "Delete"] }), callTool("delete_file", { file_path: "/a.md" })],
    callTool("update_todos", { cancel: "1,2" }),
    "Nothing is deleted.",
  ]);
  const { thread, state } = await call("run_task", { task: "Delete it" });
  expect(state).toBe("waiting");
  const told = await call("continue_task", { thread, message: "Leave it" });
  expect(told).toMatchObject({ state: "done", answer: "Nothing is deleted." });
  expect(told.plan).toMatchObject([{ content: "Read" }, { content: "Delete" }]);
  await close();
});

it("a caller that goes away while runs cannot be stopped takes nothing with it", async () => {
  const { step, open } = gate();
  let refused = 0;
  class Away extends RunHost {
    override cancel(): Promise<boolean> {
      refused += 1;
      return Promise.reject(new Error("The database is away."));
    }
  }
  const { call, close } = await connected([step, "Something else."], { silenceMs: 1 }, { Host: Away });
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", onUnhandled);
  const leaving = new AbortController();
  const left = call("run_task", { task: "Take your time" }, () => leaving.abort(), leaving.signal);
  await expect(left).rejects.toThrow(/abort/i);
  await vi.waitFor(() => expect(refused).toBe(1), 120_000);
  open();
  expect(await call("run_task", { task: "Another" })).toMatchObject({ state: "done" });
  process.off("unhandledRejection", onUnhandled);
  expect(unhandled).toEqual([]);
  await close();
});

describe("questions", () => {
  let dir: string;
  let played: SqliteSaver;
  const store = () => played;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "holdfast-mcp-"));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  describe("to a caller that has forms", () => {
    questionContract(() => ({
      dir,
      store,
      play: async ({ replies, settings, answers }) => {
        const left = [...answers];
        const fill = (message: string): Record<string, string> => {
          const answer = left.shift()!;
          if (message.includes("Which colour?")) return { answer };
          const reason = reasonIn(answer);
          return reason === undefined ? { decision: answer } : { decision: "reject", reason };
        };
        const stage = await connected(replies, {}, { settings: { dir, ask: [], ...settings }, fill });
        played = stage.saver;
        await stage.call("run_task", { task: "Go" });
        await stage.close();
        return stage.model.requests.map(textOf);
      },
    }));
  });

  describe("to a caller without forms, as the task's result", () => {
    questionContract(() => ({
      dir,
      store,
      play: async ({ replies, settings, answers }) => {
        const stage = await connected(replies, {}, { settings: { dir, ask: [], ...settings } });
        played = stage.saver;
        const { thread } = await stage.call("run_task", { task: "Go" });
        for (const answer of answers) await stage.call("answer", { thread, answer });
        await stage.close();
        return stage.model.requests.map(textOf);
      },
    }));
  });

  it("stay open after an unclear answer, and an answer without a question is refused", async () => {
    const write = callTool("write_file", { file_path: "/a.txt", content: "new" });
    const steps = [write, "Written.", "Hello again."];
    const { call, close } = await connected(steps, {}, { settings: { dir, ask: ["write_file"] } });
    const { state, thread, text } = await call("run_task", { task: "Write a.txt" });
    expect(state).toBe("waiting");
    expect(text).toContain("asks for permission:\nwrite_file");
    expect((await call("answer", { thread, answer: "perhaps" })).text).toContain("is not understood");
    expect((await call("continue_task", { thread })).state).toBe("waiting");
    expect((await call("answer", { thread, answer: "approve" })).text).toContain("Written.");
    expect((await call("answer", { thread, answer: "approve" })).text).toContain("asks nothing");
    expect((await call("continue_task", { thread, message: "Hello" })).text).toContain("Hello again.");
    await close();
  });
});
