import { STATUSES } from "../../vocabulary.ts";
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
  type Result,
  type Todo,
} from "../todo/index.ts";
import { applyWrite } from "./apply.ts";

/** An item with conflicting changes by two sides; undefined for a side that removed it. */
export interface Conflict {
  id: string;
  /** The version that both sides started from. */
  base: Todo;
  mine: Todo | undefined;
  theirs: Todo | undefined;
}

export type Merge = { ok: true; todos: Todo[] } | { ok: false; conflicts: Conflict[] };

/** Two lists that started from one. */
export interface Sides {
  base: readonly Todo[];
  mine: readonly Todo[];
  theirs: readonly Todo[];
}

/**
 * Applies the changes from `base` to `mine` on top of `theirs`. An item that both sides changed is a conflict if one
 * removed it, if `theirs` closed it, or if they gave one field two values; all other changes are merged. Actuals are
 * ignored. If both sides moved items, the order is that of `mine`. The result still has to be validated.
 */
export function mergeEdit({ base, mine, theirs }: Sides): Merge {
  const sides = { base, mine: withFreeIds(mine, base, theirs), theirs };
  const myItems = byId(sides.mine);
  const theirItems = byId(theirs);
  const conflicts = base
    .map((todo): Conflict => ({
      id: todo.id,
      base: todo,
      mine: myItems.get(todo.id),
      theirs: theirItems.get(todo.id),
    }))
    .filter(isConflict);
  if (conflicts.length > 0) return { ok: false, conflicts };
  // New items with the same id on both sides are identical here: they are not added twice.
  const changes = diffTodos(base, sides.mine).filter(
    (change) =>
      change.type !== "plan-reorder" && !(change.type === "todo-add" && theirItems.has(change.todo.id)),
  );
  return {
    ok: true,
    todos: patchTodos(theirs, [...changes, { type: "plan-reorder", order: orderOf(sides) }]),
  };
}

/** Reads the user's edit of `base`, in any form that `applyWrite` takes, by the most permissive rules. */
export function readEdit(base: readonly Todo[], sent: unknown): Result {
  return applyWrite({ todos: base, nextId: nextNumber(1, base), retired: [] }, sent, NO_RULES, {
    author: "person",
  });
}

const NO_RULES: Policy = { ...CLASSIC_POLICY, statuses: STATUSES };

/** The fields that users and the model can change; actuals belong to the harness. */
const FIELDS = ["status", ...EDITABLE_FIELDS.filter((field) => field !== "actuals")] as const;

function isConflict({ base, mine, theirs }: Conflict): boolean {
  const own = changedFields(base, mine);
  const other = changedFields(base, theirs);
  if (own.length === 0 || other.length === 0 || changedFields(mine, theirs).length === 0) return false;
  if (!mine || !theirs) return true;
  const isLate =
    isClosed(theirs) && !isClosed(base) && own.some((field) => !isSame(mine[field], theirs[field]));
  return isLate || own.some((field) => other.includes(field) && !isSame(mine[field], theirs[field]));
}

/** The fields in which two versions of an item differ: all of them if one version is missing. */
function changedFields(
  before: Todo | undefined,
  after: Todo | undefined,
): readonly (typeof FIELDS)[number][] {
  if (!before || !after) return before === after ? [] : FIELDS;
  return FIELDS.filter((field) => !isSame(before[field], after[field]));
}

/** Renames new items of `mine` whose id `theirs` gave to another new item, and the references to them. */
function withFreeIds(mine: readonly Todo[], base: readonly Todo[], theirs: readonly Todo[]): readonly Todo[] {
  const [baseItems, theirItems] = [byId(base), byId(theirs)];
  const newIds = new Map<string, string>();
  let next = nextNumber(1, [...base, ...theirs, ...mine]);
  for (const todo of mine) {
    const other = theirItems.get(todo.id);
    if (!other || baseItems.has(todo.id) || isSame(other, todo)) continue;
    newIds.set(todo.id, String(next++));
  }
  if (newIds.size === 0) return mine;
  const nameOf = (id: string): string => newIds.get(id) ?? id;
  return mine.map((todo) => ({
    ...todo,
    id: nameOf(todo.id),
    ...(todo.dependsOn && { dependsOn: todo.dependsOn.map(nameOf) }),
  }));
}

/** The merged order: that of the side that moved items. The other side's new items stay behind their predecessor. */
function orderOf({ base, mine, theirs }: Sides): string[] {
  const [frame, other] = isMoved(base, mine) ? [mine, theirs] : [theirs, mine];
  const order = frame.map(({ id }) => id);
  const baseItems = byId(base);
  other.forEach(({ id }, at) => {
    if (baseItems.has(id) || order.includes(id)) return;
    const before = other.slice(0, at).findLast((todo) => order.includes(todo.id));
    order.splice(before ? order.indexOf(before.id) + 1 : 0, 0, id);
  });
  return order;
}

function isMoved(base: readonly Todo[], list: readonly Todo[]): boolean {
  const [before, after] = [byId(base), byId(list)];
  const common = base.filter(({ id }) => after.has(id));
  return list.filter(({ id }) => before.has(id)).some(({ id }, at) => id !== common[at]?.id);
}
