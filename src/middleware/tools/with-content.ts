import { HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, isCommand } from "@langchain/langgraph";

/** The same message with other content. */
export function withContent(message: ToolMessage, content: ToolMessage["content"]): ToolMessage {
  const { tool_call_id, name, status, id, metadata, additional_kwargs, response_metadata } = message;
  const { artifact } = message as { artifact?: unknown };
  return new ToolMessage({
    content,
    tool_call_id,
    additional_kwargs,
    response_metadata,
    ...(artifact !== undefined && { artifact }),
    ...(name !== undefined && { name }),
    ...(status !== undefined && { status }),
    ...(id !== undefined && { id }),
    ...(metadata !== undefined && { metadata }),
  });
}

/** The same message of a user with other content. */
export function withWords(message: BaseMessage, content: BaseMessage["content"]): HumanMessage {
  const { name, id, additional_kwargs, response_metadata } = message;
  return new HumanMessage({
    content,
    additional_kwargs,
    response_metadata,
    ...(name !== undefined && { name }),
    ...(id !== undefined && { id }),
  });
}

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
