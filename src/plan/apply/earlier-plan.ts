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
 * A finished plan is continued only by a model's list that repeats some of it as it stands, or a person's that names some
 * of it; otherwise it is over.
 */
export function continues(
  plan: Plan,
  drafts: readonly Draft[],
  { reading, isPerson }: { reading: Reading; isPerson: boolean },
): boolean {
  if (!isFinished(plan.todos)) return true;
  const items = identify(plan, drafts, new Reading(reading.policy));
  return items.some(({ draft, was }) => {
    const isNamed = isPerson && draft.id !== undefined;
    return was !== undefined && (isNamed || draft.status === was.status);
  });
}

/** An empty plan after a finished one. Where ids are stable, it remembers all that were used before. */
export function afterPlan(plan: Plan, { ids }: Policy): Plan {
  if (ids !== "stable") return EMPTY_PLAN;
  const empty = planOf(plan, []);
  return { ...empty, firstId: empty.nextId };
}

/** The items that a new list leaves out though they are not closed: they are cancelled, where a plan knows that. */
export function leftOut({ todos }: Plan, ids: ReadonlySet<string>, { ids: kind, statuses }: Policy): Todo[] {
  if (kind !== "stable" || !statuses.includes("cancelled")) return [];
  return todos
    .filter((todo) => !isClosed(todo) && !ids.has(todo.id))
    .map((todo) => ({ ...todo, status: "cancelled" }));
}

/**
 * An update in the ids of this plan. Ids go on counting from one plan of a thread to the next; a model that counts
 * from 1 again means the items in the order in which the plan was made.
 */
export function withPresentIds(update: UpdateDraft, plan: Plan, reading: Reading): UpdateDraft {
  const { firstId: first } = plan;
  if (first === undefined) return update;
  const ids = new Set(plan.todos.map(({ id }) => id));
  const present = (id: string): string => {
    const number = numberOf(id) ?? Infinity;
    const meant = String(first + number - 1);
    if (number >= first || ids.has(id) || !ids.has(meant)) return id;
    reading.note(`${id} is taken for ${meant}: this plan counts from ${first}.`);
    return meant;
  };
  const named = <Of extends { id?: string; before?: string; dependsOn?: string[] }>(draft: Of): Of => ({
    ...draft,
    ...(draft.id !== undefined && { id: present(draft.id) }),
    ...(draft.before !== undefined && { before: present(draft.before) }),
    ...(draft.dependsOn && { dependsOn: draft.dependsOn.map(present) }),
  });
  const { add, order, ...others } = update;
  const operations = Object.entries(others).map(([name, drafts]) => [name, (drafts as Draft[]).map(named)]);
  return {
    ...(Object.fromEntries(operations) as typeof others),
    add: add.map(({ id, ...draft }) => ({ ...named(draft), ...(id !== undefined && { id }) })),
    order: order.map(present),
  };
}
