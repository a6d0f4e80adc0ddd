import type { ToolMessage } from "@langchain/core/messages";

/** In a request: waits for the earlier calls of the message. */
const WAIT = Symbol("wait");

type Wait = () => Promise<ToolMessage | undefined>;

/** Adds a wait function to a request, for inner middleware. */
export function withWait<Request extends object>(request: Request, wait: Wait): Request {
  return { ...request, [WAIT]: wait };
}

/**
 * Waits until it is a call's turn; returns at once without `orderedCallsMiddleware`. Returns the result of a call that is
 * withheld. Call it before recording that the call begins.
 */
export async function inTurn(request: object): Promise<ToolMessage | undefined> {
  return (request as { [WAIT]?: Wait })[WAIT]?.();
}
