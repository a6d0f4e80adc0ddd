import { setMaxListeners } from "node:events";
import { ToolMessage } from "@langchain/core/messages";
import { isGraphBubbleUp, type Command } from "@langchain/langgraph";
import { createMiddleware, MiddlewareError, ToolInvocationError } from "langchain";
import { HarnessError, type HarnessErrorCode } from "../../errors.ts";

/**
 * Makes a result of a tool's error, so that the run goes on, in words for the model. Bears the name of LangChain's
 * middleware, which a user may put in its place.
 */
export function toolErrors() {
  return createMiddleware({ name: "toolErrorMiddleware", wrapToolCall: answered });
}

/** A tool call as a `wrapToolCall` gets it, as far as it is used here. */
interface ToolRequest {
  toolCall: { id?: string; name: string };
  runtime: unknown;
}
type Handler<Request> = (request: Request) => Promise<ToolMessage | Command> | ToolMessage | Command;

/** In a request: somebody further out answers errors. */
const ANSWERED = Symbol("answered");

/**
 * Runs a tool from within `wrapToolCall` and answers its error. LangChain ends a run when an error passes through a
 * `wrapToolCall`, also an ordinary tool's, which it would otherwise show to the model.
 */
export async function answered<Request extends ToolRequest>(
  request: Request,
  handler: Handler<Request>,
): Promise<ToolMessage | Command> {
  const { signal } = (request.runtime ?? {}) as { signal?: AbortSignal };
  // LangGraph has one signal for all calls of a turn. Each listens to it, and Node 20 takes more than ten for a leak.
  if (signal) setMaxListeners(0, signal);
  try {
    return await handler({ ...request, [ANSWERED]: true });
  } catch (error) {
    // Control flow, and whatever comes of the run's own end. A tool may abort requests of its own as it likes.
    if (isGraphBubbleUp(error) || signal?.aborted) throw error;
    if (isNotForModels(error)) throw error;
    const { name, id = "" } = request.toolCall;
    return new ToolMessage({ content: describeToolError(error), status: "error", name, tool_call_id: id });
  }
}

/** Recognizes an error about the agent's construction or its thread, which a model cannot fix: it ends the run. */
export function isNotForModels(error: unknown): boolean {
  return NOT_FOR_MODELS.has(HarnessError.from(error)?.code);
}

const NOT_FOR_MODELS: ReadonlySet<HarnessErrorCode | undefined> = new Set<HarnessErrorCode>([
  "invalid-options",
  "storage-corrupt",
  "storage-failed",
  "thread-busy",
  "thread-changed",
]);

/**
 * Runs a tool like `answered`, but leaves its error to an `answered` further out where there is one: a user's
 * middleware between the two, such as one that tries again, has to see it.
 */
export async function answeredOnce<Request extends ToolRequest>(
  request: Request,
  handler: Handler<Request>,
): Promise<ToolMessage | Command> {
  return ANSWERED in request ? handler(request) : answered(request, handler);
}

/** A tool's error for the model, without stack or paths of the host. */
function describeToolError(error: unknown): string {
  // LangChain's wrappers only: a tool's own message says more than what caused it.
  let root: unknown = error;
  while (MiddlewareError.isInstance(root)) root = (root as Error).cause;
  const cause = ToolInvocationError.isInstance(root) ? (root as { toolError?: unknown }).toolError : root;
  const message = cause instanceof Error ? cause.message : String(cause);
  return `Error: ${message.split("\n    at ")[0]}`;
}
