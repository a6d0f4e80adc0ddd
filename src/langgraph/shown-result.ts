import type { ToolMessage } from "@langchain/core/messages";

/** The used part of LangGraph's listener for the stream `messages`. */
interface Listener {
  name: string;
  handleChainStart: (...args: unknown[]) => void;
  handleChainEnd: (outputs: unknown, run: string) => void;
}

/** The configuration of a call, with its listeners. */
export interface CallConfig {
  metadata?: object;
  callbacks?: unknown;
}

/**
 * Streams the result of a call that will be returned in a command. LangGraph streams only messages that a node returns
 * directly; to clients the call would never end.
 */
export function showResult(message: ToolMessage, { metadata = {}, callbacks }: CallConfig = {}): void {
  const { handlers = [] } = (callbacks ?? {}) as { handlers?: Listener[] };
  const messages = handlers.find(({ name }) => name === "StreamMessagesHandler");
  const { langgraph_node: node } = metadata as { langgraph_node?: string };
  const run = message.tool_call_id;
  messages?.handleChainStart({}, {}, run, undefined, undefined, metadata, undefined, node);
  messages?.handleChainEnd(message, run);
}
