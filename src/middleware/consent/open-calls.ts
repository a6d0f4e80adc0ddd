import { ToolMessage, type ToolCall } from "@langchain/core/messages";
import { answeredCalls } from "../../langgraph/call-journal.ts";
import { stepWrites } from "../../langgraph/step-writes.ts";

/** A turn's calls that ask, for an answer without an interrupt's id. */
export interface OpenCalls {
  /** The calls that did not run in an earlier invocation. */
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
  const { writes, asked } = await stepWrites(configurable);
  const answered = new Set(
    writes.flatMap(([, channel, value]) =>
      channel === "messages"
        ? [value].flat().flatMap((message) => (ToolMessage.isInstance(message) ? message.tool_call_id : []))
        : [],
    ),
  );
  const { putAside } = (asked ?? {}) as { putAside?: unknown };
  // Where a model gives its calls one id, nobody can tell which of them have run.
  const waiting = answeredCalls(writes);
  const open = answered.has(call.id ?? "")
    ? asking
    : asking.filter(({ id = "" }) => !answered.has(id) && (id === call.id || !waiting.has(id)));
  return { open, wasAsked: asked !== undefined, putAside };
}
