import { AIMessage, type BaseMessage } from "@langchain/core/messages";

/** Counts tokens as LangChain's own estimate does: four characters each. It says how much text there is, no more. */
export function countTokens(messages: readonly BaseMessage[], tools: readonly object[] = []): number {
  const characters = messages.reduce((sum, message) => sum + lengthOf(message), 0);
  const definitions = tools.reduce((sum, tool) => sum + JSON.stringify(tool).length, 0);
  return Math.ceil((characters + definitions) / 4);
}

function lengthOf(message: BaseMessage): number {
  const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
  return calls.reduce(
    (sum, { name, args }) => sum + name.length + JSON.stringify(args).length,
    message.text.length,
  );
}
