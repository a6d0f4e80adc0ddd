import type { BaseMessage } from "@langchain/core/messages";

/** Whether a message is the user's own: no reminder of ours, and no summary. */
export function isFromUser(message: BaseMessage): boolean {
  // Asked of every message of a long run in every model call: `isInstance` would ask much of each.
  if (message.type !== "human") return false;
  const { hide_from_ui: isHidden, lc_source: source } = message.additional_kwargs;
  return isHidden !== true && source === undefined;
}
