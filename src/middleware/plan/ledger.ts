import { AIMessage, type BaseMessage, type ToolMessage } from "@langchain/core/messages";
import { getConfig, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { isClosed, PRESETS, type Figures, type Todo } from "../../plan/index.ts";
import { PLAN_TOOLS } from "../../plan/presets/index.ts";
import {
  FIELDS,
  figuresBy,
  idsInProgress,
  NO_FIGURES,
  sumFigures,
  ZERO_TALLY,
  type Tally,
  isSameFigures,
  lengthOf,
  settle,
  withHelper,
  type Interval,
  type Ledger,
  type Move,
  type Part,
} from "../../plan/todo/index.ts";
import { usedTokens } from "../prices/index.ts";
import { isFromUser } from "../text/index.ts";
import { timeOf, lastTurn } from "../tools/index.ts";
import type { PlanSetup } from "./setup.ts";
import {
  readPlanState,
  type Helper,
  type PlanMemory,
  type PlanState,
  type FiguresRow,
  type SavedLedger,
} from "./state.ts";

/** The start of each invocation of a graph, by its writer. */
const startTimes = new WeakMap<object, number>();

/**
 * The time in which nothing has run in the thread so far, in milliseconds. A stop, a kill and a question all end the
 * invocation of the graph. So the time between the last model call of one invocation and the next invocation is idle,
 * except for the work of tool calls, from their `results`, and of sub-agents. LangGraph does not say when an invocation
 * began, but creates one writer for each: the time of the first call with a writer is close enough.
 */
export function idleOf(
  { now }: Pick<PlanSetup, "now">,
  { at, idle, helpers }: PlanMemory,
  {
    // A tool must pass the writer of its runtime. Undefined for a tool that is called by hand.
    writer = (getConfig() as LangGraphRunnableConfig | undefined)?.writer,
    results = [],
  }: { writer?: object; results?: readonly ToolMessage[] } = {},
): number {
  if (!writer) return idle;
  const start = startTimes.get(writer) ?? now();
  startTimes.set(writer, start);
  if (at === 0 || start <= at) return idle;
  const worked = results.flatMap((result): Interval[] => {
    const [from, to] = timeOf(result) ?? [0, 0];
    return [[Math.max(from, at), Math.min(to, start)]];
  });
  const before = Math.max(0, ...Object.values(helpers).map((helper) => helper.before ?? 0));
  return idle + Math.max(0, start - at - lengthOf(worked) - before);
}

/** The figures of a thread at a moment. The working time counts from the same beginning for all moments. */
export function figuresAt(tally: Tally, { at, idle }: { at: number; idle: number }): Figures {
  return { ...tally, elapsedMs: at - idle };
}

/**
 * The ledger of a state, or a new one that begins `now`. Figures that are only in the plan are taken over, except those
 * of the items in `since`: they were worked on since, and already have a part of what is still to be shared out.
 */
function readLedger({ memory, todos }: PlanState, now: Figures, since: Iterable<string>): Ledger {
  const inPlan = new Map(
    todos.flatMap(({ id, actuals }) => (actuals ? [[id, figuresOf(rowOf(actuals))] as const] : [])),
  );
  const { ledger } = memory;
  if (!ledger) {
    // For a thread from before ledgers, the spending that belongs to no item is unknown.
    const settled = inPlan.size > 0 ? now : { ...NO_FIGURES, elapsedMs: now.elapsedMs };
    return { spent: Object.fromEntries(inPlan), settled, active: [], helped: NO_FIGURES };
  }
  for (const id of [...ledger.active, ...since]) inPlan.delete(id);
  const saved = Object.entries(ledger.spent).map(([id, row]) => [id, figuresOf(row)] as const);
  return {
    spent: Object.fromEntries([...inPlan, ...saved]),
    settled: figuresOf(ledger.settled),
    active: ledger.active,
    helped: figuresOf(ledger.helped),
  };
}

/** The saved form of a ledger, without figures that these items already have. */
export function savedLedger({ spent, settled, active, helped }: Ledger, todos: readonly Todo[]): SavedLedger {
  const inPlan = new Map(todos.map((todo) => [todo.id, todo]));
  const rows = Object.entries(spent).flatMap(([id, figures]) => {
    const todo = inPlan.get(id);
    const isSaved = todo && isClosed(todo) && isSameFigures(todo.actuals, figures);
    return isSaved ? [] : [[id, rowOf(figures)] as const];
  });
  return { spent: Object.fromEntries(rows), settled: rowOf(settled), active, helped: rowOf(helped) };
}

/** The sub-agents' spending so far. */
export function helpedIn({ ledger, helpers }: PlanMemory): Figures {
  const before = ledger ? figuresOf(ledger.helped) : NO_FIGURES;
  return Object.values(helpers).reduce((sum, { spent = NO_FIGURES }) => sumFigures(sum, spent), before);
}

function rowOf(figures: Figures): FiguresRow {
  return FIELDS.map((field) => figures[field]);
}

function figuresOf(row: FiguresRow): Figures {
  return figuresBy((_, at) => row[at]!);
}

/** The items that the agent itself works on: those in progress without a sub-agent, or all if each has one. */
export function activeItems(todos: readonly Todo[], { helpers }: PlanMemory): string[] {
  const delegated = new Set(Object.values(helpers).flatMap(({ item, spent }) => (spent ? [] : (item ?? []))));
  const items = idsInProgress(todos);
  const own = items.filter((id) => !delegated.has(id));
  return own.length > 0 ? own : items;
}

/** Whether the spending of the last turn cannot just be shared out equally among the same items as before. */
export function isDue({ memory, todos }: PlanState): boolean {
  const { ledger, moves, helpers } = memory;
  if (!ledger || Object.keys(moves).length > 0) return true;
  if (Object.values(helpers).some(({ spent }) => spent)) return true;
  return activeItems(todos, memory).join("\n") !== ledger.active.join("\n");
}

/** The turn whose spending is to be shared out. */
export interface TurnInSight {
  /** The conversation; its last answer began the turn. */
  messages: readonly BaseMessage[];
  now: Figures;
  /** In a turn that is still running: the call up to which it is shared out. Default: the whole turn. */
  until?: string;
  moves?: Readonly<Record<string, Move>>;
  helpers?: Readonly<Record<string, Helper>>;
}

/** Shares out all spending until now; that of the last turn by the items of its calls. */
export function settleTurn(
  state: PlanState,
  { messages, now, until, moves = state.memory.moves, helpers = state.memory.helpers }: TurnInSight,
): Ledger {
  const { at, took, idle } = state.memory;
  const { answer: last, results } = lastTurn(messages);
  const calls = new Map(last?.tool_calls?.map((call) => [call.id, call]));
  const since = [
    ...Object.values(moves).flatMap(({ active, closed = [] }) => [...active, ...closed]),
    ...Object.values(helpers).flatMap(({ item = [] }) => item),
    ...[...calls.values()].flatMap(({ args }) => itemOf(args) ?? []),
  ];
  const before = readLedger(state, now, since);
  // The spending of an answer that completed an item was shared out with it.
  const isOpen = at > 0 && now.modelCalls > before.settled.modelCalls;
  const answer = isOpen ? last : undefined;
  const parts = answer ? partsOf(answer, { results, until, moves, helpers }) : [];
  // The tally does not include a turn that is still running.
  const runCalls = until === undefined ? 0 : parts.filter(({ isWork }) => isWork).length;
  const spent = { ...now, toolCalls: now.toolCalls + runCalls };
  const turn = answer
    ? {
        answer: { ...tallyOf(answer), elapsedMs: took },
        toolsMs: Math.max(0, now.elapsedMs - (at - idle)),
        parts,
      }
    : { answer: NO_FIGURES, toolsMs: 0, parts: Object.values(moves).map((move) => ({ weight: 0, move })) };
  let ledger = settle(before, spent, turn);
  for (const [call, { item, spent: figures }] of Object.entries(helpers)) {
    if (figures && !(answer && calls.has(call))) ledger = withHelper(ledger, item, figures);
  }
  return ledger;
}

const REPORT_TOOLS = new Set(Object.values(PRESETS).map(({ tools }) => tools.update?.name));

interface Parts extends Required<Pick<TurnInSight, "moves" | "helpers">> {
  results: readonly ToolMessage[];
  until: string | undefined;
}

/** The cost until the end of the last step: of each item, of no item, and in total. */
export function figuresIn(values: unknown): {
  items: Record<string, Figures>;
  rest: Figures;
  total: Figures;
} {
  const state = readPlanState(values);
  const { tally, at, idle } = state.memory;
  const { messages = [] } = (values ?? {}) as { messages?: BaseMessage[] };
  const { results } = lastTurn(messages);
  const worked = lengthOf(results.flatMap((result): Interval[] => [timeOf(result) ?? [0, 0]]));
  const work = results.filter(({ status, name = "" }) => status !== "error" && !PLAN_TOOLS.has(name));
  const { spent } = settleTurn(state, {
    messages,
    now: figuresAt({ ...tally, toolCalls: tally.toolCalls + work.length }, { at: at + worked, idle }),
  });
  const ids = new Set(state.todos.map(({ id }) => id));
  const rest = Object.entries(spent).flatMap(([id, figures]) => (ids.has(id) ? [] : figures));
  return {
    items: Object.fromEntries(Object.entries(spent).filter(([id]) => ids.has(id))),
    rest: rest.reduce(sumFigures, NO_FIGURES),
    total: Object.values(spent).reduce(sumFigures, NO_FIGURES),
  };
}

/** The parts of an answer: its text and its calls, in order. A plan update next to work has almost no weight. */
function partsOf(answer: AIMessage, { results, until, moves, helpers }: Parts): Part[] {
  const calls = answer.tool_calls ?? [];
  const replies = new Map(results.map((result) => [result.tool_call_id, result]));
  const last = until === undefined ? Infinity : calls.findIndex(({ id }) => id === until);
  const parts = calls.map(({ id = "", name, args }, at): Part => {
    const reply = replies.get(id);
    const isOurs = PLAN_TOOLS.has(name);
    const isRun = until === undefined ? reply !== undefined && reply.status !== "error" : at <= last;
    return {
      weight: REPORT_TOOLS.has(name) ? 1 : JSON.stringify(args).length + name.length,
      item: helpers[id]?.item ?? (isOurs ? undefined : itemOf(args)),
      move: at <= last ? moves[id] : undefined,
      isWork: isRun && !isOurs,
      interval: reply && timeOf(reply),
      helper: helpers[id]?.spent,
    };
  });
  return [{ weight: answer.text.length }, ...parts];
}

function itemOf(args: Record<string, unknown>): string | undefined {
  const { todo_id: id } = args;
  return typeof id === "string" || typeof id === "number" ? String(id) : undefined;
}

/** The usage of the answers since the user's last message. */
export function uncountedTally(messages: readonly BaseMessage[]): Tally {
  const start = messages.findLastIndex((message) => isFromUser(message));
  const answers = messages.slice(start + 1).filter((message) => AIMessage.isInstance(message));
  return answers.map(tallyOf).reduce(sumTallies, ZERO_TALLY);
}

/** The usage of a model call, by its answer. */
export function tallyOf(answer: AIMessage): Tally {
  const { inputTokens, outputTokens } = usedTokens(answer);
  return { modelCalls: 1, toolCalls: 0, inputTokens, outputTokens };
}

export function sumTallies(a: Tally, b: Tally): Tally {
  const { elapsedMs: _, ...tally } = sumFigures({ ...NO_FIGURES, ...a }, { ...NO_FIGURES, ...b });
  return tally;
}

/** The change of the items in progress from one list to the next; undefined if there is none. */
export function moveOf(
  before: readonly Todo[],
  after: readonly Todo[],
  { memory, isReset }: { memory: PlanMemory; isReset: boolean },
): Move | undefined {
  const active = activeItems(after, memory);
  const old = new Map(isReset ? [] : before.map((todo) => [todo.id, todo]));
  const closed = after.filter(({ id, status }) => status === "completed" && old.get(id)?.status !== status);
  const wasStarted = ({ id }: Todo): boolean => old.get(id)?.status === "in_progress";
  const isShared = closed.some(wasStarted) && !closed.every(wasStarted);
  if (!isReset && !isShared && active.join("\n") === activeItems(before, memory).join("\n")) return undefined;
  return { active, ...(isShared && { closed: closed.map(({ id }) => id) }), ...(isReset && { isReset }) };
}
