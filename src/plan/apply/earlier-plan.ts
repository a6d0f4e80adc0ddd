import { type Draft, type UpdateDraft, Reading } from "../read/index.ts";
import {
  type Policy,
  EMPTY_PLAN,
  isClosed,
  isFinished,
  numberOf,
  type Plan,
  type Todo,
} from "../todo/index.ts";
import { identify, planOf } from "./identity.ts";

/**
 * Whether a list continues the plan. A finished plan is continued only by a model's list that repeats an item
 * unchanged, or the user's list that names one by its id.
 */
export function continuesPlan(
  plan: Plan,
  drafts: readonly Draft[],
  { reading, isPerson }: { reading: Reading; isPerson: boolean },
): boolean {
  if (!isFinished(plan.todos)) return true;
  const items = identify(plan, drafts, new Reading(reading.policy));
  return items.some(({ draft, existing }) => {
    const isNamed = isPerson && draft.id !== undefined;
    return existing !== undefined && (isNamed || draft.status === existing.status);
  });
}

/** An empty plan after a finished one. With stable ids it remembers all ids that were used before. */
export function emptyPlanAfter(plan: Plan, { ids }: Policy): Plan {
  if (ids !== "stable") return EMPTY_PLAN;
  const empty = planOf(plan, []);
  return { ...empty, firstId: empty.nextId };
}

/** Cancels the open and blocked items that a new list leaves out, if the policy has stable ids and that status. */
export function cancelOmitted(
  { todos }: Plan,
  ids: ReadonlySet<string>,
  { ids: kind, statuses }: Policy,
): Todo[] {
  if (kind !== "stable" || !statuses.includes("cancelled")) return [];
  return todos
    .filter((todo) => !isClosed(todo) && !ids.has(todo.id))
    .map((todo) => ({ ...todo, status: "cancelled" }));
}

/**
 * Translates an update to the ids of this plan. Ids keep counting from one plan of a thread to the next; a model that
 * counts from 1 again means the items in the order in which the plan was made.
 */
export function withCurrentIds(update: UpdateDraft, plan: Plan, reading: Reading): UpdateDraft {
  const { firstId: first } = plan;
  if (first === undefined) return update;
  const ids = new Set(plan.todos.map(({ id }) => id));
  const currentId = (id: string): string => {
    const number = numberOf(id) ?? Infinity;
    const current = String(first + number - 1);
    if (number >= first || ids.has(id) || !ids.has(current)) return id;
    reading.note(`${id} is read as ${current}: this plan counts from ${first}.`);
    return current;
  };
  const translate = <Of extends { id?: string; before?: string; dependsOn?: string[] }>(draft: Of): Of => ({
    ...draft,
    ...(draft.id !== undefined && { id: currentId(draft.id) }),
    ...(draft.before !== undefined && { before: currentId(draft.before) }),
    ...(draft.dependsOn && { dependsOn: draft.dependsOn.map(currentId) }),
  });
  const { add, order, ...others } = update;
  const operations = Object.entries(others).map(([name, drafts]) => [
    name,
    (drafts as Draft[]).map(translate),
  ]);
  return {
    ...(Object.fromEntries(operations) as typeof others),
    add: add.map(({ id, ...draft }) => ({ ...translate(draft), ...(id !== undefined && { id }) })),
    order: order.map(currentId),
  };
}
