import { ToolMessage, type ToolCall } from "@langchain/core/messages";
import { INTERRUPT, type BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

/** What is known of a turn's calls that ask, when an answer comes that has no interrupt's id. */
export interface OpenCalls {
  /** Those that have not run in an earlier invocation. */
  open: readonly ToolCall[];
  /** Whether a person who answers now has seen this call's question. */
  wasAsked: boolean;
  /** The answer that this call did not take when it last asked: LangGraph may hand it out again. */
  putAside?: unknown;
}

/** Finds them among what the step's finished calls have written: LangGraph saves that, and runs only the rest again. */
export async function openCalls(
  call: ToolCall,
  asking: readonly ToolCall[],
  configurable: Record<string, unknown>,
): Promise<OpenCalls> {
  const { thread_id, checkpoint_ns, checkpoint_map, __pregel_task_id: task } = configurable;
  const saver = configurable["__pregel_checkpointer"] as BaseCheckpointSaver | undefined;
  const step = String(checkpoint_ns).split("|").slice(0, -1).join("|");
  const checkpoint_id = (checkpoint_map as Record<string, string> | undefined)?.[step];
  const saved = await saver?.getTuple({ configurable: { thread_id, checkpoint_ns: step, checkpoint_id } });
  const writes = saved?.pendingWrites ?? [];
  const answered = new Set(
    writes.flatMap(([, channel, value]) =>
      channel === "messages"
        ? [value].flat().flatMap((message) => (ToolMessage.isInstance(message) ? message.tool_call_id : []))
        : [],
    ),
  );
  const asked = writes.find(([id, channel]) => id === task && channel === INTERRUPT)?.[2];
  const { putAside } = (asked as { value?: { putAside?: unknown } } | undefined)?.value ?? {};
  // Where a model gives its calls one id, nobody can tell which of them have run.
  const open = answered.has(call.id ?? "") ? asking : asking.filter(({ id }) => !answered.has(id ?? ""));
  return { open, wasAsked: asked !== undefined, putAside };
}
