import type { ToolMessage } from "@langchain/core/messages";

/** The artifact of the result of a call that was stopped: it may have had its effect. */
export const UNFINISHED = { unfinished: true };

export function isUnfinished({ artifact }: ToolMessage): boolean {
  return (artifact as { unfinished?: unknown } | undefined)?.unfinished === true;
}

/** The artifact says that a write was held back. */
export function isHeld({ artifact }: ToolMessage): boolean {
  return (artifact as { held?: unknown } | undefined)?.held === true;
}
