import { toolErrorMiddleware, ToolInvocationError } from "langchain";

/** LangChain's middleware that makes a result of a tool's error, so that the run goes on, in words for the model. */
export function toolErrors() {
  return toolErrorMiddleware({ onError: describeToolError });
}

/** What a failed tool says to the model: what was wrong, without stack or paths of the host. */
function describeToolError(error: unknown): string | undefined {
  if (error instanceof Error && error.name === "AbortError") return undefined;
  let root: unknown = error;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  const cause = ToolInvocationError.isInstance(root) ? (root as { toolError?: unknown }).toolError : root;
  const message = cause instanceof Error ? cause.message : String(cause);
  return `Error: ${message.split("\n    at ")[0]}`;
}
