import type { Draft, Reading } from "../read/index.ts";
import { byId, contentKey, isClosed, nextNumber, numberOf, type Plan, type Todo } from "../todo/index.ts";
import { duplicateId } from "./rules.ts";

/** A draft with its id, and the item of the plan that it continues, if any. */
export interface Identified {
  draft: Draft;
  id: string;
  existing: Todo | undefined;
}

/**
 * Gives every draft its id. In order of precedence: the id that it was sent with, the id of the item with the same
 * content, its position in the list if no item ever had that number, the next free number. With ids as sent, neither
 * the content nor earlier items count.
 */
export function identify(plan: Plan, drafts: readonly Draft[], reading: Reading): Identified[] {
  const items = byId(plan.todos);
  const isRemoved = retiredIdCheck(plan, items);
  const isRetired = (id: string, content?: string): boolean =>
    isRemoved(id) || (reading.policy.completed === "frozen" && isOtherWork(items.get(id), content));
  const usedIds = new Set<string>();
  const sentIds = drafts.map((draft) =>
    sentId(draft, { isRetired, usedIds, isNew: plan.todos.length === 0 }, reading),
  );
  const ids =
    reading.policy.ids === "sent"
      ? byPosition(sentIds, usedIds)
      : byContent(drafts, { sentIds, plan, usedIds });
  let next = plan.nextId;
  return drafts.map((draft, index) => {
    let id = ids[index];
    if (id === undefined) {
      const position = String(index + 1);
      id = usedIds.has(position) || items.has(position) || isRetired(position) ? undefined : position;
      while (id === undefined || usedIds.has(id)) id = String(next++);
      usedIds.add(id);
      if (reading.policy.ids === "sent" && draft.id === undefined)
        reading.note(`${draft.at} has the id ${id}: ${position} is another item's.`);
    }
    return { draft, id, existing: items.get(id) };
  });
}

type Ids = readonly (string | undefined)[];

/** Gives drafts without an id their position, unless another draft has that id. */
function byPosition(sentIds: Ids, usedIds: Set<string>): Ids {
  return sentIds.map((id, index) => {
    const position = String(index + 1);
    if (id !== undefined || usedIds.has(position)) return id;
    usedIds.add(position);
    return position;
  });
}

/** Gives drafts without an id that of the item with the same content, or with similar content at the same place. */
function byContent(
  drafts: readonly Draft[],
  { sentIds, plan, usedIds }: { sentIds: Ids; plan: Plan; usedIds: Set<string> },
): Ids {
  const unclaimed = new Map<string, string[]>();
  for (const { id, content } of plan.todos.toReversed()) {
    if (usedIds.has(id)) continue;
    const key = contentKey(content);
    const same = unclaimed.get(key);
    if (same) same.push(id);
    else unclaimed.set(key, [id]);
  }
  const ids = drafts.map((draft, index) => {
    if (sentIds[index] !== undefined) return sentIds[index];
    const id = unclaimed.get(contentKey(draft.content ?? ""))?.pop();
    if (id !== undefined) usedIds.add(id);
    return id;
  });
  return ids.map((id, index) => id ?? similarItem(drafts[index]!, { index, plan, usedIds }));
}

/** The share of words that two contents must have in common to belong to one item. */
const MIN_SIMILARITY = 0.6;

/** The id of the open item at the place of a draft, or next to it, whose content is similar. */
function similarItem(
  { content = "" }: Draft,
  { index, plan, usedIds }: { index: number; plan: Plan; usedIds: Set<string> },
): string | undefined {
  const near = [index, index - 1, index + 1].flatMap((at) => plan.todos[at] ?? []);
  const match = near.find(
    (todo) => !usedIds.has(todo.id) && !isClosed(todo) && similarity(todo.content, content) >= MIN_SIMILARITY,
  );
  if (match) usedIds.add(match.id);
  return match?.id;
}

const REPLACED_BY = "replaced by ";

/** The note of a cancelled item that another one replaces. */
export function replacedBy(id: string): string {
  return `${REPLACED_BY}${id}`;
}

/** Whether a cancelled item names the one that replaces it. */
export function isReplaced({ status, note = "" }: Todo): boolean {
  return status === "cancelled" && note.startsWith(REPLACED_BY);
}

/** The item that replaces a cancelled one: by its note, or the most similar one that shares half of its words. */
export function replacementOf(todo: Todo, others: readonly Todo[]): Todo | undefined {
  const noted = others.find(({ id }) => todo.note === replacedBy(id));
  if (noted) return noted;
  const ranked = others
    .map((other) => ({ other, share: similarity(todo.content, other.content) }))
    .toSorted((a, b) => b.share - a.share);
  return ranked[0] && ranked[0].share >= 0.5 ? ranked[0].other : undefined;
}

/** The share of words that two texts have in common. */
function similarity(one: string, other: string): number {
  const [left, right] = [one, other].map((text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu)));
  const common = [...left!].filter((word) => right!.has(word)).length;
  return (2 * common) / Math.max(1, left!.size + right!.size);
}

/** A plan with these items that remembers the ids of removed ones. */
export function planOf(previous: Plan, todos: readonly Todo[]): Plan {
  const present = new Set(todos.map((todo) => todo.id));
  const nextId = nextNumber(previous.nextId, todos);
  const isCounted = (id: string): boolean => (numberOf(id) ?? nextId) < nextId;
  const removed = previous.todos.filter(({ id }) => !present.has(id) && !isCounted(id));
  const { firstId } = previous;
  const retired = [...previous.retired, ...removed.map((todo) => todo.id)];
  return { todos, nextId, retired, ...(firstId !== undefined && { firstId }) };
}

/** Returns a check for ids of items that were removed from this plan. */
export function retiredIdCheck(
  { nextId, retired }: Plan,
  present: { has: (id: string) => boolean },
): (id: string) => boolean {
  const names = new Set(retired);
  return (id) => !present.has(id) && (names.has(id) || (numberOf(id) ?? nextId) < nextId);
}

/** Whether content is sent under the id of a cancelled item with different content. */
function isOtherWork(todo: Todo | undefined, content: string | undefined): boolean {
  return todo?.status === "cancelled" && !!content && contentKey(content) !== contentKey(todo.content);
}

/** The id that a draft was sent with; undefined if it has none, or one that it cannot have. */
function sentId(
  draft: Draft,
  plan: { isRetired: (id: string, content?: string) => boolean; usedIds: Set<string>; isNew: boolean },
  reading: Reading,
): string | undefined {
  const { id } = draft;
  const { isRetired, usedIds, isNew } = plan;
  if (id === undefined) return undefined;
  if (usedIds.has(id)) {
    if (reading.policy.duplicateIds === "refuse") reading.issue(duplicateId(id, draft.at));
    else reading.note(`The id ${id} was used twice; the second item got a new id.`);
    return undefined;
  }
  if (reading.policy.ids === "stable" && isRetired(id, draft.content)) {
    // The result of a new plan lists its ids.
    if (!isNew) reading.note(`The id ${id} belonged to an item that is gone; the new item got a new id.`);
    return undefined;
  }
  usedIds.add(id);
  return id;
}
