import type { Resource } from "./spending.ts";

/** The interrupt of a sub-agent that waits for a new budget. */
export interface BudgetStop {
  type: "turn-limit";
  text: string;
  /** The limit that was reached. */
  resource: Resource;
}

/** Recognizes the value of a `BudgetStop` interrupt, which is not a question. */
export function isBudgetStop(value: unknown): value is BudgetStop {
  return typeof value === "object" && value !== null && "type" in value && value.type === "turn-limit";
}
