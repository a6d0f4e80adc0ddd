import { mergeEdit, type Conflict } from "../../../src/plan/apply/merge.ts";
import { readRules } from "../../../src/plan/read/values.ts";
import { diffTodos, isSame } from "../../../src/plan/todo/diff.ts";
import type { Todo } from "../../../src/plan/todo/todo.ts";
import { type Status } from "../../../src/vocabulary.ts";
import type { SentTodo } from "../client/contract.ts";

/** The user's edit of a plan: the plan that it is based on, and the edited one. */
export interface PlanDraft {
  base: readonly Todo[];
  mine: readonly Todo[];
  /** The rules in the form, one per line; undefined until the user changes them. */
  rules?: string;
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

/** Moves an item by some places, or not at all past either end. */
export function moveItem(draft: PlanDraft, id: string, by: number): PlanDraft {
  const from = draft.mine.findIndex((todo) => todo.id === id);
  const to = from + by;
  if (from < 0 || to < 0 || to >= draft.mine.length) return draft;
  return { ...draft, mine: draft.mine.toSpliced(from, 1).toSpliced(to, 0, draft.mine[from]!) };
}

/** Rebases a draft onto the current plan. Conflicts stay until the user settles them. */
export function rebased(draft: PlanDraft, theirs: readonly Todo[]): PlanDraft {
  if (isSame(draft.base, theirs)) return draft;
  // Without the agent's version of conflicting items, all others merge.
  const base = conflictsOf(draft, theirs).reduce<readonly Todo[]>(
    (list, conflict) => put(list, conflict.id, conflict.base),
    theirs,
  );
  const mine = withSavedItems(draft, theirs);
  const merge = mergeEdit({ base: draft.base, mine, theirs: base });
  return { ...draft, base, mine: merge.ok ? merge.todos : draft.mine };
}

/** Replaces new items by the same ones in the plan: an earlier save succeeded, but its response was lost. */
function withSavedItems({ base, mine }: PlanDraft, theirs: readonly Todo[]): readonly Todo[] {
  const baseIds = new Set(base.map(({ id }) => id));
  const added = theirs.filter(({ id }) => !baseIds.has(id));
  return mine.map((todo) => {
    const at = isNew(todo.id) ? added.findIndex(({ content }) => content === todo.content.trim()) : -1;
    return at < 0 ? todo : added.splice(at, 1)[0]!;
  });
}

/** Items that both sides changed, found as the server does. */
export function conflictsOf({ base, mine }: PlanDraft, theirs: readonly Todo[]): Conflict[] {
  const merge = mergeEdit({ base, mine, theirs });
  return merge.ok ? [] : merge.conflicts;
}

/** Settles a conflict: the agent's version becomes the base of the item. */
export function settle(
  draft: PlanDraft,
  { id, base: before, mine, theirs }: Conflict,
  keep: "mine" | "theirs",
): PlanDraft {
  const base = put(draft.base, id, theirs);
  if (keep === "theirs") return { ...draft, base, mine: put(draft.mine, id, theirs) };
  if (!mine) return { ...draft, base, mine: put(draft.mine, id, undefined) };
  // The agent removed the item, and its id is not used again.
  if (!theirs) return addItem({ ...draft, base, mine: put(draft.mine, id, undefined) }, mine.content);
  const own = FIELDS.filter((field) => !isSame(before[field], mine[field]));
  return { ...draft, base, mine: put(draft.mine, id, { ...theirs, ...pick(mine, own) }) };
}

export function isDirty({ base, mine, rules }: PlanDraft): boolean {
  return rules !== undefined || diffTodos(base, mine).length > 0;
}

/** The rules to send; undefined if unchanged. */
export function rulesToSend({ rules }: PlanDraft): string[] | undefined {
  return rules === undefined ? undefined : (readRules(rules) ?? []);
}

/** The items to send: new ones without an id, and none without text. */
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

/** Replaces or appends an item; removes it if `todo` is undefined. */
function put(list: readonly Todo[], id: string, todo: Todo | undefined): readonly Todo[] {
  const index = list.findIndex((each) => each.id === id);
  if (!todo) return index < 0 ? list : list.toSpliced(index, 1);
  return index < 0 ? [...list, todo] : list.with(index, todo);
}
