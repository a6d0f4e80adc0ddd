import { isDeepStrictEqual } from "node:util";
import type { BaseChannel } from "@langchain/langgraph";
import { HarnessError } from "../../errors.ts";
import { mergeEdit, readEdit, type Conflict } from "../../plan/apply/index.ts";
import { diffTodos, type Todo } from "../../plan/index.ts";
import { describeChanges } from "../../plan/presets/index.ts";
import type { RunAgent } from "../prepare/index.ts";

export interface PlanEdit {
  /** The new list: existing items with their ids, new ones without. */
  todos: readonly unknown[];
  /** The list that the edit started from: the agent's changes since then are kept. Default: the current plan. */
  base?: readonly Todo[];
  /** The new rules. Default: unchanged. */
  rules?: readonly string[];
}

/** The error for an edit that conflicts with changes since the user read the plan. */
export class PlanConflict extends HarnessError {
  /** The items that both changed; none if both edits are valid and together break a rule. */
  readonly conflicts: readonly Conflict[];
  /** The current plan, for a retry. */
  readonly todos: readonly Todo[];

  constructor(message: string, { conflicts, todos }: Pick<PlanConflict, "conflicts" | "todos">) {
    super("plan-conflict", message);
    this.conflicts = conflicts;
    this.todos = todos;
  }
}

/** Merges an edit into the plan `now`. Throws `invalid-plan` for an invalid edit, and a `PlanConflict`. */
export function mergedPlan(agent: RunAgent, now: readonly Todo[], { todos, base = now }: PlanEdit): Todo[] {
  const read = readEdit(base, todos);
  if (!read.ok) {
    const reasons = read.issues.map(({ message }) => message).join(" ");
    throw new HarnessError("invalid-plan", `The plan was not changed. ${reasons}`);
  }
  const mine = read.plan.todos;
  const merge = mergeEdit({ base, mine, theirs: now });
  if (!merge.ok) throw conflict(now, merge.conflicts);
  try {
    return planAfter(agent, now, [merge.todos]);
  } catch (error) {
    const cause = HarnessError.from(error);
    if (cause?.code !== "invalid-plan" || isDeepStrictEqual(base, now)) throw error;
    // Throws if the edit breaks a rule by itself.
    planAfter(agent, base, [mine]);
    throw conflict(now, [], cause.message);
  }
}

/** Applies updates to a plan, each as a step of its own. Throws `invalid-plan`. */
export function planAfter(
  { graph }: RunAgent,
  start: readonly Todo[] | undefined,
  ...updates: unknown[][]
): Todo[] {
  const channel = graph.channels["todos"] as unknown as BaseChannel<Todo[], unknown, Todo[]> | undefined;
  if (!channel) throw new HarnessError("invalid-options", "The agent of this thread has no plan.");
  const list = channel.fromCheckpoint(start && [...start]);
  for (const each of updates) list.update(each);
  return list.get();
}

function conflict(
  todos: readonly Todo[],
  conflicts: readonly Conflict[],
  reason = moved(conflicts),
): PlanConflict {
  const message = `The plan was not changed: it has moved on meanwhile. ${reason}`;
  return new PlanConflict(message, { conflicts, todos });
}

function moved(conflicts: readonly Conflict[]): string {
  const changes = diffTodos(
    conflicts.map(({ base }) => base),
    conflicts.flatMap(({ theirs }) => theirs ?? []),
  );
  return `You changed the same as the agent: ${describeChanges(changes)}`;
}
