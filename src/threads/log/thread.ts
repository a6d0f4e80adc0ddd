import { isOpen, type Todo } from "../../plan/todo/index.ts";
import type { Question } from "../questions/index.ts";
import {
  EMPTY_VIEW,
  MAIN,
  ownerName,
  reduce,
  tokensOf,
  workedMs,
  type AgentView,
  type RunView,
  costOf,
  type Prices,
} from "../view/index.ts";
import { ConversationEntries, questionOf, type Entry } from "./entries.ts";
import { plansAfter, type PlanRecord } from "./plans.ts";
import type { StampedEvent, ThreadEvents } from "./thread-events.ts";
import { Spans, type Span } from "./timeline/spans.ts";
import { amount, dollars, duration } from "./words.ts";

/** A sub-agent. Its activity and costs are in the view, by its owner. */
export interface Helper {
  owner: string;
  name: string;
  description: string;
  model: string;
  todoId?: string;
  startedAt: number;
  endedAt?: number;
  ok?: boolean;
  /** Whether it did only a part of its work. */
  isPartial?: boolean;
  error?: string;
}

/** The state of a thread for the page, made from its events. */
export interface ThreadState {
  /** The agents of all runs so far: a plan stays in view when the next run starts. */
  view: RunView;
  /** The main agent's plans, the current one last. */
  plans: readonly PlanRecord[];
  entries: readonly Entry[];
  spans: readonly Span[];
  helpers: ReadonlyMap<string, Helper>;
  /** Open questions, in the order in which they were asked. */
  questions: readonly Question[];
  isRunning: boolean;
  /** Whether the user has approved a plan since the last message. */
  isApproved: boolean;
  end?: Extract<StampedEvent, { type: "run-end" }>;
  time: { workedMs: number; waitedMs: number };
  /** The cost of ended runs, if prices are set. */
  cost?: number;
  /** The number of the last live event that was applied. */
  last: number;
}

export const EMPTY_THREAD: ThreadState = {
  view: EMPTY_VIEW,
  plans: [],
  entries: [],
  spans: [],
  helpers: new Map(),
  questions: [],
  isRunning: false,
  isApproved: false,
  time: { workedMs: 0, waitedMs: 0 },
  last: 0,
};

export function threadOf({ events, questions, last = 0 }: ThreadEvents): ThreadState {
  const state = follow(EMPTY_THREAD, events);
  // The events may have questions that are not saved yet.
  const ids = new Set(state.questions.map(({ id }) => id));
  const open = [...state.questions, ...questions.filter(({ id }) => !ids.has(id))];
  return withCalls({ ...state, questions: open, last: Math.max(last, state.last) }, questions);
}

/** Adds the calls of questions, which events may lack. */
export function withCalls(state: ThreadState, asked: readonly Question[]): ThreadState {
  const calls = new Map(asked.map(({ id, call }) => [id, call]));
  const complete = (question: Question): Question => ({
    ...question,
    call: question.call ?? calls.get(question.id),
  });
  const entries = state.entries.map((entry) =>
    entry.kind === "question" && !entry.question.call
      ? { ...entry, question: complete(entry.question) }
      : entry,
  );
  return { ...state, entries, questions: state.questions.map(complete) };
}

/** The thread after some events. Events that were applied before change nothing. */
export function follow(state: ThreadState, events: readonly StampedEvent[]): ThreadState {
  const conversation = new ConversationEntries(state.entries);
  const spans = new Spans(state.spans);
  let next = state;
  for (const event of events) {
    if (event.n !== undefined && event.n <= next.last) continue;
    conversation.follow(event);
    spans.follow(event);
    next = { ...after(next, event), plans: plansAfter(next.plans, event, () => conversation.task) };
  }
  return next === state ? state : { ...next, entries: conversation.entries, spans: spans.spans };
}

/** The state after an event, except entries and spans. */
function after(state: ThreadState, event: StampedEvent): ThreadState {
  const view = viewAfter(state.view, event);
  const next: ThreadState = {
    ...state,
    view,
    helpers: helpersAfter(state.helpers, event, view.model),
    last: event.n ?? state.last,
  };
  switch (event.type) {
    case "run-start": {
      // A new task instead of an answer closes the questions.
      const questions = event.task === undefined ? state.questions : [];
      const { askedAt = event.at } = state.view;
      const time = { ...state.time, waitedMs: state.time.waitedMs + event.at - askedAt };
      // An approval is for one message.
      const isApproved = event.task === undefined && state.isApproved;
      return { ...next, isRunning: true, questions, time, isApproved };
    }
    case "run-end": {
      const cost = event.cost === undefined ? state.cost : (state.cost ?? 0) + event.cost;
      const isAsking = event.outcome === "waiting" || event.outcome === "interrupted";
      return {
        ...next,
        isRunning: false,
        end: event,
        time: timeAfter(state, event),
        ...(cost !== undefined && { cost }),
        questions: isAsking ? state.questions : [],
      };
    }
    case "question":
      return { ...next, questions: withQuestion(state.questions, questionOf(event)) };
    case "answer": {
      const questions = state.questions.filter(({ id }) => id !== event.id);
      const { type } = (event.answer ?? {}) as { type?: unknown };
      const isPlan = event.question?.kind === "plan-approval";
      return {
        ...next,
        questions,
        // A rejection does not withdraw an earlier approval.
        ...(isPlan && (type === "approve" || type === "edit") && { isApproved: true }),
      };
    }
    default:
      return next;
  }
}

function timeAfter(
  { time, view }: ThreadState,
  { at, waitedMs = view.waitedMs }: Extract<StampedEvent, { type: "run-end" }>,
): ThreadState["time"] {
  return {
    workedMs: time.workedMs + workedMs({ ...view, waitedMs }, at),
    waitedMs: time.waitedMs + waitedMs,
  };
}

export function planOf({ view }: ThreadState): readonly Todo[] {
  return view.agents.get(MAIN)?.todos ?? [];
}

/** The name of a thread's mode, which differs while an approved plan is open. */
export function modeName(mode: string, thread: ThreadState): string {
  const isWorking = thread.isApproved && planOf(thread).some(isOpen);
  return mode === "plan" && isWorking ? "plan approved" : mode;
}

export function rulesOf({ view }: ThreadState): readonly string[] {
  return view.agents.get(MAIN)?.rules ?? [];
}

export function agentOf({ view }: ThreadState, owner: string): AgentView | undefined {
  return view.agents.get(owner);
}

/** The cost of a thread in dollars, if it is known. */
export function costOfThread({ view, cost }: ThreadState, prices: Prices | undefined): number | undefined {
  return prices ? costOf(view.usage, prices) : cost;
}

/** Facts of a thread for a line: its model, times, tokens and cost. */
export function factsOf({ view, time }: ThreadState, cost: number | undefined): string[] {
  return [
    view.model,
    ...timeWords(time),
    `${amount(tokensOf(view.usage))} tokens`,
    ...(cost === undefined ? [] : [dollars(cost)]),
  ].filter(Boolean);
}

/** Working and waiting times of a second or more, as text. */
export function timeWords(time: ThreadState["time"]): string[] {
  return [
    ...(time.workedMs >= 1000 ? [`${duration(time.workedMs)} of work`] : []),
    ...(time.waitedMs >= 1000 ? [`${duration(time.waitedMs)} waiting for you`] : []),
  ];
}

/** The view after an event. Plans and costs stay when a new run starts. */
function viewAfter(view: RunView, event: StampedEvent): RunView {
  if (event.type === "run-end") return { ...view, agents: stopped(view.agents) };
  const next = reduce(view, event);
  if (event.type !== "run-start") return next;
  return { ...next, agents: stopped(view.agents), usage: view.usage };
}

/** Agents without running calls. */
function stopped(agents: RunView["agents"]): RunView["agents"] {
  const entries = [...agents].map(
    ([owner, agent]) => [owner, { ...agent, tools: new Map(), waiting: undefined }] as const,
  );
  return new Map(entries);
}

function helpersAfter(
  helpers: ThreadState["helpers"],
  event: StampedEvent,
  model: string,
): ThreadState["helpers"] {
  if (event.type === "subagent-start") {
    const { owner, description, todoId, at } = event;
    const name = ownerName(owner);
    const startedAt = helpers.get(owner)?.startedAt ?? at;
    const helper = { owner, name, description, model: event.model ?? model, todoId, startedAt };
    return new Map(helpers).set(owner, helper);
  }
  const helper = event.type === "subagent-end" ? helpers.get(event.owner) : undefined;
  if (event.type !== "subagent-end" || !helper) return helpers;
  return new Map(helpers).set(event.owner, {
    ...helper,
    endedAt: event.at,
    ok: event.ok,
    isPartial: event.verdict === "part",
    error: event.error,
  });
}

function withQuestion(questions: readonly Question[], question: Question): readonly Question[] {
  const index = questions.findIndex(({ id }) => id === question.id);
  if (index < 0) return [...questions, question];
  return questions.with(index, { ...question, call: question.call ?? questions[index]!.call });
}
