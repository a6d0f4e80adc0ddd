import type { Actuals, Todo } from "../../plan/todo/index.ts";
import { MAIN } from "../view/index.ts";
import type { StampedEvent } from "./thread-events.ts";
import { amount, duration, statusName } from "./words.ts";

/** A plan of a thread, as it was when the next one replaced it. */
export interface PlanRecord {
  at: number;
  /** The task that it was made for. */
  task?: string;
  todos: readonly Todo[];
  rules: readonly string[];
}

/** The main agent's plans after an event, the current one last. A new plan does not remove a finished one. */
export function plansAfter(
  plans: readonly PlanRecord[],
  event: StampedEvent,
  task: () => string | undefined,
): readonly PlanRecord[] {
  if ((event.type !== "plan-change" && event.type !== "plan-snapshot") || event.owner !== MAIN) return plans;
  const { at } = event;
  const todos = event.todos as Todo[];
  const last = plans.at(-1);
  const isNew = event.type === "plan-change" && event.changes.some(({ type }) => type === "plan-reset");
  if (!last || (isNew && last.todos.length > 0)) {
    return todos.length === 0 ? plans : [...plans, { at, task: task(), todos, rules: event.rules ?? [] }];
  }
  return [...plans.slice(0, -1), { ...last, todos, rules: event.rules ?? last.rules }];
}

/** Status, cost and note of an item as text. */
export function itemFacts(todo: Todo): string[] {
  const { actuals, note } = todo;
  return [statusName(todo), ...(actuals ? costWords(actuals) : []), ...(note ? [note] : [])];
}

/** The working time and tokens of an item: `8 s`, `1.2k tokens`. */
export function costWords({ elapsedMs, inputTokens, outputTokens }: Actuals): string[] {
  return [duration(elapsedMs), `${amount(inputTokens + outputTokens)} tokens`];
}

/** The title of a plan: its number if there are several, and its task in a line. */
export function planTitle({ task }: PlanRecord, number: number, count: number): string {
  const [line = ""] = (task ?? "").trim().split("\n", 1);
  const short = line.length > 80 ? `${line.slice(0, 79).toWellFormed()}…` : line;
  return [count > 1 ? `Plan ${number}` : "Plan", short].filter(Boolean).join(": ");
}

/** The sections of an export for a thread's plans, the current one first. */
export function planSections(
  plans: readonly PlanRecord[],
): { id: string; title: string; plan: PlanRecord }[] {
  const sections = plans.map((plan, index) => ({
    id: `plan-${index + 1}`,
    title: planTitle(plan, index + 1, plans.length),
    plan,
  }));
  return sections.toReversed();
}
