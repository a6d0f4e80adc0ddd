import type { BaseMessage } from "@langchain/core/messages";

/** The text of a message. LangChain converts a message's content to blocks on each access of `text`. */
export function textOf(message: BaseMessage): string {
  const { content } = message;
  return typeof content === "string" ? content : message.text;
}
