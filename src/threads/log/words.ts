import { parseDecision } from "../../decision.ts";
import { REMINDER_NAMES } from "../../plan/presets/index.ts";
import { own, type Change, type Todo } from "../../plan/todo/index.ts";
import { type Status } from "../../vocabulary.ts";
import type { RunEvent } from "../events/index.ts";
import { UNSEEN } from "../json-text/index.ts";

export const STATUS_NAMES: Readonly<Record<Status, string>> = {
  pending: "To do",
  in_progress: "In progress",
  completed: "Done",
  blocked: "Blocked",
  cancelled: "Cancelled",
};

/** An item's status as text, with a mark if its completion is unverified. */
export function statusName({ status, unverified }: Pick<Todo, "status" | "unverified">): string {
  return unverified ? `${STATUS_NAMES[status]}, unverified` : STATUS_NAMES[status];
}

/** The failure of a call or a sub-agent as text; undefined if it did not fail. */
export function failureWord(end: { ok?: boolean; verdict?: string }): string | undefined {
  if (end.ok !== false) return undefined;
  return end.verdict === "part" ? "done in part" : "failed";
}

/** `8 s`, `3 min 20 s`, `2 h 5 min`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} days`;
}

/** The time since a moment, for a list: `now`, `5 min`, `3 h`, `2 days`. */
export function ago(at: number, now: number): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h`;
  const days = Math.floor(hours / 24);
  return days === 1 ? "1 day" : `${days} days`;
}

/** `940`, `12.3k`, `1.2M`. */
export function amount(number: number): string {
  if (number < 1000) return String(number);
  if (number < 999_500) return `${(number / 1000).toFixed(number < 99_950 ? 1 : 0)}k`;
  return `${(number / 1_000_000).toFixed(1)}M`;
}

/** The notice that a conversation was summarized, or could not be. */
export function summaryWords(event: Extract<RunEvent, { type: "summary" | "summary-failure" }>): string {
  if (event.type === "summary-failure") {
    return `The conversation could not be summarized (${event.reason}). It stays whole; Holdfast tries again later.`;
  }
  const { messages, tokens } = event;
  const count = messages === 1 ? "1 earlier message" : `${messages} earlier messages`;
  return `Summarized ${count} (about ${amount(tokens)} tokens) to save room. What you said stays word for word, and the thread stays whole.`;
}

/** The reply to a request for a summary; `count` is undefined if the conversation is short. */
export function compactWords(count: number | undefined): string {
  return count === undefined
    ? "The conversation is short already."
    : `Most of the ${count} messages are summarized with your next one. What you said stays word for word.`;
}

const SENT_BACK = {
  plan: "Holdfast returned the answer: items of the plan are still open.",
  goal: "Holdfast returned the answer: the goal is not met.",
} as const;

/** The notice that the answer before a model call was returned to the model; undefined if none was. */
export function sentBackWords({
  reminders = [],
}: Extract<RunEvent, { type: "model-start" }>): string | undefined {
  if (reminders.includes(REMINDER_NAMES.exit)) return SENT_BACK.plan;
  return reminders.includes("goal_reminder") ? SENT_BACK.goal : undefined;
}

export function dollars(cost: number): string {
  return `$${cost.toFixed(cost > 0 && cost < 0.1 ? 4 : 2)}`;
}

export function clock(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}

/** Text with invisible characters escaped, so that no name and no command looks like another one. */
export function inSight(text: string): string {
  return text.replaceAll(
    UNSEEN,
    (character) => `\\u{${character.codePointAt(0)!.toString(16).padStart(4, "0")}}`,
  );
}

/** A short description of plan changes; undefined if there is nothing to tell. */
export function changeWords({
  changes,
  names,
  rules,
}: {
  changes: readonly Change[];
  /** The content of items at that time, by id. */
  names: Readonly<Record<string, string>>;
  rules?: readonly string[];
}): string | undefined {
  const name = (id: string): string => `“${own(names, id) ?? `item ${id}`}”`;
  const added = changes.filter(({ type }) => type === "todo-add").length;
  const words = changes.flatMap((change): string[] => {
    switch (change.type) {
      case "todo-status":
        return [`${STATUS_VERBS[change.to]} ${name(change.id)}`];
      case "todo-remove":
        return ["removed an item"];
      case "todo-edit": {
        const { content, note } = change.set;
        if (content !== undefined) return [`renamed an item to “${content}”`];
        return note === undefined ? [] : [`noted “${note}”`];
      }
      case "plan-reorder":
        return ["put the items in another order"];
      case "todo-add":
      case "plan-reset":
        return [];
    }
  });
  const first = added > 0 ? [`added ${added === 1 ? "an item" : `${added} items`}`] : [];
  const all = [...first, ...words, ...(rules ? [rulesWords(rules)] : [])];
  if (all.length === 0) return undefined;
  const text = all.length > 4 ? [...all.slice(0, 3), `and ${all.length - 3} more changes`] : all;
  return text.join(", ");
}

function rulesWords(rules: readonly string[]): string {
  if (rules.length === 0) return "took the rules away";
  return rules.length === 1 ? `set the rule “${rules[0]}”` : `set ${rules.length} rules`;
}

const STATUS_VERBS: Readonly<Record<Status, string>> = {
  pending: "put back",
  in_progress: "started",
  completed: "completed",
  blocked: "blocked",
  cancelled: "cancelled",
};

/** The user's answer as a sentence. */
export function answerWords(answer: unknown, { kind, name }: { kind?: string; name?: string } = {}): string {
  const decision = typeof answer === "object" ? parseDecision(answer) : undefined;
  const { type, message, by = "You" } = decision ?? {};
  const what = name ?? (kind === "plan-approval" ? "the plan" : "it");
  switch (type) {
    case "approve":
      return `${by} approved ${what}.`;
    case "edit":
      return `${by} approved ${what} with changes.`;
    case "reject":
      return `${by} rejected ${what}${message ? `: ${message}` : "."}`;
    case "respond":
      return `${by} answered ${what}: ${message}`;
    default:
      return `${by} answered: ${typeof answer === "string" ? answer : JSON.stringify(answer)}`;
  }
}
