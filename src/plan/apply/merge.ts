import {
  byId,
  diffTodos,
  isSame,
  patchTodos,
  CLASSIC_POLICY,
  type Policy,
  EDITABLE_FIELDS,
  isClosed,
  nextNumber,
  STATUSES,
  type Result,
  type Todo,
} from "../todo/index.ts";
import { applyWrite } from "./apply.ts";

/** An item that two sides changed in ways that do not go together; undefined where a side removed it. */
export interface Conflict {
  id: string;
  /** As both knew it. */
  base: Todo;
  mine: Todo | undefined;
  theirs: Todo | undefined;
}

export type Merge = { ok: true; todos: Todo[] } | { ok: false; conflicts: Conflict[] };

/** Two lists that were made of one. */
export interface Sides {
  base: readonly Todo[];
  mine: readonly Todo[];
  theirs: readonly Todo[];
}

/**
 * Puts what `mine` changes of `base` on top of what `theirs` changed of it. They conflict in an item that both changed
 * when one removed it, when `theirs` closed it, or when they gave one field two values; all else goes together. What
 * items cost is nobody's change. Where both moved items the order is mine. The result is to be validated.
 */
export function mergeEdit({ base, mine, theirs }: Sides): Merge {
  const sides = { base, mine: withFreeIds(mine, base, theirs), theirs };
  const wanted = byId(sides.mine);
  const found = byId(theirs);
  const conflicts = base
    .map((todo): Conflict => ({
      id: todo.id,
      base: todo,
      mine: wanted.get(todo.id),
      theirs: found.get(todo.id),
    }))
    .filter(isConflict);
  if (conflicts.length > 0) return { ok: false, conflicts };
  // Of items that are new under one id only those are left that are the same on both sides.
  const changes = diffTodos(base, sides.mine).filter(
    (change) => change.type !== "plan-reorder" && !(change.type === "todo-add" && found.has(change.todo.id)),
  );
  return {
    ok: true,
    todos: patchTodos(theirs, [...changes, { type: "plan-reorder", order: orderOf(sides) }]),
  };
}

/** Reads a list that a person made of `base`, in any form that `applyWrite` takes, without the rules of a plan. */
export function readEdit(base: readonly Todo[], sent: unknown): Result {
  return applyWrite({ todos: base, nextId: nextNumber(1, base), retired: [] }, sent, NO_RULES, {
    author: "person",
  });
}

const NO_RULES: Policy = { ...CLASSIC_POLICY, statuses: STATUSES };

/** The fields that people and the model change; figures are the harness's. */
const FIELDS = ["status", ...EDITABLE_FIELDS.filter((field) => field !== "actuals")] as const;

function isConflict({ base, mine, theirs }: Conflict): boolean {
  const own = changed(base, mine);
  const other = changed(base, theirs);
  if (own.length === 0 || other.length === 0 || changed(mine, theirs).length === 0) return false;
  if (!mine || !theirs) return true;
  const isLate =
    isClosed(theirs) && !isClosed(base) && own.some((field) => !isSame(mine[field], theirs[field]));
  return isLate || own.some((field) => other.includes(field) && !isSame(mine[field], theirs[field]));
}

/** The fields in which two versions of an item differ: all of them where one is gone. */
function changed(before: Todo | undefined, after: Todo | undefined): readonly (typeof FIELDS)[number][] {
  if (!before || !after) return before === after ? [] : FIELDS;
  return FIELDS.filter((field) => !isSame(before[field], after[field]));
}

/** Gives an item of mine that is new another id where theirs has one that is new under it, with all that refers to it. */
function withFreeIds(mine: readonly Todo[], base: readonly Todo[], theirs: readonly Todo[]): readonly Todo[] {
  const [known, taken] = [byId(base), byId(theirs)];
  const renamed = new Map<string, string>();
  let next = nextNumber(1, [...base, ...theirs, ...mine]);
  for (const todo of mine) {
    const other = taken.get(todo.id);
    if (!other || known.has(todo.id) || isSame(other, todo)) continue;
    renamed.set(todo.id, String(next++));
  }
  if (renamed.size === 0) return mine;
  const nameOf = (id: string): string => renamed.get(id) ?? id;
  return mine.map((todo) => ({
    ...todo,
    id: nameOf(todo.id),
    ...(todo.dependsOn && { dependsOn: todo.dependsOn.map(nameOf) }),
  }));
}

/** The merged order: of the side that moved items; the other side's new items keep their predecessor. */
function orderOf({ base, mine, theirs }: Sides): string[] {
  const [frame, other] = isMoved(base, mine) ? [mine, theirs] : [theirs, mine];
  const order = frame.map(({ id }) => id);
  const known = byId(base);
  other.forEach(({ id }, at) => {
    if (known.has(id) || order.includes(id)) return;
    const before = other.slice(0, at).findLast((todo) => order.includes(todo.id));
    order.splice(before ? order.indexOf(before.id) + 1 : 0, 0, id);
  });
  return order;
}

function isMoved(base: readonly Todo[], list: readonly Todo[]): boolean {
  const [before, after] = [byId(base), byId(list)];
  const kept = base.filter(({ id }) => after.has(id));
  return list.filter(({ id }) => before.has(id)).some(({ id }, at) => id !== kept[at]?.id);
}
