import { HumanMessage, type BaseMessage } from "@langchain/core/messages";

/** Whether a message is the user's own: no reminder of ours, and no summary. */
export function isFromUser(message: BaseMessage): boolean {
  const { hide_from_ui: isHidden, lc_source: source } = message.additional_kwargs;
  return HumanMessage.isInstance(message) && isHidden !== true && source === undefined;
}
