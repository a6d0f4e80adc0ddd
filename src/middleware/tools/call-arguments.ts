import type { AIMessage, ToolCall } from "@langchain/core/messages";

type Arguments = Record<string, unknown>;

/** The fields of a message that contain the arguments of its calls. */
type CallFields = Pick<AIMessage, "content"> & { tool_calls: ToolCall[] };

/**
 * A message's calls with the arguments that `change` returns, if any. Some providers keep their calls in the content,
 * too.
 */
export function changedArguments(
  { tool_calls = [], content }: AIMessage,
  change: (call: ToolCall) => Arguments | undefined,
): CallFields {
  const changedById = new Map<string | undefined, Arguments>();
  const calls = tool_calls.map((call) => {
    const args = change(call);
    if (args) changedById.set(call.id, args);
    return args ? { ...call, args } : call;
  });
  const blocks = Array.isArray(content)
    ? content.map((block) => {
        const { id, input, args } = block as { id?: string; input?: unknown; args?: unknown };
        const newArgs = id === undefined ? undefined : changedById.get(id);
        if (!newArgs) return block;
        return {
          ...block,
          ...(input !== undefined && { input: newArgs }),
          ...(args !== undefined && { args: newArgs }),
        };
      })
    : content;
  return { tool_calls: calls, content: blocks };
}

/** Changes the arguments of a message's calls in place: LangChain keeps the model's own message object. */
export function setArguments(message: AIMessage, change: (call: ToolCall) => Arguments | undefined): void {
  setCalls(message, changedArguments(message, change));
}

/** Replaces a message's calls in place, in its fields and in its stored form. */
export function setCalls(
  message: AIMessage,
  calls: Partial<Pick<AIMessage, "tool_calls" | "invalid_tool_calls" | "content">>,
): void {
  // Chunks are removed: reading a checkpoint would derive the broken calls from them again.
  const fields = { ...calls, ...("tool_call_chunks" in message && { tool_call_chunks: [] }) };
  Object.assign(message, fields);
  Object.assign(message.lc_kwargs, fields);
}
