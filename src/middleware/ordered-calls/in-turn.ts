import type { ToolMessage } from "@langchain/core/messages";

/** In a request: waits for the earlier calls of the message. */
const PLACE = Symbol("place");

type Wait = () => Promise<ToolMessage | undefined>;

/** The request with its place in the order, for middleware further in. */
export function withPlace<Request extends object>(request: Request, wait: Wait): Request {
  return { ...request, [PLACE]: wait };
}

/**
 * Waits until it is a call's turn; at once where nothing keeps the order. Returns the result of a call that is withheld.
 * To be called before it is recorded that the call begins.
 */
export async function inTurn(request: object): Promise<ToolMessage | undefined> {
  return (request as { [PLACE]?: Wait })[PLACE]?.();
}
