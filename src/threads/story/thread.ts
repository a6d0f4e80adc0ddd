import { isOpen, type Todo } from "../../plan/todo/index.ts";
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
import { Conversation, questionOf, type Entry } from "./entries.ts";
import { plansAfter, type PlanRecord } from "./plans.ts";
import { Spans, type Span } from "./timeline/spans.ts";
import type { Question, StampedEvent, ToldThread } from "./told.ts";
import { amount, dollars, duration } from "./words.ts";

/** A sub-agent, from its start. What it does and has spent is in the view, by its owner. */
export interface Helper {
  owner: string;
  name: string;
  description: string;
  model: string;
  todoId?: string | undefined;
  startedAt: number;
  endedAt?: number;
  ok?: boolean;
  /** It ended with a part of its work. */
  isPartial?: boolean;
  error?: string | undefined;
}

/** All that the page knows of a thread, made of its events. */
export interface ThreadState {
  /** The agents of all runs so far: a plan stays in view when the next run begins. */
  view: RunView;
  /** The main agent's plans, the present one last. */
  plans: readonly PlanRecord[];
  entries: readonly Entry[];
  spans: readonly Span[];
  helpers: ReadonlyMap<string, Helper>;
  /** Open questions, in the order in which they were asked. */
  questions: readonly Question[];
  isRunning: boolean;
  /** A person has approved a plan since the last message. */
  isApproved: boolean;
  /** The end of the last run. */
  end?: Extract<StampedEvent, { type: "run-end" }>;
  /** The time of ended runs: waiting for a person is no work. */
  time: { workedMs: number; waitedMs: number };
  /** The cost of ended runs, if prices are set. */
  cost?: number;
  /** The number of the last live event that is in here. */
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

/** A thread as it was loaded. */
export function threadOf({ events, questions, last = 0 }: ToldThread): ThreadState {
  const state = follow(EMPTY_THREAD, events);
  // A run that is just about to wait has said its questions, and the thread does not have them yet.
  const said = new Set(state.questions.map(({ id }) => id));
  const open = [...state.questions, ...questions.filter(({ id }) => !said.has(id))];
  return withCalls({ ...state, questions: open, last: Math.max(last, state.last) }, questions);
}

/** The thread with the calls that its questions are about: events need not say. */
export function withCalls(state: ThreadState, asked: readonly Question[]): ThreadState {
  const calls = new Map(asked.map(({ id, call }) => [id, call]));
  const known = (question: Question): Question => ({
    ...question,
    call: question.call ?? calls.get(question.id),
  });
  const entries = state.entries.map((entry) =>
    entry.kind === "question" && !entry.question.call ? { ...entry, question: known(entry.question) } : entry,
  );
  return { ...state, entries, questions: state.questions.map(known) };
}

/** The thread after some events. An event that is in here already changes nothing. */
export function follow(state: ThreadState, events: readonly StampedEvent[]): ThreadState {
  const conversation = new Conversation(state.entries);
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

/** The same for what is small: the lists of what was said and done stay as they are. */
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
      // Who gives a task in the place of an answer is not asked any more.
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
        // A no leaves an approved plan as it is.
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

/** The main agent's plan. */
export function planOf({ view }: ThreadState): readonly Todo[] {
  return view.agents.get(MAIN)?.todos ?? [];
}

/** The name of a thread's mode: it changes when a plan is approved, for as long as that is open. */
export function modeName(mode: string, thread: ThreadState): string {
  const isWorking = thread.isApproved && planOf(thread).some(isOpen);
  return mode === "plan" && isWorking ? "plan approved" : mode;
}

/** The rules of the main agent's plan. */
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

/** A thread in a line: its model, how long it worked and waited, its tokens and its cost. */
export function factsOf({ view, time }: ThreadState, cost: number | undefined): string[] {
  return [
    view.model,
    ...timeWords(time),
    `${amount(tokensOf(view.usage))} tokens`,
    ...(cost === undefined ? [] : [dollars(cost)]),
  ].filter(Boolean);
}

/** Times of work and of waiting, each from a second on. */
export function timeWords(time: ThreadState["time"]): string[] {
  return [
    ...(time.workedMs >= 1000 ? [`${duration(time.workedMs)} of work`] : []),
    ...(time.waitedMs >= 1000 ? [`${duration(time.waitedMs)} waiting for you`] : []),
  ];
}

/** A new run begins with an empty view; the plans and what was spent stay. */
function viewAfter(view: RunView, event: StampedEvent): RunView {
  if (event.type === "run-end") return { ...view, agents: resting(view.agents) };
  const next = reduce(view, event);
  if (event.type !== "run-start") return next;
  return { ...next, agents: resting(view.agents), usage: view.usage };
}

function resting(agents: RunView["agents"]): RunView["agents"] {
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
  const was = event.type === "subagent-end" ? helpers.get(event.owner) : undefined;
  if (event.type !== "subagent-end" || !was) return helpers;
  return new Map(helpers).set(event.owner, {
    ...was,
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
