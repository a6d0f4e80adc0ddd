import { type Status } from "../../vocabulary.ts";
export const PRIORITIES = ["high", "medium", "low"] as const;
/** The importance of an item. */
export type Priority = (typeof PRIORITIES)[number];

/** A thread's spending so far. Only ever grows. */
export interface Tally {
  modelCalls: number;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
}

/** A tally with the time that was worked. */
export interface Figures extends Tally {
  elapsedMs: number;
}

/** An item's cost while it was in progress. Filled in by the harness, never by the model. */
export interface Actuals extends Figures {
  /** Epoch milliseconds of the first start. */
  startedAt: number;
}

/** One item of a plan. */
export interface Todo<Of extends Status = Status> {
  /** Unique in its plan; where ids are `stable`, also short and never given to another item. */
  id: string;
  content: string;
  status: Of;
  priority?: Priority;
  /** Ids of items that must be completed before this one starts. */
  dependsOn?: string[];
  /** Minutes. */
  estimate?: number;
  /** A remark: why it is blocked, what failed, what to remember. */
  note?: string;
  /** A name for verifiers that stays the same when the content changes. */
  key?: string;
  /** Only the verifier or the user completes it. */
  mustVerify?: true;
  /** Whether it was completed on the model's word, without evidence of its work. */
  unverified?: true;
  actuals?: Actuals;
}

/** A plan with the memory that keeps ids from being used twice. */
export interface Plan {
  readonly todos: readonly Todo[];
  /** A number above every numeric id that this plan ever held. */
  readonly nextId: number;
  /** The first id of this plan, if the thread had an earlier one: lower ids belong to that. */
  readonly firstId?: number;
  /** Ids that are not numbers and belonged to items since removed. */
  readonly retired: readonly string[];
}

/** A plan without items. */
export const EMPTY_PLAN: Plan = { todos: [], nextId: 1, retired: [] };

/** One step from a plan to the next. `patchTodos` applies a list of them. */
export type Change =
  | { type: "plan-reset" }
  | { type: "todo-add"; todo: Todo; index: number }
  /** `content`: the item's words, if they are known. */
  | { type: "todo-remove"; id: string; content?: string }
  | { type: "todo-status"; id: string; from: Status; to: Status }
  | { type: "todo-edit"; id: string; set: Partial<Omit<Todo, "id" | "status">>; unset?: OptionalField[] }
  | { type: "plan-reorder"; order: string[] };

export const EDITABLE_FIELDS = [
  "content",
  "priority",
  "dependsOn",
  "estimate",
  "note",
  "key",
  "mustVerify",
  "unverified",
  "actuals",
] as const;
export type EditableField = (typeof EDITABLE_FIELDS)[number];
export type OptionalField = Exclude<EditableField, "content">;

/** The rules a change can break. */
export type Rule =
  | "arguments"
  | "content"
  | "status"
  | "unique-id"
  | "known-id"
  | "max-items"
  | "max-in-progress"
  | "idle"
  | "frozen"
  | "dependency"
  | "cycle"
  | "parallel"
  | "verification"
  | "field";

/** One reason why a change was refused. `message` alone says everything; the rest is for programs. */
export interface Issue {
  rule: Rule;
  /** The item's id, or its place in the arguments, such as `todos[2]`. */
  item?: string;
  field?: string;
  sent?: unknown;
  valid?: string;
  message: string;
}

/** The result of a change. A refused one leaves the plan as it was. */
export type Result =
  | {
      ok: true;
      plan: Plan;
      changes: Change[];
      /** Repairs and assumptions while reading the change, one sentence each. */
      notes: string[];
    }
  | { ok: false; issues: Issue[] };

/** Whether an item is pending or in progress. */
export function isOpen(todo: Todo): boolean {
  return todo.status === "pending" || todo.status === "in_progress";
}

/** The prefix of the note on an item that a sub-agent left open. The note is void once the item is completed. */
export const LEFT_OPEN = "sub-agent: ";

/** Removes from a completed item the note on why a sub-agent left it open. */
export function withoutLeftOpen<T extends Pick<Todo, "status" | "note">>(todo: T): T {
  if (todo.status !== "completed" || !todo.note?.startsWith(LEFT_OPEN)) return todo;
  const { note: _, ...rest } = todo;
  return rest as T;
}

/** Whether an item is completed or cancelled. */
export function isClosed(todo: Todo): boolean {
  return todo.status === "completed" || todo.status === "cancelled";
}

/** Whether there is a plan and all its items are closed. */
export function isFinished(todos: readonly Todo[]): boolean {
  return todos.length > 0 && todos.every(isClosed);
}

/** Whether a plan has items that are not closed, such as blocked ones. */
export function isUnfinished(todos: readonly Todo[]): boolean {
  return todos.some((todo) => !isClosed(todo));
}

/** The number of items of a plan, by status. */
export type Counts = Record<"total" | Status, number>;

/**
 * Counts the items of a plan by status.
 *
 * @example
 * ```ts
 * import { countTodos } from "holdfast/plan";
 *
 * const { completed, total } = countTodos([{ id: "1", content: "Build", status: "completed" }]);
 * console.log(`${completed} of ${total}`);
 * ```
 */
export function countTodos(todos: readonly Todo[]): Counts {
  const none = { pending: 0, in_progress: 0, completed: 0, blocked: 0, cancelled: 0 };
  const counts: Counts = { total: todos.length, ...none };
  for (const todo of todos) counts[todo.status] += 1;
  return counts;
}

/** The number that an id stands for; undefined for one that is a plain name, such as `0` and `007`. */
export function numberOf(id: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(id) ? Number(id) : undefined;
}

/** The largest numeric id that can raise the next id beyond the count of items; a larger one is a plain name. */
const LARGEST_SENT = 999_999;

/** The first number from `next` on that is above every numeric id. */
export function nextNumber(next: number, todos: readonly Todo[]): number {
  const largest = Math.max(LARGEST_SENT, next + todos.length);
  return todos.reduce((number, { id }) => {
    const used = numberOf(id) ?? 0;
    return used >= number && used <= largest ? used + 1 : number;
  }, next);
}

/** An item's content for comparison: case, spaces and punctuation do not count. */
export function contentKey(content: string): string {
  return content
    .toLowerCase()
    .replaceAll(/[\s.,;:!]+/g, " ")
    .trim();
}

/** The entry of a record under a key from outside: `constructor` is undefined unless it was set. */
export function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
