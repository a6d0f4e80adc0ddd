import type { Draft, Reading } from "../read/index.ts";
import { contentKey, isClosed, nextNumber, numberOf, type Plan, type Todo } from "../todo/index.ts";
import { duplicateId } from "./rules.ts";

/** A draft with the id it will have, and the item it continues if there is one. */
export interface Identified {
  draft: Draft;
  id: string;
  was: Todo | undefined;
}

/**
 * Gives every draft its id. In order of precedence: the id it carries, the id of the item with the same
 * content, its position in the list if no item ever had that number, the next free number. Where ids are as they
 * were sent, neither content nor what the plan held before counts.
 */
export function identify(plan: Plan, drafts: readonly Draft[], reading: Reading): Identified[] {
  const byId = new Map(plan.todos.map((todo) => [todo.id, todo]));
  const isGone = spentIds(plan, byId);
  const isSpent = (id: string, content?: string): boolean =>
    isGone(id) || (reading.policy.completed === "frozen" && isOther(byId.get(id), content));
  const taken = new Set<string>();
  const named = drafts.map((draft) =>
    namedId(draft, { isSpent, taken, isNew: plan.todos.length === 0 }, reading),
  );
  const found =
    reading.policy.ids === "sent" ? byPosition(named, taken) : byContent(drafts, { named, plan, taken });
  let next = plan.nextId;
  return drafts.map((draft, index) => {
    let id = found[index];
    if (id === undefined) {
      const position = String(index + 1);
      id = taken.has(position) || byId.has(position) || isSpent(position) ? undefined : position;
      while (id === undefined || taken.has(id)) id = String(next++);
      taken.add(id);
      if (reading.policy.ids === "sent" && draft.id === undefined)
        reading.note(`${draft.at} has the id ${id}: ${position} is another item's.`);
    }
    return { draft, id, was: byId.get(id) };
  });
}

type Ids = readonly (string | undefined)[];

/** Items without an id are called by their positions, as far as these are not names of others. */
function byPosition(named: Ids, taken: Set<string>): Ids {
  return named.map((id, index) => {
    const position = String(index + 1);
    if (id !== undefined || taken.has(position)) return id;
    taken.add(position);
    return position;
  });
}

/** Items without an id are those that say the same, or nearly so at their place. */
function byContent(
  drafts: readonly Draft[],
  { named, plan, taken }: { named: Ids; plan: Plan; taken: Set<string> },
): Ids {
  const unclaimed = new Map<string, string[]>();
  for (const { id, content } of plan.todos.toReversed()) {
    if (taken.has(id)) continue;
    const key = contentKey(content);
    const same = unclaimed.get(key);
    if (same) same.push(id);
    else unclaimed.set(key, [id]);
  }
  const ids = drafts.map((draft, index) => {
    if (named[index] !== undefined) return named[index];
    const id = unclaimed.get(contentKey(draft.content ?? ""))?.pop();
    if (id !== undefined) taken.add(id);
    return id;
  });
  return ids.map((id, index) => id ?? reworded(drafts[index]!, { index, plan, taken }));
}

/** The share of words that two items must have in common to be one. */
const ALIKE = 0.6;

/** The open item at the place of a draft, or beside it, that says nearly the same. */
function reworded(
  { content = "" }: Draft,
  { index, plan, taken }: { index: number; plan: Plan; taken: Set<string> },
): string | undefined {
  const near = [index, index - 1, index + 1].flatMap((at) => plan.todos[at] ?? []);
  const same = near.find(
    (todo) => !taken.has(todo.id) && !isClosed(todo) && likeness(todo.content, content) >= ALIKE,
  );
  if (same) taken.add(same.id);
  return same?.id;
}

/** The share of words that two texts have in common. */
function likeness(one: string, other: string): number {
  const [left, right] = [one, other].map((text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu)));
  const common = [...left!].filter((word) => right!.has(word)).length;
  return (2 * common) / Math.max(1, left!.size + right!.size);
}

/** The plan that holds these items, remembering every id that is gone. */
export function planOf(previous: Plan, todos: readonly Todo[]): Plan {
  const present = new Set(todos.map((todo) => todo.id));
  const nextId = nextNumber(previous.nextId, todos);
  const isCounted = (id: string): boolean => (numberOf(id) ?? nextId) < nextId;
  const gone = previous.todos.filter(({ id }) => !present.has(id) && !isCounted(id));
  const { firstId } = previous;
  const retired = [...previous.retired, ...gone.map((todo) => todo.id)];
  return { todos, nextId, retired, ...(firstId !== undefined && { firstId }) };
}

/** Tells whether an item of this plan had an id and no longer exists. */
export function spentIds(
  { nextId, retired }: Plan,
  present: { has: (id: string) => boolean },
): (id: string) => boolean {
  const names = new Set(retired);
  return (id) => !present.has(id) && (names.has(id) || (numberOf(id) ?? nextId) < nextId);
}

/** Recognizes other words under the id of a cancelled item. */
function isOther(todo: Todo | undefined, content: string | undefined): boolean {
  return todo?.status === "cancelled" && !!content && contentKey(content) !== contentKey(todo.content);
}

function namedId(
  draft: Draft,
  plan: { isSpent: (id: string, content?: string) => boolean; taken: Set<string>; isNew: boolean },
  reading: Reading,
): string | undefined {
  const { id } = draft;
  const { isSpent, taken, isNew } = plan;
  if (id === undefined) return undefined;
  if (taken.has(id)) {
    if (reading.policy.duplicateIds === "refuse") reading.issue(duplicateId(id, draft.at));
    else reading.note(`The id ${id} was used twice; the second item got a new id.`);
    return undefined;
  }
  if (reading.policy.ids === "stable" && isSpent(id, draft.content)) {
    // The ids of a new plan are told with it.
    if (!isNew) reading.note(`The id ${id} belonged to an item that is gone; the new item got a new id.`);
    return undefined;
  }
  taken.add(id);
  return id;
}
