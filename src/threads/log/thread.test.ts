import { describe, expect, it, onTestFinished } from "vitest";
import { WorkCounter } from "../../../test/helpers/measure/work-counter.ts";
import type { PlanEntry } from "./entries.ts";
import { exportHtml } from "./html/index.ts";
import type { StampedEvent } from "./thread-events.ts";
import { EMPTY_THREAD, follow, planOf, rulesOf, threadOf, withCalls, type ThreadState } from "./thread.ts";
import { timelineOf } from "./timeline/lanes.ts";
import { exportMarkdown } from "./transcript.ts";
import { changeWords } from "./words.ts";

const USAGE = { inputTokens: 10, outputTokens: 5, cachedTokens: 0 };
const COUNTS = { total: 1, pending: 0, in_progress: 1, completed: 0, blocked: 0, cancelled: 0 };
const TODO = { id: "1", content: "Look", status: "in_progress" as const };

type Body<Of = StampedEvent> = Of extends StampedEvent ? Omit<Of, "version" | "at" | "thread"> : never;

function after(bodies: readonly Body[], start: ThreadState = EMPTY_THREAD): ThreadState {
  const events = bodies.map((body, index): StampedEvent => ({
    ...body,
    version: 1,
    thread: "t",
    at: index * 1000,
  }));
  return follow(start, events);
}

const START: Body = { type: "run-start", model: "m", resumed: false, task: "Do it" };
const PLAN: Body = {
  type: "plan-change",
  owner: "main",
  by: "model",
  changes: [],
  counts: COUNTS,
  todos: [TODO],
};
const DONE: Body = { type: "run-end", outcome: "done", exitCode: 0, counts: COUNTS, usage: USAGE, cost: 0.5 };

describe("a thread made of its events", () => {
  it("has the rules of its plan until they are changed, and says so", () => {
    const rules = ["never touch date.js"];
    const ruled = after([START, { ...PLAN, rules }, PLAN]);
    expect(rulesOf(ruled)).toEqual(rules);
    expect(changeWords(ruled.entries.find(({ kind }) => kind === "plan") as PlanEntry)).toBe(
      "set the rule “never touch date.js”",
    );
    expect(rulesOf(after([{ ...PLAN, rules: [] }], ruled))).toEqual([]);
  });

  it("shows thoughts folded before their answer or calls, in every export", () => {
    const thought = { type: "thought", owner: "main", text: "Hm, <b>the sea" } as const;
    const open = after([START, { type: "model-start", owner: "main" }, thought, thought]);
    expect(open.entries.at(-1)).toMatchObject({
      text: "",
      thoughts: "Hm, <b>the seaHm, <b>the sea",
      isOpen: true,
    });
    const end: Body = {
      type: "model-end",
      owner: "main",
      text: "",
      thoughts: "Hm, <b>the sea",
      usage: USAGE,
    };
    const calls = after([end], open);
    expect(calls.entries.at(-1)).toMatchObject({ text: "", thoughts: "Hm, <b>the sea", isOpen: false });
    expect(exportHtml("t", calls)).toContain(
      '<details class="thoughts"><summary>Thoughts</summary><p class="text about">Hm, &lt;b&gt;the sea</p></details>',
    );
    const events = [{ ...end, text: "Blue.", version: 1, thread: "t", at: 0 } as StampedEvent];
    expect(exportMarkdown("t", calls, { events })).toContain(
      "<details><summary>Agent: thoughts</summary>\n\n```\nHm, <b>the sea\n```\n\n</details>\n\n## Agent\n\nBlue.",
    );
  });

  it("keeps its plan, its tokens and its cost when the next run begins", () => {
    const usage: Body = { type: "model-end", owner: "main", text: "Hello", usage: USAGE };
    const state = after([START, PLAN, usage, DONE, START, usage, DONE]);
    expect(planOf(state)).toEqual([TODO]);
    expect(state.view.usage).toEqual({ inputTokens: 20, outputTokens: 10, cachedTokens: 0 });
    expect(state.cost).toBe(1);
  });

  it("keeps the plan of each request, and calls items by their words at the time", () => {
    const done = { ...TODO, status: "completed" as const };
    const completed = { type: "todo-status", id: "1", from: "in_progress", to: "completed" };
    const next = { id: "1", content: "Build", status: "in_progress" as const };
    const state = after([
      START,
      PLAN,
      { ...PLAN, changes: [completed], todos: [done] },
      DONE,
      { ...START, task: "Now build" },
      { type: "plan-snapshot", owner: "main", todos: [done] },
      { ...PLAN, changes: [{ type: "plan-reset" }], todos: [next] },
    ]);
    expect(state.plans).toMatchObject([
      { task: "Do it", todos: [done] },
      { task: "Now build", todos: [next] },
    ]);
    const words = state.entries.flatMap((entry) => (entry.kind === "plan" ? (changeWords(entry) ?? []) : []));
    expect(words).toEqual(["completed “Look”"]);
    const html = exportHtml("t", state);
    expect([...html.matchAll(/href="#([\w-]+)"/g)].map(([, id]) => id)).toEqual([
      "plan-2",
      "plan-1",
      "timeline",
      "conversation",
    ]);
    expect(html.indexOf("Plan 2: Now build")).toBeLessThan(html.indexOf("Plan 1: Do it"));
    const markdown = exportMarkdown("t", state, { events: [], cost: 0.5 });
    expect(markdown).toContain("- [Plan 2: Now build](#plan-2)\n- [Plan 1: Do it](#plan-1)\n- [Timeline]");
    expect(markdown).toContain("## Plan 1: Do it\n\n- [x] Look *(Done)*");
    expect(markdown).toMatch(/\| \d\d:\d\d:\d\d \| 1 s \| item \| Look \|/);
    expect(markdown).toContain("$0.50");
  });

  it("counts working and waiting apart", () => {
    const question: Body = { type: "question", id: "q", kind: "other", text: "?", options: [] };
    const answer: Body = { type: "answer", id: "q", answer: "yes" };
    const { time } = after([START, question, answer, DONE]);
    expect(time).toEqual({ workedMs: 2000, waitedMs: 1000 });
    // Of two that are open, the time until both are answered counts once.
    const other = { ...question, id: "r" };
    const both = after([START, question, other, answer, { ...answer, id: "r" }, DONE]);
    expect(both.time).toEqual({ workedMs: 2000, waitedMs: 3000 });
    const waiting: Body = { ...DONE, outcome: "waiting" };
    const later = after([START, question, waiting, { ...START, task: undefined }, DONE]);
    expect(later.time).toEqual({ workedMs: 2000, waitedMs: 2000 });
    expect(after([START, PLAN, PLAN, { ...DONE, waitedMs: 1500 }]).time).toEqual({
      workedMs: 1500,
      waitedMs: 1500,
    });
  });

  it("puts pieces of text together and replaces them with the whole answer", () => {
    const pieces: Body[] = [
      START,
      { type: "text", owner: "main", text: "Hel" },
      { type: "text", owner: "main", text: "lo" },
    ];
    expect(after(pieces).entries.at(-1)).toMatchObject({ kind: "text", text: "Hello", isOpen: true });
    const whole = after([...pieces, { type: "model-end", owner: "main", text: "Hello!", usage: USAGE }]);
    expect(whole.entries.filter(({ kind }) => kind === "text")).toMatchObject([
      { text: "Hello!", isOpen: false },
    ]);
  });

  it("withdraws the text of an answer that starts again", () => {
    const anew = after([
      START,
      { type: "text", owner: "main", text: "Hm" },
      { type: "text", owner: "main", text: "Yes", anew: true },
    ]);
    expect(anew.entries.at(-1)).toMatchObject({ text: "Yes" });
    const retried = after([
      START,
      { type: "text", owner: "main", text: "Hm" },
      { type: "model-retry", owner: "main", seconds: 1, reason: "busy" },
    ]);
    expect(retried.entries.map(({ kind }) => kind)).toEqual(["task"]);
  });

  it("keeps a sub-agent's text apart from its parent's", () => {
    const helper = "main/scout:c1";
    const state = after([
      START,
      { type: "subagent-start", owner: helper, name: "scout", description: "Look around", todoId: "1" },
      { type: "text", owner: helper, text: "I look" },
      { type: "text", owner: "main", text: "I wait" },
      { type: "subagent-end", owner: helper, name: "scout", ok: true },
    ]);
    expect(state.entries.map(({ kind, owner }) => `${kind} ${owner}`)).toEqual([
      "task main",
      "helper main",
      `text ${helper}`,
      "text main",
    ]);
    expect(state.helpers.get(helper)).toMatchObject({
      model: "m",
      todoId: "1",
      ok: true,
      startedAt: 1000,
      endedAt: 4000,
    });
  });

  it("shows a call once from start to end, also when only its end arrives", () => {
    const end: Body = {
      type: "tool-end",
      owner: "main",
      call: "c",
      name: "ls",
      about: "/",
      ok: true,
      result: "a",
    };
    const state = after([
      START,
      { type: "tool-start", owner: "main", call: "c", name: "ls", about: "/" },
      end,
      end,
    ]);
    expect(state.entries.filter(({ kind }) => kind === "call")).toMatchObject([
      { at: 1000, endedAt: 2000, ok: true },
      { at: 3000, endedAt: 3000, ok: true },
    ]);
  });

  it("has in a call what its command has printed so far, and then its result", () => {
    const call = { owner: "main", call: "c" };
    const command = { ...call, name: "execute", about: "npm test" };
    const running = after([
      START,
      { type: "tool-start", ...command },
      { type: "tool-output", ...call, text: "one" },
    ]);
    expect(running.entries.at(-1)).toMatchObject({ kind: "call", output: "one" });
    const ended = after(
      [{ type: "tool-end", ...command, ok: true, result: "one", output: "one\ntwo" }],
      running,
    );
    expect(ended.entries.at(-1)).toMatchObject({ kind: "call", ok: true, output: "one\ntwo" });
  });

  it("holds questions until they are answered, with the call when a question repeats", () => {
    const call = { owner: "main", call: "c", name: "rm", args: {} };
    const asked: Body = { type: "question", id: "q", kind: "permission", text: "May I?", options: [] };
    const state = after([START, { ...asked, call }, { ...asked, error: "Say yes or no." }]);
    expect(state.questions).toMatchObject([{ id: "q", call, error: "Say yes or no." }]);
    const answered = after([{ type: "answer", id: "q", answer: { type: "approve" } }], state);
    expect(answered.questions).toEqual([]);
    expect(answered.entries.at(-1)).toMatchObject({ kind: "question", answer: { type: "approve" } });
  });

  it("drops open questions on a new task, and keeps them while others are answered", () => {
    const asked: Body = { type: "question", id: "q", kind: "permission", text: "May I?", options: [] };
    const state = after([START, asked, { ...asked, id: "r" }, { ...DONE, outcome: "waiting" }]);
    expect(after([START], state).questions).toEqual([]);
    const { task: _, ...resumed } = START;
    const answer: Body = { type: "answer", id: "q", answer: { type: "approve" } };
    expect(after([answer, resumed as Body], state).questions).toMatchObject([{ id: "r" }]);
  });

  it("knows the call of an answered question when only the loaded questions had it", () => {
    const question = { id: "q", kind: "permission" as const, text: "May I?", options: [] };
    const call = { owner: "main", call: "c", name: "rm", args: {} };
    const state = withCalls(after([START, { type: "question", ...question }]), [{ ...question, call }]);
    expect(state.questions).toMatchObject([{ call }]);
    const answered = after([{ type: "answer", id: "q", answer: { type: "approve" } }], {
      ...state,
      questions: [],
    });
    expect(answered.entries.at(-1)).toMatchObject({ kind: "question", question: { call } });
  });

  it("shows no truncated call for a decision until the whole call is loaded", () => {
    const question = { id: "q", kind: "permission" as const, text: "May I?", options: [] };
    const call = { owner: "main", call: "c", name: "write_file", args: { content: "long" } };
    const cut = { ...call, args: { content: "lo…" }, cut: true as const };
    const state = after([START, { type: "question", ...question, call: cut }]);
    expect(state.questions[0]!.call).toBeUndefined();
    expect(withCalls(state, [{ ...question, call }]).questions).toMatchObject([{ call }]);
  });

  it("has the questions that its events say, and those that only the server knows", () => {
    const loaded = threadOf({ questions: [], events: [], last: 9 });
    const piece = { type: "text", owner: "main", text: "a", version: 1, thread: "t", at: 1 } as StampedEvent;
    expect(follow(loaded, [{ ...piece, n: 9 }])).toBe(loaded);
    expect(follow(loaded, [{ ...piece, n: 10 }]).entries).toHaveLength(1);
  });

  it("closes running spans when the run ends, and accepts a call's end in the next run", () => {
    const state = after([
      START,
      PLAN,
      { type: "tool-start", owner: "main", call: "c", name: "ls", about: "" },
      DONE,
    ]);
    expect(state.spans).toEqual([
      { kind: "item", owner: "main", id: "1", label: "Look", from: 1000, to: 3000 },
      { kind: "call", owner: "main", id: "c", label: "ls", from: 2000, to: 3000 },
    ]);
    expect(state.entries.find(({ kind }) => kind === "call")).toMatchObject({ cutAt: 3000 });
    const end: Body = {
      type: "tool-end",
      owner: "main",
      call: "c",
      name: "ls",
      about: "",
      ok: true,
      result: "",
    };
    const calls = after([START, end], state).entries.filter(({ kind }) => kind === "call");
    expect(calls).toMatchObject([{ ok: true, endedAt: 1000 }]);
  });

  it("shows a waiting call once, and as stopped only after another task", () => {
    const call: Body = { type: "tool-start", owner: "main", call: "c", name: "write_file", about: "" };
    const waits: Body = { ...DONE, outcome: "waiting" };
    const waiting = after([START, call, waits]);
    const callsIn = ({ entries }: typeof waiting) => entries.filter(({ kind }) => kind === "call");
    expect(callsIn(waiting)).toMatchObject([{ isWaiting: true }]);
    expect(callsIn(waiting)[0]).not.toHaveProperty("cutAt");
    const end: Body = { ...call, type: "tool-end", ok: true, result: "" };
    const answered = after([{ ...START, task: undefined }, call, end, DONE], waiting);
    expect(callsIn(answered)).toMatchObject([{ ok: true, endedAt: 2000 }]);
    expect(callsIn(answered)[0]).not.toHaveProperty("isWaiting");
    expect(callsIn(after([{ ...START, task: "Else" }], waiting))).toMatchObject([
      { cutAt: 0, isWaiting: false },
    ]);
  });

  it("shows a rejected call as rejected live, after a reload, and in a replay", () => {
    const call: Body = { type: "tool-start", owner: "main", call: "c", name: "write_file", about: "" };
    const waits: Body = { ...DONE, outcome: "waiting" };
    const question = { kind: "permission", name: "write_file" } as const;
    const answer: Body = { type: "answer", id: "q", answer: { type: "reject" }, question };
    const end: Body = { ...call, type: "tool-end", ok: false, result: "No." };
    const again: Body = { ...START, task: undefined };
    const callsIn = ({ entries }: ThreadState) => entries.filter(({ kind }) => kind === "call");
    const loaded = after([START, call, waits]);
    expect(callsIn(after([again, answer, DONE], loaded))).toMatchObject([{ isRejected: true }]);
    expect(callsIn(after([again, answer, DONE], loaded))[0]).not.toHaveProperty("cutAt");
    const asked = { owner: "main", call: "c", name: "write_file", args: {} };
    const asks: Body = { type: "question", id: "q", kind: "permission", text: "", options: [], call: asked };
    expect(callsIn(after([START, call, asks, waits, again, answer, DONE]))).toMatchObject([
      { isRejected: true },
    ]);
    const replayed = after([START, call, { ...answer, id: "c" }, end, DONE]);
    expect(callsIn(replayed)).toMatchObject([{ isRejected: true, endedAt: 3000 }]);
  });

  it("has nothing open of what began again", () => {
    const call: Body = { type: "tool-start", owner: "main", call: "c", name: "ls", about: "" };
    const helper: Body = {
      type: "subagent-start",
      owner: "main/scout:d",
      name: "scout",
      description: "Look",
    };
    const { entries, spans } = after([START, call, helper, call, helper, DONE]);
    const calls = entries.filter(({ kind }) => kind === "call");
    expect(calls).toMatchObject([{ cutAt: 3000 }, { cutAt: 5000 }]);
    expect(spans.map(({ kind, from, to }) => [kind, from, to])).toEqual([
      ["call", 1000, 3000],
      ["helper", 2000, 4000],
      ["call", 3000, 5000],
      ["helper", 4000, 5000],
    ]);
  });

  it("is the same whether its events come one by one or together", () => {
    const text = (piece: string): Body => ({ type: "text", owner: "main", text: piece });
    const said = (whole: string): Body => ({ type: "model-end", owner: "main", text: whole, usage: USAGE });
    const call = { owner: "main", call: "c", name: "ls", about: "/" };
    const events: Body[] = [
      START,
      PLAN,
      text("Fi"),
      { type: "model-retry", owner: "main", seconds: 1, reason: "busy" },
      text("\n"),
      said(""),
      { type: "tool-start", ...call },
      { type: "subagent-start", owner: "main/scout:d", name: "scout", description: "Look" },
      { type: "tool-start", ...call, owner: "main/scout:d" },
      { type: "tool-end", ...call, ok: true, result: "a.md" },
      { type: "question", id: "q", kind: "permission", text: "May I?", options: [] },
      { ...DONE, outcome: "waiting" },
      { type: "answer", id: "q", answer: { type: "approve" } },
      text("Do"),
      said("Done."),
      { type: "tool-start", ...call },
      DONE,
    ];
    const together = after(events);
    const oneByOne = events.reduce((state, event, at) => {
      const stamped: StampedEvent = { ...event, version: 1, thread: "t", at: at * 1000 };
      return follow(state, [stamped]);
    }, EMPTY_THREAD);
    expect(oneByOne).toEqual(together);
    expect(together.entries.map(({ kind }) => kind)).toEqual(
      "task plan call helper call question end text call end".split(" "),
    );
    expect(together.spans.map(({ kind, to }) => `${kind} ${to}`)).toEqual([
      "item 11000",
      "call 9000",
      "helper 11000",
      "call 11000",
      "question 11000",
      "call 16000",
    ]);
  });

  it("is made with as much more work as there are more events", () => {
    const call = { owner: "main", call: "c", name: "ls", about: "/" };
    const run: Body[] = [
      START,
      PLAN,
      { type: "tool-start", ...call },
      { type: "tool-end", ...call, ok: true, result: "a.md" },
      { type: "model-end", owner: "main", text: "Done.", usage: USAGE },
      DONE,
    ];
    const counter = new WorkCounter();
    onTestFinished(() => counter.end());
    const work = (runs: number): number => {
      const events = Array.from({ length: runs }, () => run).flat();
      return counter.of(() => timelineOf(after(events).spans, 0));
    };
    const [once, twice] = [work(400), work(800)];
    expect(twice / once).toBeLessThan(2.5);
  });
});
