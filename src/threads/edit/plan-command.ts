import { diffTodos, type Todo } from "../../plan/index.ts";
import { describeChanges } from "../../plan/presets/index.ts";

/** The `/plan` command, for all surfaces with commands. */
export const PLAN_COMMAND = {
  name: "plan",
  usage: "[edit|approve|clear]",
  about: "show the plan, edit it, have each new one approved, or clear it",
} as const;

export interface PlanWish {
  to: "show" | "edit" | "approve" | "clear";
  /** The text after the subcommand. */
  rest: string;
}

export const PLAN_SAYS = {
  none: "There is no plan.",
  unchanged: "Nothing was changed.",
  approve: "New plans wait for your approval from the next message on.",
  heard: "The agent hears of it at its next call, in this run or with your next message.",
  waits: "Your edit goes in when the agent's step ends.",
  cleared: "What was not done is off the plan.",
  unknown: (args: string): string => `/plan takes edit, approve or clear, not ${args}.`,
};

/** Parses the arguments of `/plan`; undefined if they are unknown. Only `edit` takes a `rest`. */
export function planWish(args: string): PlanWish | undefined {
  const [, word = "", rest = ""] = /^(\S*)\s*([^]*)$/.exec(args)!;
  if (word === "") return { to: "show", rest };
  if (word === "edit") return { to: word, rest };
  return (word === "approve" || word === "clear") && rest === "" ? { to: word, rest } : undefined;
}

/** The confirmation of a saved edit: what it changed, and when the agent reads it. */
export function savedWords(before: readonly Todo[], after: readonly Todo[]): string {
  const changes = diffTodos(before, after);
  if (changes.length === 0) return PLAN_SAYS.unchanged;
  return `Saved: ${describeChanges(changes, before)} ${PLAN_SAYS.heard}`;
}
