import { foreign, renderSnapshot, renderStatus } from "../render/index.ts";
import { actionable, isFinished, isOpen, isUnfinished, type Change, type Todo } from "../todo/index.ts";
import type { Reminders } from "./presets.ts";

export type ReminderKind = "edited" | "context-loss" | "stale" | "exit";

/** The situation before or after a model call. */
export interface Situation {
  todos: readonly Todo[];
  /** The plan's rules. */
  rules?: readonly string[];
  /** Whether the model can see the plan as it was last written. */
  visible: boolean;
  /** Changes by others that the model does not know of. */
  edits: readonly Change[];
  /** Rounds of tool calls since the last plan call. */
  rounds: number;
  /** Stale reminders given since the last plan call. */
  nags: number;
  /** Whether the last calls are work on an item in progress, which a reminder would interrupt. */
  busy?: boolean;
  /** Exit reminders given since the last progress of this run. */
  exits: number;
  /** Whether the model has given a clean final answer. */
  answered: boolean;
  /** The reason why that answer did not complete the item that is left. */
  refusal?: string;
}

/** A reminder for the model: a message name and its text. */
export interface Reminder {
  kind: ReminderKind;
  name: string;
  text: string;
}

/** The reminders that are due. A finished plan only gets the news of an edit. */
export function dueReminders(situation: Situation, reminders: Reminders): Reminder[] {
  const { todos, visible, edits } = situation;
  if (situation.answered)
    return isExitDue(situation, reminders) ? [reminder("exit", situation, reminders)] : [];
  const isLost = reminders.contextLoss !== false && !visible && isUnfinished(todos);
  const due: ReminderKind[] = [];
  // The context-loss reminder shows the whole plan; listing additions as well would say it twice.
  const hasNews = isLost ? edits.some((change) => change.type !== "todo-add") : edits.length > 0;
  if (reminders.edited && hasNews) due.push("edited");
  if (isLost) due.push("context-loss");
  if (due.length === 0 && isStale(situation, reminders)) due.push("stale");
  return due.map((kind) => reminder(kind, situation, reminders));
}

/** Describes changes in words, one clause per change. `before`: the list with the content of removed items. */
export function describeChanges(changes: readonly Change[], before: readonly Todo[] = []): string {
  const nameOf = (id: string, content = before.find((todo) => todo.id === id)?.content): string => {
    return content === undefined ? id : `${id} ${JSON.stringify(content)}`;
  };
  const clauses = changes.flatMap((change) => {
    switch (change.type) {
      case "plan-reset":
        return "started a new plan";
      case "todo-add":
        return `added ${change.todo.id} "${change.todo.content}" (${change.todo.status})`;
      case "todo-remove":
        return `removed ${nameOf(change.id, change.content)}`;
      case "todo-status":
        return `${nameOf(change.id)} is now ${change.to}`;
      case "todo-edit": {
        const { actuals: _, unverified: __, ...fields } = change.set;
        const set = Object.entries(fields).map(([field, value]) => `${field} ${JSON.stringify(value)}`);
        const unset = (change.unset ?? [])
          .filter((field) => field !== "actuals" && field !== "unverified")
          .map((field) => `no ${field}`);
        const parts = [...set, ...unset];
        return parts.length > 0 ? `${change.id} has ${parts.join(", ")}` : [];
      }
      case "plan-reorder":
        return `the order is ${change.order.join(", ")}`;
    }
  });
  return `${clauses.join("; ")}.`;
}

function isExitDue({ todos, exits }: Situation, { exit }: Reminders): boolean {
  return exit !== false && exits < exit.max && actionable(todos).length > 0;
}

function isStale({ todos, rounds, nags, busy = false }: Situation, { stale }: Reminders): boolean {
  if (!stale || busy || isFinished(todos)) return false;
  if (todos.length === 0 ? !stale.withoutPlan : actionable(todos).length === 0) return false;
  return rounds >= stale.after * stale.backoff ** nags;
}

function reminder(kind: ReminderKind, situation: Situation, reminders: Reminders): Reminder {
  const { todos, rules, edits, refusal, exits } = situation;
  const key = kind === "context-loss" ? "contextLoss" : kind;
  const { name, text: first, again } = reminders[key] as { name: string; text: string; again?: string };
  const text = (kind === "exit" && exits > 0 ? again : undefined) ?? first;
  const values: Record<string, string> = {
    plan: foreign(renderSnapshot(todos, rules)),
    open: foreign(renderSnapshot(todos.filter(isOpen))),
    status: renderStatus(todos),
    changes: foreign(describeChanges(edits)),
  };
  const filled = text.replaceAll(/\{(\w+)\}/g, (whole, word: string) => values[word] ?? whole);
  const body = kind === "exit" && refusal ? `${foreign(refusal)}\n${filled}` : filled;
  return {
    kind,
    name,
    text: `<${reminders.tag}>${body.includes("\n") ? `\n${body}\n` : body}</${reminders.tag}>`,
  };
}
