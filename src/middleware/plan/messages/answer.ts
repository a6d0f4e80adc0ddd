import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";

/** A model's answer: a message, or a structured response with the messages that carry it. */
export type ModelAnswer = AIMessage | { structuredResponse: unknown; messages: BaseMessage[] };

/** The messages of an answer. */
export function messagesOf(answer: ModelAnswer): BaseMessage[] {
  return AIMessage.isInstance(answer) ? [answer] : answer.messages;
}

/** The messages of an answer for another request: without empty ones, and with a reply to every tool call. */
export function forRetry(answer: ModelAnswer): BaseMessage[] {
  const messages = messagesOf(answer);
  const repliedIds = new Set(
    messages.flatMap((message) => (ToolMessage.isInstance(message) ? message.tool_call_id : [])),
  );
  return messages.flatMap((message) => {
    if (!AIMessage.isInstance(message)) return message;
    const open = (message.tool_calls ?? []).filter((call) => !repliedIds.has(call.id ?? ""));
    if (message.text === "" && (message.tool_calls ?? []).length === 0) return [];
    const content = "Not run: you gave your final answer in the same turn. Call it again.";
    const reply = ({ name, id = "" }: { name: string; id?: string }): ToolMessage =>
      new ToolMessage({ content, status: "error", name, tool_call_id: id });
    return [message, ...open.map(reply)];
  });
}
