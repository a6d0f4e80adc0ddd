import type { BaseMessage } from "@langchain/core/messages";

/** The start or the end of a sub-agent's work, on LangGraph's `custom` stream. */
export interface SubagentEvent {
  type: "subagent-start" | "subagent-end";
  version: 1;
  /** The sub-agent's place: `main/researcher:call_7`. Its plan's events carry the same owner. */
  owner: string;
  name: string;
  /** The tool call that started it. */
  call: string;
  description: string;
  todoId?: string;
  /** Epoch milliseconds. */
  at: number;
  /** At the end: whether it succeeded, and the reason if it did not. */
  ok?: boolean;
  error?: string;
}

/** In a message with reports: why sub-agents did not succeed, by the call that started them. */
const FAILURES = "holdfast_failed";

/** Notes in a message which sub-agents did not succeed, and why. */
export function markFailures(message: BaseMessage, failures: Readonly<Record<string, string>>): void {
  if (Object.keys(failures).length === 0) return;
  message.additional_kwargs = { ...message.additional_kwargs, [FAILURES]: failures };
}

export function failuresIn({ additional_kwargs }: BaseMessage): Readonly<Record<string, string>> {
  return (additional_kwargs[FAILURES] ?? {}) as Record<string, string>;
}

/** Recognizes a `SubagentEvent` among the chunks of a custom stream. */
export function isSubagentEvent(chunk: unknown): chunk is SubagentEvent {
  const { type } = (chunk ?? {}) as { type?: unknown };
  return type === "subagent-start" || type === "subagent-end";
}
