/** The command for the plan, wherever people type commands. */
export const PLAN_COMMAND = {
  name: "plan",
  usage: "[edit|approve|clear]",
  about: "show the plan, edit it, have each new one approved, or clear it",
} as const;

export interface PlanWish {
  to: "show" | "edit" | "approve" | "clear";
  /** The text after the word. */
  rest: string;
}

export const PLAN_SAYS = {
  none: "There is no plan.",
  unchanged: "Nothing was changed.",
  approve: "New plans wait for your approval from the next message on.",
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
