import { isDeepStrictEqual } from "node:util";
import type { BaseChannel } from "@langchain/langgraph";
import { HarnessError } from "../../errors.ts";
import { mergeEdit, readEdit, type Conflict } from "../../plan/apply/index.ts";
import { diffTodos, type Todo } from "../../plan/index.ts";
import { describeChanges } from "../../plan/presets/index.ts";
import type { RunAgent } from "../prepare/index.ts";

/** A person's change of a plan. */
export interface PlanEdit {
  /** The list as it should be: items that stay with their ids, new ones without. */
  todos: readonly unknown[];
  /** The list that it was made of: what the agent has done since then stays. Default: the plan as it is. */
  base?: readonly Todo[] | undefined;
  /** The rules as they should be. Default: as they are. */
  rules?: readonly string[] | undefined;
}

/** The plan has moved on since a person looked at it, in a way that does not go with the edit. */
export class PlanConflict extends HarnessError {
  /** The items that both changed; none where each edit is right and both together break a rule. */
  readonly conflicts: readonly Conflict[];
  /** The plan as it is, for another try. */
  readonly todos: readonly Todo[];

  constructor(message: string, { conflicts, todos }: Pick<PlanConflict, "conflicts" | "todos">) {
    super("plan-conflict", message);
    this.conflicts = conflicts;
    this.todos = todos;
  }
}

/** The plan `now` with an edit. Throws `invalid-plan` for one that is wrong by itself, and a `PlanConflict`. */
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
    const known = HarnessError.from(error);
    if (known?.code !== "invalid-plan" || isDeepStrictEqual(base, now)) throw error;
    // Throws where the edit breaks a rule by itself.
    planAfter(agent, base, [mine]);
    throw conflict(now, [], known.message);
  }
}

/** Applies updates to a plan, each as if it came in a step of its own. Throws `invalid-plan`. */
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
  const side = (list: readonly (Todo | undefined)[]): Todo[] => list.filter((todo) => todo !== undefined);
  const changes = diffTodos(
    conflicts.map(({ base }) => base),
    side(conflicts.map(({ theirs }) => theirs)),
  );
  return `You changed the same as the agent: ${describeChanges(changes)}`;
}
