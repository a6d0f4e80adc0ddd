import type { ToolMessage } from "@langchain/core/messages";

/** A listener, as far as LangGraph's own for the stream `messages` is used. */
interface Listener {
  name: string;
  handleChainStart: (...args: unknown[]) => void;
  handleChainEnd: (outputs: unknown, run: string) => void;
}

/** The configuration of a call, with those who listen to it. */
export interface CallConfig {
  metadata?: object;
  callbacks?: unknown;
}

/**
 * Shows the result of a call to whoever streams messages, where it is about to be returned in a command: LangGraph shows
 * only what a node returns as messages, and clients would take the call for one that never ends.
 */
export function showResult(message: ToolMessage, { metadata = {}, callbacks }: CallConfig = {}): void {
  const { handlers = [] } = (callbacks ?? {}) as { handlers?: Listener[] };
  const messages = handlers.find(({ name }) => name === "StreamMessagesHandler");
  const { langgraph_node: node } = metadata as { langgraph_node?: string };
  const run = message.tool_call_id;
  messages?.handleChainStart({}, {}, run, undefined, undefined, metadata, undefined, node);
  messages?.handleChainEnd(message, run);
}
