import { ToolMessage } from "@langchain/core/messages";
import { Command, isCommand } from "@langchain/langgraph";
import { withContent } from "./with-content.ts";

/** The result of a call with a remark in front. */
export function withNote(result: ToolMessage | Command, note: string, id: string): ToolMessage | Command {
  if (ToolMessage.isInstance(result)) return noted(result, note);
  const { update } = result as { update?: { messages?: unknown } };
  if (!isCommand(result) || !Array.isArray(update?.messages)) return result;
  const messages: unknown[] = update.messages.map((message: unknown) =>
    ToolMessage.isInstance(message) && message.tool_call_id === id ? noted(message, note) : message,
  );
  const { goto = [], graph } = result;
  return new Command({ goto, update: { ...update, messages }, ...(graph !== undefined && { graph }) });
}

function noted(message: ToolMessage, note: string): ToolMessage {
  const { content } = message;
  return withContent(
    message,
    typeof content === "string" ? `${note}\n${content}` : [{ type: "text", text: note }, ...content],
  );
}
