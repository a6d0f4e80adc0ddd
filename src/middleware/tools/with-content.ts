import { HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";

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
