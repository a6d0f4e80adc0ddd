import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { planEditContract, stepOf } from "../../../test/contracts/plan-edits.ts";
import { runGraph, taskInput } from "../../../test/helpers/models/run-thread.ts";
import type { Todo } from "../../plan/index.ts";
import { sqliteSaver, type SqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { createRunAgent, type RunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../prepare/settings.ts";
import { Thread } from "../thread/thread.ts";
import { requestEdit } from "./mailbox.ts";

const PLAN = callTool("write_todos", { todos: ["Dig", "Plant", "Water"] });
const LOOK = callTool("ls", { path: "/" });
const done = (ids: string) => callTool("update_todos", { done: ids, note: "by hand" });

let folder: string;
/** The store as the process that runs the thread has it, and as another one has. */
let runner: SqliteSaver;
let other: SqliteSaver;
let editor: RunAgent;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-mailbox-"));
  runner = await sqliteSaver(join(folder, "threads.db"));
  other = await sqliteSaver(join(folder, "threads.db"));
  editor = agentWith([], other);
});
afterEach(() => {
  runner.close();
  other.close();
  rmSync(folder, { recursive: true, force: true });
});

function agentWith(steps: Step[], checkpointer: SqliteSaver, options: { loop?: boolean } = {}): RunAgent {
  const settings = { ...DEFAULT_SETTINGS, model: "scripted" };
  return createRunAgent({ settings, model: new ScriptedModel(steps, options), checkpointer });
}

const NEVER = new AbortController().signal;

const run = (
  steps: Step[],
  { answer = async () => undefined, ...options }: { answer?: () => Promise<unknown>; loop?: boolean } = {},
) => {
  const agent = agentWith(steps, runner, options);
  return runGraph(taskInput("Go", {}), {
    thread: new Thread(agent, "t"),
    model: { model: new ScriptedModel([]), name: "scripted", source: "option" },
    emit: () => {},
    signal: NEVER,
    answer,
  });
};

const rows = async (): Promise<number> => (await (await other.mailbox("t"))?.waiting())?.length ?? 0;
const plan = async () =>
  (await new Thread(editor, "t").todos()).map(({ content, status }) => `${content} ${status}`);
const change = (todos: Todo[], id: string, content: string) =>
  todos.map((todo) => (todo.id === id ? { ...todo, content } : todo));

/** Asks for another text of item 3, and says how often it had to wait. */
async function request(
  content: string,
  { base, signal = NEVER }: { base?: Todo[]; signal?: AbortSignal } = {},
) {
  let waits = 0;
  const seen = base ?? (await new Thread(editor, "t").todos());
  const todos = await requestEdit(
    new Thread(editor, "t"),
    { base: seen, todos: change(seen, "3", content) },
    { signal, onWait: () => (waits += 1) },
  );
  return { waits, todos };
}

describe("in a process other than the one that runs the thread,", () => {
  planEditContract(() => ({
    run: (turn) => run([stepOf(turn)], { loop: true }),
    plan: () => new Thread(editor, "t").todos(),
    edit: (todos, base) =>
      requestEdit(new Thread(editor, "t"), { todos, base }, { signal: NEVER, onWait: () => {} }),
    hasConflicts: true,
  }));
});

it("an edit that comes too late for the run is made as soon as the thread is free", async () => {
  const requests: ReturnType<typeof request>[] = [];
  await run([
    PLAN,
    () => {
      requests.push(request("Water daily"));
      return "Stop.";
    },
    "Stop.",
    "Stop.",
  ]);
  await requests[0];
  expect(await plan()).toContain("Water daily pending");
  expect(await rows()).toBe(0);
});

it("a withdrawn edit is not made", async () => {
  const stop = new AbortController();
  const requests: Promise<unknown>[] = [];
  await run([
    PLAN,
    async () => {
      requests.push(request("Water daily", { signal: stop.signal }).catch((error: unknown) => error));
      while ((await rows()) === 0) await sleep(10);
      stop.abort();
      while ((await rows()) > 0) await sleep(10);
      return LOOK;
    },
    done("1,2,3"),
    "Done.",
  ]);
  expect(await requests[0]).toMatchObject({ code: "edit-withdrawn" });
  expect(await plan()).toContain("Water completed");
});

it("an edit that waits for the end of a turn can be withdrawn", async () => {
  const stop = new AbortController();
  let withdrawn: unknown;
  await run([PLAN, callTool("ask_clarification", { question: "Which bed?" }), "Stop.", "Stop.", "Stop."], {
    answer: async () => {
      await request("Water daily");
      const back = request("Water", { signal: stop.signal }).catch((error: unknown) => (withdrawn = error));
      while ((await rows()) === 0) await sleep(10);
      // The run has looked at it when it answers one that came later.
      await request("Water daily");
      stop.abort();
      await back;
    },
  });
  expect(withdrawn).toMatchObject({ code: "edit-withdrawn" });
  expect(await plan()).toContain("Water daily pending");
});

it("an edit whose editor has exited is made by the next holder of the thread", async () => {
  await run([PLAN, "Stop.", "Stop.", "Stop."]);
  const base = await new Thread(editor, "t").todos();
  await (await other.mailbox("t"))!.post({ base, todos: [...base, "Weed"] });
  await run([done("1,2,3,4"), "Done."]);
  expect(await plan()).toHaveLength(4);
  expect(await rows()).toBe(0);
});

it.each([true, false])(
  "an edit started by a killed process is made once (it had been written: %s)",
  async (isWritten) => {
    await run([PLAN, "Stop.", "Stop.", "Stop."]);
    const base = await new Thread(editor, "t").todos();
    const mailbox = (await other.mailbox("t"))!;
    const id = await mailbox.post({ base, todos: [...base, "Weed"] });
    const begun = [...base, { id: "4", content: "Weed", status: "pending" }];
    await mailbox.begin(id, begun);
    const config = { configurable: { thread_id: "t" } };
    if (isWritten) await editor.graph.updateState(config, { todos: begun });
    // Nobody runs the thread.
    expect(await request("Water daily")).toMatchObject({ waits: 0 });
    expect((await plan()).filter((line) => line.startsWith("Weed"))).toHaveLength(1);
    expect(await plan()).toContain("Water daily pending");
    expect(await mailbox.fetch(id)).toMatchObject({ todos: [{}, {}, {}, { content: "Weed" }] });
  },
);

it("a run without letters checks its mailbox only at its start and its end", async ({ onTestFinished }) => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  let rounds = 0;
  let looks = 0;
  const threadsWithMail = runner.threadsWithMail.bind(runner);
  const mailbox = runner.mailbox.bind(runner);
  runner.threadsWithMail = () => {
    rounds += 1;
    return threadsWithMail();
  };
  runner.mailbox = (thread) => {
    looks += 1;
    return mailbox(thread);
  };
  const severalRounds: Step = async () => {
    const until = rounds + 3;
    const isOver = (): boolean => rounds >= until;
    while (!isOver()) await vi.advanceTimersByTimeAsync(100);
    return "Done.";
  };
  await run([severalRounds]);
  expect(looks).toBe(2);
  // Nobody is left to look for.
  expect(vi.getTimerCount()).toBe(0);
});
