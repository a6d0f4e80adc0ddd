import { ToolMessage } from "@langchain/core/messages";
import { isGraphBubbleUp, type Command } from "@langchain/langgraph";
import { MiddlewareError, toolErrorMiddleware, ToolInvocationError } from "langchain";

/** LangChain's middleware that makes a result of a tool's error, so that the run goes on, in words for the model. */
export function toolErrors() {
  return toolErrorMiddleware({ onError: describeToolError });
}

/**
 * Runs a tool from within `wrapToolCall` and answers its error. LangChain ends a run when an error passes through a
 * `wrapToolCall`, also an ordinary tool's, which it would otherwise show to the model.
 */
export async function answered<Request extends { toolCall: { id?: string; name: string } }>(
  request: Request,
  handler: (request: Request) => Promise<ToolMessage | Command> | ToolMessage | Command,
): Promise<ToolMessage | Command> {
  try {
    return await handler(request);
  } catch (error) {
    const content = isGraphBubbleUp(error) ? undefined : describeToolError(error);
    if (content === undefined) throw error;
    const { name, id = "" } = request.toolCall;
    return new ToolMessage({ content, status: "error", name, tool_call_id: id });
  }
}

/** What a failed tool says to the model: what was wrong, without stack or paths of the host. */
function describeToolError(error: unknown): string | undefined {
  if (error instanceof Error && error.name === "AbortError") return undefined;
  // LangChain's wrappers only: a tool's own message says more than what caused it.
  let root: unknown = error;
  while (MiddlewareError.isInstance(root)) root = (root as Error).cause;
  const cause = ToolInvocationError.isInstance(root) ? (root as { toolError?: unknown }).toolError : root;
  const message = cause instanceof Error ? cause.message : String(cause);
  return `Error: ${message.split("\n    at ")[0]}`;
}
