import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage } from "@langchain/core/messages";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { tool } from "langchain";
import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { runGraph, taskInput } from "../../../test/helpers/models/run-thread.ts";
import { STORES_BELOW } from "../../../test/helpers/postgres/stores.ts";
import { createDeepAgent } from "../../deep/index.ts";
import { HarnessError } from "../../errors.ts";
import { LEASE } from "../../storage/store/thread-store.ts";
import { callTool, ScriptedModel } from "../../testing/index.ts";
import type { RunEventBody } from "../events/events.ts";
import { createRunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../prepare/settings.ts";
import { Thread } from "../thread/thread.ts";
import { copyThread } from "../undo/copy-thread.ts";

const go = { messages: [new HumanMessage("go")] };
const schema = z.looseObject({});
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-ordered-turn-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const resultsOf = (state: object): string[] =>
  (state as { messages: { type: string; text: string }[] }).messages.flatMap(({ type, text }) =>
    type === "tool" ? text : [],
  );

it("a fork of a thread that waits in mid-turn keeps the order of the turn", async () => {
  const checkpointer = new MemorySaver();
  const log: string[] = [];
  const ask = tool(
    (_, { configurable }) => {
      const answer = String(interrupt("Which?"));
      log.push(`${String(configurable?.["thread_id"])} ask ${answer}`);
      return answer;
    },
    { name: "ask", description: "a", schema },
  );
  const note = tool(
    ({ n }, { configurable }) => String(log.push(`${String(configurable?.["thread_id"])} note ${String(n)}`)),
    { name: "note", description: "n", schema },
  );
  const turn = [
    callTool("note", { n: 1 }, "c0"),
    callTool("write_file", { file_path: "/a.md", content: "one\n" }, "c1"),
    callTool("ask", {}, "c2"),
    callTool("edit_file", { file_path: "/a.md", old_string: "one", new_string: "two" }, "c3"),
    callTool("read_file", { file_path: "/a.md" }, "c4"),
    callTool("note", { n: 2 }, "c5"),
  ];
  const agentOf = (steps: ConstructorParameters<typeof ScriptedModel>[0]) =>
    createDeepAgent({ model: new ScriptedModel(steps), tools: [ask, note], plan: false, checkpointer });
  const config = (thread: string) => ({ configurable: { thread_id: thread } });
  await agentOf([turn]).invoke(go, config("t"));
  expect(log).toEqual(["t note 1"]);
  await copyThread(checkpointer, { from: "t", to: "fork" });
  for (const [thread, resume] of [
    ["fork", "left"],
    ["t", "right"],
  ] as const) {
    log.length = 0;
    const state = await agentOf(["ok"]).invoke(new Command({ resume }), config(thread));
    // What had ended before the fork is not done again in either.
    expect(log).toEqual([`${thread} ask ${resume}`, `${thread} note 2`]);
    expect(resultsOf(state).slice(1, 5)).toEqual([
      "Created /a.md.",
      resume,
      "Edited /a.md:\n     1\ttwo",
      "     1\ttwo",
    ]);
    expect(state.files).toEqual({ "/a.md": "two\n" });
  }
});

it.each(STORES_BELOW)(
  "a new worker of a thread keeps the turn's order, and the old worker stops: $name",
  async ({ create }) => {
    const place = await create();
    const [first, second] = [await place.open(), await place.open()];
    const log: string[] = [];
    let hold: (() => void) | undefined;
    const isHeld = new Promise<void>((resolve) => {
      hold = resolve;
    });
    let reached: (() => void) | undefined;
    const isReached = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const agentOf = (
      worker: string,
      store: typeof first,
      steps: ConstructorParameters<typeof ScriptedModel>[0],
    ) => {
      const work = tool(
        async ({ n }) => {
          log.push(`${worker} ${String(n)}`);
          if (worker === "first" && n === 2) {
            reached!();
            await isHeld;
          }
          return `done ${String(n)}`;
        },
        { name: "work", description: "w", schema },
      );
      const model = new ScriptedModel(steps);
      return createDeepAgent({ model, tools: [work], plan: false, checkpointer: store as never });
    };
    const turn = [1, 2, 3, 4].map((n) => callTool("work", { n }, `c${n}`));
    const held = await first.acquireThread("t");
    const stopped = agentOf("first", first, [turn, "ok"])
      .invoke(go, { configurable: { thread_id: "t", [LEASE]: held.token }, durability: "sync" })
      .then(
        () => "ended",
        (error: Error) => HarnessError.from(error)?.code ?? error.message,
      );
    await isReached;
    const taken = await second.acquireThread("t", { force: true });
    const state = await agentOf("second", second, ["ok"]).invoke(null as never, {
      configurable: { thread_id: "t", [LEASE]: taken.token },
      durability: "sync",
    });
    hold!();
    expect(await stopped).toMatch(/^thread-(?:busy|changed)$/);
    expect(log).toEqual(["first 1", "first 2", "second 3", "second 4"]);
    expect(resultsOf(state)).toEqual([
      "done 1",
      expect.stringContaining("This work call was interrupted"),
      "done 3",
      "done 4",
    ]);
    await Promise.all([first.close(), second.close()]);
    place.remove();
  },
);

it("events show no call of a message before the calls that it follows have ended", async () => {
  const events: RunEventBody[] = [];
  const model = new ScriptedModel([
    [
      callTool("read_file", { file_path: "/none.md" }, "r0"),
      callTool("ls", {}, "r1"),
      callTool("write_file", { file_path: "/a.md", content: "one\n" }, "w2"),
      callTool("edit_file", { file_path: "/a.md", old_string: "one", new_string: "two" }, "w3"),
      callTool("execute", { command: "cat a.md" }, "w4"),
      callTool("read_file", { file_path: "/a.md" }, "r5"),
      callTool("glob", { pattern: "/*.md" }, "r6"),
    ],
    "ok",
  ]);
  const settings = {
    ...DEFAULT_SETTINGS,
    model: "scripted",
    dir: folder,
    shell: true,
    mode: "auto" as const,
  };
  const agent = createRunAgent({ settings, model, checkpointer: new MemorySaver() });
  await runGraph(taskInput("Go", {}), {
    thread: new Thread(agent, "t"),
    model: { model, name: "scripted", source: "option" },
    emit: (event) => void events.push(event),
    signal: new AbortController().signal,
    answer: () => Promise.resolve(undefined),
  });
  const shown = events.flatMap((event) =>
    event.type === "tool-start" ? `> ${event.call}` : event.type === "tool-end" ? `< ${event.call}` : [],
  );
  const at = (mark: string): number => shown.indexOf(mark);
  expect(shown.filter((mark) => mark.startsWith(">"))).toEqual(
    ["r0", "r1", "w2", "w3", "w4", "r5", "r6"].map((call) => `> ${call}`),
  );
  for (const change of ["w2", "w3", "w4"]) {
    const earlier = shown.filter((mark) => mark.startsWith(">") && at(mark) < at(`> ${change}`));
    for (const mark of earlier) expect(at(mark.replace(">", "<"))).toBeLessThan(at(`> ${change}`));
  }
  for (const read of ["r5", "r6"]) expect(at("< w4")).toBeLessThan(at(`> ${read}`));
});
