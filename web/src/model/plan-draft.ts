import { diffTodos, isSame, patchTodos } from "../../../src/plan/diff.ts";
import type { Status, Todo } from "../../../src/plan/todo.ts";
import type { SentTodo } from "../client/contract.ts";

/** A plan under a person's hands: what it was when they began, and what they made of it. */
export interface PlanDraft {
  base: readonly Todo[];
  mine: readonly Todo[];
}

/** An item that a person and the agent changed differently. Missing: that side removed it. */
export interface PlanConflict {
  id: string;
  mine: Todo | undefined;
  theirs: Todo | undefined;
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

/** What is in the draft, with what the agent has changed meanwhile. A new item without words is left out when sent. */
export function merged({ base, mine }: PlanDraft, theirs: readonly Todo[]): Todo[] {
  return patchTodos(theirs, diffTodos(base, mine));
}

/** The draft on top of the plan as it is now; what is in conflict stays so until somebody decides. */
export function rebased(draft: PlanDraft, theirs: readonly Todo[]): PlanDraft {
  if (isSame(draft.base, theirs)) return draft;
  const before = new Map(draft.base.map((todo) => [todo.id, todo]));
  let next: PlanDraft = { base: theirs, mine: merged(draft, theirs) };
  for (const { id, mine } of conflictsOf(draft, theirs)) {
    next = { base: put(next.base, id, before.get(id)), mine: put(next.mine, id, mine) };
  }
  return next;
}

export function conflictsOf({ base, mine }: PlanDraft, theirs: readonly Todo[]): PlanConflict[] {
  const [before, ours, now] = [base, mine, theirs].map(
    (list) => new Map(list.map((todo) => [todo.id, todo])),
  );
  return [...before!.values()].flatMap((was): PlanConflict[] => {
    const [own, other] = [ours!.get(was.id), now!.get(was.id)];
    const isConflict =
      own && other
        ? FIELDS.some(
            (field) =>
              !isSame(was[field], own[field]) &&
              !isSame(was[field], other[field]) &&
              !isSame(own[field], other[field]),
          )
        : // One side removed what the other one changed.
          (own !== undefined && isChanged(was, own)) || (other !== undefined && isChanged(was, other));
    return isConflict ? [{ id: was.id, mine: own, theirs: other }] : [];
  });
}

/** Settles a conflict: the agent's version becomes what the draft began with. */
export function settle(
  draft: PlanDraft,
  { id, mine, theirs }: PlanConflict,
  keep: "mine" | "theirs",
): PlanDraft {
  const base = put(draft.base, id, theirs);
  if (keep === "theirs") return { base, mine: put(draft.mine, id, theirs) };
  if (!mine) return { base, mine: put(draft.mine, id, undefined) };
  // An id that the agent gave up is not used again.
  if (!theirs) return addItem({ base, mine: put(draft.mine, id, undefined) }, mine.content);
  const was = draft.base.find((todo) => todo.id === id) ?? theirs;
  const own = FIELDS.filter((field) => !isSame(was[field], mine[field]));
  return { base, mine: put(draft.mine, id, { ...theirs, ...pick(mine, own) }) };
}

export function isDirty({ base, mine }: PlanDraft): boolean {
  return diffTodos(base, mine).length > 0;
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

const FIELDS = ["content", "status", "priority", "dependsOn", "estimate", "note"] as const;

function isChanged(was: Todo, now: Todo): boolean {
  return FIELDS.some((field) => !isSame(was[field], now[field]));
}

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
