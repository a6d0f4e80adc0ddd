import type { AIMessage, ToolCall } from "@langchain/core/messages";

type Arguments = Record<string, unknown>;

/** The parts of a message that hold the arguments of its calls. */
type CallFields = Pick<AIMessage, "content"> & { tool_calls: ToolCall[] };

/**
 * A message's calls with other arguments, where `change` gives some for a call. Some providers keep their calls in the
 * content, too.
 */
export function changedArguments(
  { tool_calls = [], content }: AIMessage,
  change: (call: ToolCall) => Arguments | undefined,
): CallFields {
  const changes = new Map<string | undefined, Arguments>();
  const calls = tool_calls.map((call) => {
    const args = change(call);
    if (args) changes.set(call.id, args);
    return args ? { ...call, args } : call;
  });
  const blocks = Array.isArray(content)
    ? content.map((block) => {
        const { id, input, args } = block as { id?: string; input?: unknown; args?: unknown };
        const changed = id === undefined ? undefined : changes.get(id);
        if (!changed) return block;
        return {
          ...block,
          ...(input !== undefined && { input: changed }),
          ...(args !== undefined && { args: changed }),
        };
      })
    : content;
  return { tool_calls: calls, content: blocks };
}

/** Changes arguments in place: LangChain keeps the message that the model gave. */
export function setArguments(message: AIMessage, change: (call: ToolCall) => Arguments | undefined): void {
  setCalls(message, changedArguments(message, change));
}

/** Gives a message other calls, in place and in what is stored of it. */
export function setCalls(
  message: AIMessage,
  calls: Partial<Pick<AIMessage, "tool_calls" | "invalid_tool_calls" | "content">>,
): void {
  // A checkpoint that is read works the calls out of their chunks again, as broken as they were.
  const fields = { ...calls, ...("tool_call_chunks" in message && { tool_call_chunks: [] }) };
  Object.assign(message, fields);
  Object.assign(message.lc_kwargs, fields);
}
