import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { SCHEDULED, type PendingWrite } from "@langchain/langgraph-checkpoint";
import { createAgent, createMiddleware, tool, type AnyAgentMiddleware } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../deep/index.ts";
import type { DeepAgentOptions } from "../../deep/options.ts";
import { HarnessError } from "../../errors.ts";
import { diskBackend } from "../../files/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { consentMiddleware, repeatsMiddleware, type ConsentRequest } from "../consent/index.ts";
import { orderedCallsMiddleware } from "../ordered-calls/index.ts";
import { isRepetition } from "./repetition.ts";

const go = { messages: [new HumanMessage("go")] };
const THREAD = { configurable: { thread_id: "t" } };
const UNKNOWN = expect.stringMatching(/^This send call was interrupted/);

/** A saver that knows what it was asked to keep of calls that begin. */
class CountingSaver extends MemorySaver {
  readonly begun: unknown[] = [];
  isBroken = false;

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], task: string): Promise<void> {
    const entries = writes.flatMap(([channel, value]) => (channel === SCHEDULED ? [value] : []));
    if (entries.length > 0 && this.isBroken) throw new Error("disk full");
    this.begun.push(...entries);
    return super.putWrites(config, writes, task);
  }
}

interface Result {
  messages: BaseMessage[];
  __interrupt__?: { id: string; value: ConsentRequest }[];
}

/** A tool that is stopped in its first run, half way. */
function stopping(name = "send", more: object = {}) {
  const controller = new AbortController();
  const seen: boolean[] = [];
  const made = tool(
    (_args, runtime) => {
      seen.push(isRepetition(runtime));
      if (seen.length > 1) return "sent";
      controller.abort();
      throw new Error("stopped");
    },
    { name, description: "s", schema: z.object({}), ...more },
  );
  return { made, seen, signal: controller.signal };
}

function deep(steps: Step[], options: Omit<DeepAgentOptions, "contextSchema">) {
  const saver = new CountingSaver();
  const model = new ScriptedModel(steps);
  const agent = createDeepAgent({ model, checkpointer: saver, plan: false, ...options });
  const run = async (input: unknown, more = {}): Promise<Result & { open: ConsentRequest[] }> => {
    const result = (await agent.invoke(input, { ...THREAD, ...more })) as unknown as Result;
    return { ...result, open: (result.__interrupt__ ?? []).map(({ value }) => value) };
  };
  return { agent, model, saver, run };
}

/** Lets calls of these tools run at the same time. */
const sideBySide = (...names: string[]): AnyAgentMiddleware =>
  orderedCallsMiddleware({
    tools: Object.fromEntries(names.map((name) => [name, "parallel"])),
  }) as AnyAgentMiddleware;

const results = (messages: readonly BaseMessage[]): string[] =>
  messages.filter((message) => message.getType() === "tool").map((message) => message.text);

describe("the record of a started call", () => {
  it("takes one write for a call that may have effects, and none for a harmless call", async () => {
    const quick = tool(() => "ok", { name: "send", description: "s", schema: z.object({}) });
    const annotations = { readOnlyHint: true };
    const look = tool(() => "ok", {
      name: "look",
      description: "l",
      schema: z.object({}),
      metadata: { annotations },
    });
    const { saver, run } = deep(
      [
        callTool("write_todos", { todos: ["A", "B"] }),
        [
          callTool("update_todos", { done: "1" }),
          callTool("write_file", { file_path: "/a", content: "1" }, "w"),
        ],
        [
          callTool("ls", {}, "1"),
          callTool("read_file", { file_path: "/a" }, "2"),
          callTool("glob", { pattern: "*" }, "3"),
        ],
        [
          callTool("grep", { pattern: "x" }, "4"),
          callTool("edit_file", { file_path: "/a", old_string: "1", new_string: "2" }, "5"),
        ],
        [callTool("look", {}, "6"), callTool("send", {}, "7")],
        callTool("task", { description: "go", subagent_type: "general-purpose" }, "8"),
        "Helped.",
        callTool("update_todos", { done: "2" }),
        "done",
      ],
      { plan: {}, tools: [quick, look] },
    );
    await run(go);
    expect(saver.begun).toEqual([{ task: expect.any(String) as string, call: "7", times: 1 }]);
  });

  it("is saved before the call runs: if saving fails, the call does not run", async () => {
    const { made, seen } = stopping();
    const { saver, run } = deep([callTool("send", {}, "s"), "done"], { tools: [made] });
    saver.isBroken = true;
    const error = await run(go).catch((thrown: unknown) => thrown);
    expect(HarnessError.from(error)).toMatchObject({ code: "storage-failed" });
    expect(seen).toEqual([]);
  });

  it("is not needed: without a checkpointer tools run as they always did", async () => {
    const { made, seen } = stopping();
    seen.push(false);
    const model = new ScriptedModel([callTool("send", {}, "s"), "done"]);
    const { messages } = await createDeepAgent({ model, plan: false, tools: [made] }).invoke(go);
    expect(results(messages)).toEqual(["sent"]);
  });
});

describe("an interrupted call", () => {
  it("gets a result of unknown outcome when the run continues", async () => {
    const { made, seen, signal } = stopping();
    const { run } = deep([callTool("send", {}, "s"), "done"], { tools: [made] });
    await expect(run(go, { signal })).rejects.toThrow(/abort/i);
    expect(results((await run(null)).messages)).toEqual([UNKNOWN]);
    expect(seen).toEqual([false]);
  });

  it("is still detected after the user has edited the state", async () => {
    const { made, seen, signal } = stopping();
    const { agent, run } = deep([callTool("send", {}, "s"), "done"], { tools: [made] });
    await expect(run(go, { signal })).rejects.toThrow(/abort/i);
    await agent.graph.updateState(THREAD, { files: { "/a": "1" } });
    expect(results((await run(null)).messages)).toEqual([UNKNOWN]);
    expect(seen).toEqual([false]);
  });

  it("is no repetition when the thread continues with another call of the same tool", async () => {
    const { made, seen, signal } = stopping();
    const { run } = deep([callTool("send", {}, "s"), callTool("send", {}, "s2"), "done"], { tools: [made] });
    await expect(run(go, { signal })).rejects.toThrow(/abort/i);
    expect(results((await run(null)).messages)).toEqual([UNKNOWN, "sent"]);
    expect(seen).toEqual([false, false]);
  });

  it("is repeated when its tool is idempotent, unless the agent's options forbid it", async () => {
    const metadata = { annotations: { idempotentHint: true } };
    const first = stopping("send", { metadata });
    const one = deep([callTool("send", {}, "s"), "done"], { tools: [first.made] });
    await expect(one.run(go, { signal: first.signal })).rejects.toThrow(/abort/i);
    expect(results((await one.run(null)).messages)).toEqual(["sent"]);
    expect(first.seen).toEqual([false, true]);

    const second = stopping("send", { metadata });
    const other = deep([callTool("send", {}, "s"), "done"], {
      tools: [second.made],
      repeats: { send: "unknown" },
    });
    await expect(other.run(go, { signal: second.signal })).rejects.toThrow(/abort/i);
    expect(results((await other.run(null)).messages)).toEqual([UNKNOWN]);
  });

  it("says in its error that it may have had its effect before", async () => {
    const controller = new AbortController();
    const made = tool(
      () => {
        controller.abort();
        throw new Error("already sent");
      },
      { name: "send", description: "s", schema: z.object({}) },
    );
    const { run } = deep([callTool("send", {}, "s"), "done"], { tools: [made], repeats: { send: "repeat" } });
    await expect(run(go, { signal: controller.signal })).rejects.toThrow(/abort/i);
    const [said] = results((await run(null)).messages);
    expect(said).toBe(
      "[This call was interrupted once before and may have had its effect then.]\nError: already sent",
    );
  });

  it("is asked about with others, and one answer without an id does not cover all", async () => {
    const [a, b] = [stopping("send"), stopping("post")];
    const { run } = deep([[callTool("send", {}, "a"), callTool("post", {}, "b")], "done"], {
      tools: [a.made, b.made],
      repeats: { "*": "ask" },
      middleware: [sideBySide("send", "post")],
    });
    await expect(run(go, { signal: a.signal })).rejects.toThrow(/abort/i);
    expect((await run(null)).open.map(({ call, repeated }) => [call, repeated])).toEqual([
      ["a", 1],
      ["b", 1],
    ]);
    const { open } = await run(new Command({ resume: { type: "approve" } }));
    expect(open).toHaveLength(2);
    expect(a.seen).toEqual([false]);
    const approve = { type: "approve" };
    const { messages } = await run(new Command({ resume: { decisions: [approve, approve] } }));
    expect(results(messages)).toEqual(["sent", "sent"]);
  });

  it("lets the later calls run for the first time, since they had not started", async () => {
    const [a, b] = [stopping("send"), stopping("post")];
    b.seen.push(true);
    const { run } = deep([[callTool("send", {}, "a"), callTool("post", {}, "b")], "done"], {
      tools: [a.made, b.made],
    });
    await expect(run(go, { signal: a.signal })).rejects.toThrow(/abort/i);
    expect(results((await run(null)).messages)).toEqual([UNKNOWN, "sent"]);
    expect(b.seen).toEqual([true, false]);
  });

  it("waits for consent only when a rule requires it, or else has an unknown outcome", async () => {
    const { made, seen, signal } = stopping();
    const { run } = deep([callTool("send", {}, "s"), "done"], {
      tools: [made],
      interruptOn: { send: { allowedDecisions: ["approve"], when: () => false } },
    });
    await expect(run(go, { signal })).rejects.toThrow(/abort/i);
    const { messages, open } = await run(null);
    expect(open).toEqual([]);
    expect(results(messages)).toEqual([UNKNOWN]);
    expect(seen).toEqual([false]);
  });

  it("is detected without Holdfast's consent middleware too", async () => {
    const { made, signal } = stopping();
    const { run } = deep([callTool("send", {}, "s"), "done"], {
      tools: [made],
      interruptOn: { send: true },
      without: ["HumanInTheLoopMiddleware"],
    });
    await expect(run(go, { signal })).rejects.toThrow(/abort/i);
    expect(results((await run(null)).messages)).toEqual([UNKNOWN]);
  });

  it("does not count as a repetition when outer middleware retries it", async () => {
    const { made, seen, signal } = stopping("send", { metadata: { annotations: { idempotentHint: true } } });
    const again = createMiddleware({
      name: "Again",
      wrapToolCall: async (request, handler) => {
        await handler(request);
        return handler(request);
      },
    });
    const model = new ScriptedModel([[callTool("send", {}, "s"), callTool("other", {}, "o")], "done"]);
    let others = 0;
    const other = tool(() => String((others += 1)), {
      name: "other",
      description: "o",
      schema: z.object({}),
    });
    // The other call has not begun when the run is stopped.
    const late = createMiddleware({
      name: "Late",
      wrapToolCall: async (request, handler) => {
        if (request.toolCall.name === "other" && !signal.aborted) await new Promise(() => {});
        return handler(request);
      },
    });
    const agent = createAgent({
      model,
      tools: [made, other],
      middleware: [late, again, repeatsMiddleware(), consentMiddleware({ interruptOn: {}, repeats: {} })],
      checkpointer: new MemorySaver(),
    });
    await expect(agent.invoke(go, { ...THREAD, signal })).rejects.toThrow(/abort|stopped/i);
    const { messages } = await agent.invoke(null, THREAD);
    expect(results(messages)).toEqual(["sent", "2"]);
    expect(seen).toEqual([false, true, true]);
  });

  it("is run again unseen where the middleware is left out", async () => {
    const { made, seen, signal } = stopping();
    const { run } = deep([callTool("send", {}, "s"), "done"], {
      tools: [made],
      without: ["RepeatsMiddleware"],
    });
    await expect(run(go, { signal })).rejects.toThrow(/abort/i);
    expect(results((await run(null)).messages)).toEqual(["sent"]);
    expect(seen).toEqual([false, false]);
  });
});

describe("a call that stopped to ask", () => {
  it("is no repetition when it continues with the answer", async () => {
    const seen: boolean[] = [];
    const made = tool(
      (_args, runtime) => {
        seen.push(isRepetition(runtime));
        return `sent to ${String(interrupt("To whom?"))}`;
      },
      { name: "send", description: "s", schema: z.object({}) },
    );
    const { run } = deep([callTool("send", {}, "s"), "done"], { tools: [made], interruptOn: { send: true } });
    await run(go);
    await run(new Command({ resume: { type: "approve" } }));
    const { messages } = await run(new Command({ resume: "Ann" }));
    expect(results(messages)).toEqual(["sent to Ann"]);
    expect(seen).toEqual([false, false]);
  });
});

describe("files on a disk", () => {
  it("are written again, and an edit, which could be made twice, is of unknown outcome", async () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-repeats-"));
    try {
      const controller = new AbortController();
      let ended = 0;
      const stop = {
        name: "Stop",
        wrapToolCall: async (request: never, handler: (request: never) => unknown) => {
          const result = await handler(request);
          if (controller.signal.aborted) return result;
          ended += 1;
          if (ended === 2) controller.abort();
          return new Promise(() => {});
        },
      } as unknown as AnyAgentMiddleware;
      const steps = [
        [
          callTool("write_file", { file_path: "/a", content: "x" }, "w"),
          callTool("edit_file", { file_path: "/b", old_string: "x", new_string: "xx" }, "e"),
        ],
        "done",
      ];
      const disk = diskBackend(folder);
      await disk.write("/b", "x");
      const { run } = deep(steps, {
        backend: disk,
        readFirst: false,
        middleware: [sideBySide("write_file", "edit_file"), stop],
      });
      await expect(run(go, { signal: controller.signal })).rejects.toThrow(/abort/i);
      expect(results((await run(null)).messages)).toEqual([
        "Replaced /a.",
        expect.stringMatching(/^This edit_file call was interrupted/),
      ]);
      expect(await disk.read("/b")).toMatchObject({ content: "xx" });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("in an agent of LangChain's", () => {
  async function stopped(middleware: AnyAgentMiddleware) {
    const { made, seen, signal } = stopping();
    const model = new ScriptedModel([callTool("send", {}, "s"), "done"]);
    const agent = createAgent({
      model,
      tools: [made],
      middleware: [middleware],
      checkpointer: new MemorySaver(),
    });
    await expect(agent.invoke(go, { ...THREAD, signal })).rejects.toThrow(/abort|stopped/i);
    const { messages } = await agent.invoke(null, THREAD);
    return { seen, results: results(messages) };
  }

  it("repeatsMiddleware alone keeps calls from being run again", async () => {
    expect(await stopped(repeatsMiddleware() as AnyAgentMiddleware)).toEqual({
      seen: [false],
      results: [UNKNOWN],
    });
  });

  it("consentMiddleware minds the tools that it asks about, and no others", async () => {
    const middleware = consentMiddleware({ interruptOn: { other: true } }) as AnyAgentMiddleware;
    expect(await stopped(middleware)).toEqual({ seen: [false, false], results: ["sent"] });
  });

  it("a policy that there is not is refused", () => {
    expect(() => repeatsMiddleware({ send: "never" as never })).toThrow(HarnessError);
    expect(() => createDeepAgent({ repeats: { send: "never" as never } })).toThrow(/repeats\.send/);
  });
});
