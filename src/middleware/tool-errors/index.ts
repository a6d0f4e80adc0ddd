import { setMaxListeners } from "node:events";
import { isGraphBubbleUp } from "@langchain/langgraph";
import { createMiddleware, MiddlewareError, ToolInvocationError } from "langchain";
import { HarnessError, type HarnessErrorCode } from "../../errors.ts";
import { type CallResult, errorResult } from "../tools/index.ts";

/**
 * Turns a tool's error into a result for the model, so that the run continues. Has the name of LangChain's middleware,
 * so that a user can replace it by that.
 */
export function toolErrors() {
  return createMiddleware({ name: "toolErrorMiddleware", wrapToolCall: answered });
}

/** The fields of a `wrapToolCall` request that are used here. */
interface ToolRequest {
  toolCall: { id?: string; name: string };
  runtime: unknown;
}
type Handler<Request> = (request: Request) => Promise<CallResult> | CallResult;

/** In a request: an outer `answered` turns errors into results. */
const ANSWERED = Symbol("answered");

/**
 * Runs a tool within `wrapToolCall` and turns its error into a result. LangChain ends a run when an error passes through
 * a `wrapToolCall`, even a tool's error that it would otherwise show to the model.
 */
export async function answered<Request extends ToolRequest>(
  request: Request,
  handler: Handler<Request>,
): Promise<CallResult> {
  const { signal } = (request.runtime ?? {}) as { signal?: AbortSignal };
  // All calls of a turn listen to one signal of LangGraph, and Node 20 warns of a leak at more than ten listeners.
  if (signal) setMaxListeners(0, signal);
  try {
    return await handler({ ...request, [ANSWERED]: true });
  } catch (error) {
    // Rethrow control flow, and any error after the run's own abort. A tool may abort its own requests.
    if (isGraphBubbleUp(error) || signal?.aborted || isNotForModels(error)) throw error;
    return errorResult(request.toolCall, describeToolError(error));
  }
}

/** Recognizes an error that a model cannot fix, in the agent's options or its thread: it ends the run. */
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
 * Runs a tool like `answered`, but leaves its error to an outer `answered` if there is one: a user's middleware between
 * the two, such as one that retries, has to see it.
 */
export async function answeredOnce<Request extends ToolRequest>(
  request: Request,
  handler: Handler<Request>,
): Promise<CallResult> {
  return ANSWERED in request ? handler(request) : answered(request, handler);
}

/** Describes a tool's error for the model, without its stack. */
function describeToolError(error: unknown): string {
  // Unwrap only LangChain's wrappers: a tool's own message says more than its cause.
  let root: unknown = error;
  while (MiddlewareError.isInstance(root)) root = (root as Error).cause;
  const cause = ToolInvocationError.isInstance(root) ? (root as { toolError?: unknown }).toolError : root;
  const message = cause instanceof Error ? cause.message : String(cause);
  return `Error: ${message.split("\n    at ")[0]}`;
}
