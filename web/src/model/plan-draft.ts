import { mergeEdit, type Conflict } from "../../../src/plan/apply/merge.ts";
import { readRules } from "../../../src/plan/read/values.ts";
import { diffTodos, isSame } from "../../../src/plan/todo/diff.ts";
import type { Status, Todo } from "../../../src/plan/todo/todo.ts";
import type { SentTodo } from "../client/contract.ts";

/** A plan under a person's hands: what it was when they began, and what they made of it. */
export interface PlanDraft {
  base: readonly Todo[];
  mine: readonly Todo[];
  /** The rules as they stand in the form, one in a line; undefined until somebody changes them. */
  rules?: string | undefined;
}

const NEW = "new-";

export function startDraft(todos: readonly Todo[]): PlanDraft {
  return { base: todos, mine: todos };
}

export function addItem(draft: PlanDraft, content: string): PlanDraft {
  const numbers = [...draft.base, ...draft.mine].map(({ id }) => Number(id.slice(NEW.length)) || 0);
  const id = `${NEW}${Math.max(0, ...numbers) + 1}`;
  return { ...draft, mine: [...draft.mine, { id, content, status: "pending" }] };
}

export function renameItem(draft: PlanDraft, id: string, content: string): PlanDraft {
  return withItem(draft, id, (todo) => ({ ...todo, content }));
}

export function setStatus(draft: PlanDraft, id: string, status: Status): PlanDraft {
  return withItem(draft, id, (todo) => ({ ...todo, status }));
}

export function removeItem(draft: PlanDraft, id: string): PlanDraft {
  const mine = draft.mine
    .filter((todo) => todo.id !== id)
    .map(({ dependsOn, ...todo }) => {
      const rest = dependsOn?.filter((other) => other !== id) ?? [];
      return rest.length > 0 ? { ...todo, dependsOn: rest } : todo;
    });
  return { ...draft, mine };
}

/** Moves an item by some places; at an end it stays. */
export function moveItem(draft: PlanDraft, id: string, by: number): PlanDraft {
  const from = draft.mine.findIndex((todo) => todo.id === id);
  const to = from + by;
  if (from < 0 || to < 0 || to >= draft.mine.length) return draft;
  return { ...draft, mine: draft.mine.toSpliced(from, 1).toSpliced(to, 0, draft.mine[from]!) };
}

/** The draft on top of the plan as it is now; what is in conflict stays so until somebody decides. */
export function rebased(draft: PlanDraft, theirs: readonly Todo[]): PlanDraft {
  if (isSame(draft.base, theirs)) return draft;
  // As if the agent had not touched what is in conflict: then all else goes together.
  const base = conflictsOf(draft, theirs).reduce<readonly Todo[]>(
    (list, conflict) => put(list, conflict.id, conflict.base),
    theirs,
  );
  const mine = withArrived(draft, theirs);
  const merge = mergeEdit({ base: draft.base, mine, theirs: base });
  return { ...draft, base, mine: merge.ok ? merge.todos : draft.mine };
}

/** Mine with the new items that are there by now as they are there: they were saved, though nobody could say so. */
function withArrived({ base, mine }: PlanDraft, theirs: readonly Todo[]): readonly Todo[] {
  const known = new Set(base.map(({ id }) => id));
  const arrived = theirs.filter(({ id }) => !known.has(id));
  return mine.map((todo) => {
    const at = isNew(todo.id) ? arrived.findIndex(({ content }) => content === todo.content.trim()) : -1;
    return at < 0 ? todo : arrived.splice(at, 1)[0]!;
  });
}

/** Items that both sides changed, as the server will see them. */
export function conflictsOf({ base, mine }: PlanDraft, theirs: readonly Todo[]): Conflict[] {
  const merge = mergeEdit({ base, mine, theirs });
  return merge.ok ? [] : merge.conflicts;
}

/** Settles a conflict: the agent's version becomes what the draft began with. */
export function settle(
  draft: PlanDraft,
  { id, base: was, mine, theirs }: Conflict,
  keep: "mine" | "theirs",
): PlanDraft {
  const base = put(draft.base, id, theirs);
  if (keep === "theirs") return { ...draft, base, mine: put(draft.mine, id, theirs) };
  if (!mine) return { ...draft, base, mine: put(draft.mine, id, undefined) };
  // An id that the agent gave up is not used again.
  if (!theirs) return addItem({ ...draft, base, mine: put(draft.mine, id, undefined) }, mine.content);
  const own = FIELDS.filter((field) => !isSame(was[field], mine[field]));
  return { ...draft, base, mine: put(draft.mine, id, { ...theirs, ...pick(mine, own) }) };
}

export function isDirty({ base, mine, rules }: PlanDraft): boolean {
  return rules !== undefined || diffTodos(base, mine).length > 0;
}

/** The rules as they are sent; undefined where nobody changed them. */
export function rulesToSend({ rules }: PlanDraft): string[] | undefined {
  return rules === undefined ? undefined : (readRules(rules) ?? []);
}

/** The list as it is sent: new items without an id, and none without words. */
export function toSend(todos: readonly Todo[]): SentTodo[] {
  return todos
    .filter(({ content }) => content.trim() !== "")
    .map(({ id, ...todo }) => (isNew(id) ? todo : { id, ...todo }));
}

export function isNew(id: string): boolean {
  return id.startsWith(NEW);
}

const FIELDS = ["content", "status", "priority", "dependsOn", "estimate", "note", "mustVerify"] as const;

function pick(todo: Todo, fields: readonly (keyof Todo)[]): Partial<Todo> {
  return Object.fromEntries(fields.map((field) => [field, todo[field]]));
}

function withItem(draft: PlanDraft, id: string, change: (todo: Todo) => Todo): PlanDraft {
  return { ...draft, mine: draft.mine.map((todo) => (todo.id === id ? change(todo) : todo)) };
}

/** The list with an item in its place, at the end where it had none; without it where there is nothing to put. */
function put(list: readonly Todo[], id: string, todo: Todo | undefined): readonly Todo[] {
  const index = list.findIndex((each) => each.id === id);
  if (!todo) return index < 0 ? list : list.toSpliced(index, 1);
  return index < 0 ? [...list, todo] : list.with(index, todo);
}
