import { ReducedValue, StateSchema } from "@langchain/langgraph";
import { z } from "zod";
import { HarnessError } from "../../errors.ts";
import { messagesField, unparsedState } from "../../langgraph/index.ts";
import {
  applyWrite,
  diffTodos,
  patchTodos,
  type Change,
  type Figures,
  type Plan,
  type Policy,
  type Todo,
} from "../../plan/index.ts";
import { readRules } from "../../plan/read/index.ts";
import {
  ZERO_TALLY,
  type Mark,
  type Tally,
  isSame,
  laterActuals,
  type Move,
  nextNumber,
  PRIORITIES,
} from "../../plan/todo/index.ts";
import { STATUSES } from "../../vocabulary.ts";
import { anyUpdate } from "../state/index.ts";

/** The key of a list's changes, so that concurrent writers do not overwrite each other. */
const CHANGES = Symbol("changes");

/**
 * A write of the harness to `todos`: the new list, for readers of the stream, with the changes that led to it, for the
 * reducer. A list that lost its changes in a database is treated as a plain list.
 */
export function todosUpdate(todos: readonly Todo[], changes: readonly Change[]): Todo[] {
  return Object.defineProperty([...todos], CHANGES, { value: changes });
}

/** Joins two concurrent writes to `todos` into one. */
export function joinedTodos(first: Todo[], second: Todo[]): Todo[] {
  const changes = changesOf(second) ?? [];
  return todosUpdate(patchTodos([...first], changes), [...(changesOf(first) ?? []), ...changes]);
}

/** A sub-agent that a call started. */
export interface Helper {
  /** The item that it was given. */
  item?: string;
  /** Its spending. Absent while it works in the background. */
  spent?: Figures;
  /** Its working time before it last stopped for the user, in milliseconds. */
  before?: number;
  /** Set if it shared its item with others. The model call after the last one completes it if all ended well. */
  isShared?: true;
  /** Set if it has ended and its item is not done. */
  isOpen?: true;
}

/** The saved form of a ledger, with figures as rows. Leaves out closed items whose figures are in the plan. */
export interface SavedLedger {
  spent: Readonly<Record<string, FiguresRow>>;
  settled: FiguresRow;
  active: readonly string[];
  helped: FiguresRow;
}

/** Figures in the order of `FIELDS`. */
export type FiguresRow = readonly number[];

/** A plan call that the user approved, as it was sent or with an edited list. */
export interface ApprovedCall {
  /** The user's name, if known. */
  by?: string;
  /** The ids of the call and of its message: some models reuse call ids. */
  id: string | undefined;
  message: string | undefined;
  edit?: {
    /** The user's list, which replaces the call's arguments. */
    args: Record<string, unknown>;
    /** Its difference from the plan that the model proposed, in words. */
    news: string;
  };
}

/** The middleware's memory besides the todos. Private to the graph. Absolute values: a replay is harmless. */
export interface PlanMemory {
  nextId: number;
  firstId?: number;
  retired: string[];
  /** The number of plans in the thread, if more than one. */
  plans?: number;
  /** The run that the counters below belong to, by the id of the user's message that began it. */
  run: string;
  /** The number of calls to other tools that had finished when the run began. */
  callsBefore: number;
  /** The number of such calls when the plan was made. */
  madeAt: number;
  /** The number of rounds of tool calls, and of stale reminders, since the last plan call. */
  rounds: number;
  nags: number;
  /** The number of exit reminders since the last progress. */
  exits: number;
  /** Whether the model was last called without seeing the current plan: the next plan result shows all of it. */
  unseen: boolean;
  /** Whether an item ended with its sub-agent: then the next model call starts another one if none is in progress. */
  startNext: boolean;
  /** A digest of each item as the model last knew it. */
  seen: Record<string, string>;
  /** The ids in the order that the model last knew, one per line. */
  order: string;
  /** The spending so far, and the spending when each item in progress started. */
  tally: Tally;
  marks: Record<string, Mark>;
  /** The end of the last model call, its duration, and the idle time of the thread until then, in milliseconds. */
  at: number;
  took: number;
  idle: number;
  /** The items' cost. */
  ledger?: SavedLedger;
  /** The last turn's changes of the items in progress, by call. */
  moves: Record<string, Move>;
  /** Sub-agents at work, and those that ended after the ledger was written, by call. */
  helpers: Record<string, Helper>;
  /** The plan call that the user approved last. */
  approved?: ApprovedCall;
  /** The rules as the model last knew them, one per line. */
  rules: string;
  /** Whether the open plan still needs approval: the next plan call is put to the user. */
  proposed?: boolean;
}

/** The fields of the memory whose entries are merged. */
export const RECORDS = ["seen", "marks", "moves", "helpers"] as const;
type Records = Pick<PlanMemory, (typeof RECORDS)[number]>;

/** A change to the memory. Fields are replaced, entries of records are merged, and null removes an entry. */
export type MemoryUpdate = Partial<Omit<PlanMemory, keyof Records>> & {
  [Field in keyof Records]?: Record<string, Records[Field][string] | null>;
};

const NO_MEMORY: PlanMemory = {
  nextId: 1,
  retired: [],
  run: "",
  callsBefore: 0,
  madeAt: 0,
  rounds: 0,
  nags: 0,
  exits: 0,
  unseen: false,
  startNext: false,
  seen: {},
  order: "",
  tally: ZERO_TALLY,
  marks: {},
  at: 0,
  took: 0,
  idle: 0,
  moves: {},
  helpers: {},
  rules: "",
};

/** The part of the graph state that belongs to the plan. */
export interface PlanState {
  todos: readonly Todo[];
  /** The plan's rules. */
  rules: readonly string[];
  memory: PlanMemory;
}

/** Reads the plan's part of any graph state; a state without one reads as an empty plan. */
export function readPlanState(state: unknown): PlanState {
  const { todos, planRules, _plan } = (state ?? {}) as {
    todos?: Todo[];
    planRules?: string[];
    _plan?: Partial<PlanMemory>;
  };
  return { todos: withIds(todos ?? []), rules: planRules ?? [], memory: { ...NO_MEMORY, ..._plan } };
}

/** Gives todos their positions as ids. A thread that LangChain's middleware began has todos without ids. */
function withIds(todos: readonly Todo[]): readonly Todo[] {
  if (todos.every((todo) => todo.id !== undefined)) return todos;
  return todos.map((todo, index) => ({ ...todo, id: String(index + 1) }));
}

export function planFrom({ todos, memory }: PlanState): Plan {
  const { nextId, firstId, retired } = memory;
  return { todos, nextId: nextNumber(nextId, todos), retired, ...(firstId !== undefined && { firstId }) };
}

/** Adds or replaces fields of the memory. */
export function mergeMemory(memory: PlanMemory, update: MemoryUpdate | undefined): PlanMemory {
  if (!update) return memory;
  const records = RECORDS.map((field) => [field, mergeEntries<unknown>(memory[field], update[field])]);
  return {
    ...memory,
    ...update,
    nextId: update.nextId ?? memory.nextId,
    retired: [...new Set([...(memory.retired ?? []), ...(update.retired ?? [])])],
    ...(Object.fromEntries(records) as unknown as Records),
  };
}

/**
 * Merges a write to `todos`: changes by the harness, or a whole list by the user or a tool, which is validated. May
 * throw.
 */
export function mergeTodos(current: Todo[], update: unknown, policy: Policy): Todo[] {
  if (update === undefined) return current;
  const todos = withIds(current);
  const changes = changesOf(update);
  if (changes) {
    const patched = patchTodos(todos, changes);
    steps.add(todos, patched, { isWholeList: false });
    return patched;
  }
  // LangChain sends the saved state with every new input: that is not an edit.
  if (isSame(current, update)) return current;
  const states = steps.before(current);
  const base = states && Array.isArray(update) ? baseOf(update, [...states, todos]) : todos;
  const plan: Plan = { todos: base, nextId: nextNumber(1, base), retired: [] };
  const result = applyWrite(plan, update, policy, { author: "person" });
  if (!result.ok) {
    const reasons = result.issues.map((issue) => issue.message).join(" ");
    throw new HarnessError("invalid-plan", `The plan was not changed. ${reasons}`);
  }
  const merged =
    base === todos
      ? [...result.plan.todos]
      : withLaterFigures(patchTodos(todos, additions(base, result.plan.todos)), todos);
  steps.add(todos, merged, { isWholeList: true });
  return merged;
}

/** A list with the later figures of each item: another writer may have ended it. */
function withLaterFigures(todos: readonly Todo[], others: readonly Todo[]): Todo[] {
  return todos.map((todo) => {
    const actuals = laterActuals(others.find(({ id }) => id === todo.id)?.actuals, todo.actuals);
    return actuals === todo.actuals ? todo : { ...todo, actuals: actuals! };
  });
}

/** The changes from a base to a list. Appended items go to the end, behind those that others appended. */
function additions(base: readonly Todo[], list: readonly Todo[]): Change[] {
  return diffTodos(base, list).map((change) =>
    change.type === "todo-add" && change.index >= base.length ? { ...change, index: Infinity } : change,
  );
}

function changesOf(update: unknown): readonly Change[] | undefined {
  return Array.isArray(update) ? (update as { [CHANGES]?: readonly Change[] })[CHANGES] : undefined;
}

const todoSchema = z.object({
  id: z.string(),
  content: z.string(),
  status: z.enum(STATUSES),
  priority: z.enum(PRIORITIES).optional(),
  dependsOn: z.array(z.string()).optional(),
  estimate: z.number().optional(),
  note: z.string().optional(),
  key: z.string().optional(),
  mustVerify: z.literal(true).optional(),
  unverified: z.literal(true).optional(),
  actuals: z.record(z.string(), z.number()).optional(),
});

/** The channels of the plan: `todos` and `planRules` for everybody, `_plan` for the middleware. */
export function planStateSchema<Item extends object>(policy: Policy) {
  // The engine validates updates. These schemas provide types, defaults and a description for LangGraph Studio.
  const todos = z.array(todoSchema).default(() => []) as unknown as z.ZodType<Item[], Item[] | undefined>;
  const memory: z.ZodType<PlanMemory, PlanMemory | undefined> = z.any().default(NO_MEMORY);
  const fields = {
    messages: messagesField(),
    todos: new ReducedValue(todos, {
      // The type keeps todos out of a user's input. At run time LangChain passes the current ones through here.
      inputSchema: anyUpdate<undefined>(),
      reducer: (current, update) => mergeTodos(current as Todo[], update, policy) as Item[],
    }),
    planRules: new ReducedValue(z.array(z.string()).optional(), {
      inputSchema: anyUpdate<undefined>(),
      reducer: (current, update: unknown) => (update === undefined ? current : readRules(update)),
    }),
    _plan: new ReducedValue(memory, { inputSchema: anyUpdate<MemoryUpdate>(), reducer: mergeMemory }),
  };
  return unparsedState(new StateSchema(fields));
}

/**
 * Channels that keep a plan through runs without planning. LangGraph drops values without a channel, so a thread that
 * leaves plan mode would lose its todos. Without a plan the channels are empty and therefore absent.
 */
export function keptPlanSchema() {
  const anything: z.ZodType = z.any().optional();
  const keep = (current: unknown, update: unknown): unknown => update ?? current;
  return new StateSchema({
    todos: new ReducedValue(anything, { reducer: keep }),
    planRules: new ReducedValue(anything, { reducer: keep }),
    // The user's edit is written without planning, too: it must not replace the memory.
    _plan: new ReducedValue(anything, {
      reducer: (current, update) =>
        update == null ? current : mergeMemory({ ...NO_MEMORY, ...(current as object) }, update),
    }),
  });
}

/** Merges entries into a record; null removes one. Older threads may not have the record. */
function mergeEntries<T>(
  entries: Record<string, T> = {},
  update: Record<string, T | null> | undefined,
): Record<string, T> {
  if (!update) return entries;
  const merged: Record<string, T> = { ...entries };
  for (const [key, value] of Object.entries(update)) {
    if (value === null) delete merged[key];
    else merged[key] = value;
  }
  return merged;
}

type States = readonly (readonly Todo[])[];

/**
 * The states that a list went through within one step, oldest first. LangGraph reduces the writes of a step in one
 * synchronous batch. The user's edit of a waiting step is a batch of its own before that. So the states of a batch with
 * a whole list are kept for the next batch; those of any other batch are dropped at its end.
 */
class StepStates {
  /** The states by the list that the last write led to. */
  readonly #states = new WeakMap<readonly Todo[], States>();
  #batch: { lists: Map<readonly Todo[], States>; hasWholeList: boolean } | undefined;

  /** The states before a list that a write of this step led to; undefined for any other list. */
  before(list: readonly Todo[]): States | undefined {
    return this.#states.get(list);
  }

  /** Records that a write led from one list to the next. */
  add(current: readonly Todo[], next: readonly Todo[], { isWholeList }: { isWholeList: boolean }): void {
    const batch = (this.#batch ??= this.#begin());
    batch.hasWholeList ||= isWholeList;
    batch.lists.set(next, [...(batch.lists.get(current) ?? []), current]);
    this.#states.set(next, [...(this.#states.get(current) ?? []), current]);
  }

  #begin() {
    const batch = { lists: new Map<readonly Todo[], States>(), hasWholeList: false };
    queueMicrotask(() => {
      this.#batch = undefined;
      for (const [list, states] of batch.lists) {
        if (batch.hasWholeList) this.#states.set(list, states);
        else this.#states.delete(list);
      }
    });
    return batch;
  }
}

/**
 * The list that a whole-list write started from. Its writer may have known only some of the step's other writes, so an
 * item that equals its version in any state of the step counts as unchanged by the writer. Each writer counts figures on
 * its own: other figures alone do not undo what another writer has done since.
 */
function baseOf(update: readonly unknown[], states: States): readonly Todo[] {
  const byId = (list: readonly unknown[], id: string): Todo | undefined =>
    (list as readonly (Todo | undefined)[]).find((todo) => todo?.id === id);
  const unchanged = (id: string): Todo | undefined => {
    const sent = byId(update, id);
    const versions = states.flatMap((state) => byId(state, id) ?? []);
    return (
      versions.find((todo) => isSame(todo, sent)) ??
      versions.find((todo) => isSame(withoutFigures(todo), withoutFigures(sent)))
    );
  };
  const first = states[0]!;
  const base = first.map((todo) => unchanged(todo.id) ?? todo);
  // A writer that sends an item of another writer knows of that item.
  for (const todo of states.slice(1).toReversed().flat()) {
    if (byId(update, todo.id) && !byId(base, todo.id)) base.push(unchanged(todo.id) ?? todo);
  }
  return base;
}

function withoutFigures(todo: Todo | undefined): unknown {
  return todo && { ...todo, actuals: undefined };
}

const steps = new StepStates();
