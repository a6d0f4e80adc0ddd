import { CONFIG, METADATA } from "../../marks.ts";
import type { Change, Counts, Todo } from "../../plan/index.ts";

/** A change of a plan, as it appears on LangGraph's `custom` stream. */
export interface PlanChangeEvent {
  type: "plan-change";
  version: 1;
  /** The plan's owner: `main`, or a sub-agent's place such as `main/researcher:call_7`. */
  owner: string;
  /** The author; `harness` when items followed their sub-agents, or a final answer completed the last one. */
  by: "model" | "person" | "harness";
  /** Epoch milliseconds. */
  at: number;
  changes: readonly Change[];
  counts: Counts;
  /** The whole plan after the change. */
  todos: readonly Todo[];
  /** The rules of the plan, if they changed, too. */
  rules?: readonly string[];
}

/**
 * Whether a chunk of a custom stream is a `PlanChangeEvent`.
 *
 * @example
 * ```ts
 * import { createDeepAgent, isPlanChangeEvent } from "holdfast";
 *
 * const agent = createDeepAgent({ model: "openai:gpt-5.1" });
 * const input = { messages: [{ role: "user", content: "Make the tests pass" }] };
 * for await (const chunk of await agent.stream(input, { streamMode: "custom" })) {
 *   if (isPlanChangeEvent(chunk)) console.log(chunk.counts);
 * }
 * ```
 */
export function isPlanChangeEvent(chunk: unknown): chunk is PlanChangeEvent {
  return typeof chunk === "object" && chunk !== null && (chunk as { type?: unknown }).type === "plan-change";
}

/** The stream that changes are sent to, and the configurable with the plan's owner. */
export interface Stage {
  writer?: (chunk: unknown) => void;
  configurable?: Record<string, unknown>;
}

/** The owner of the plan in this run, as set by the caller; default `fallback`. */
export function ownerOf({ configurable }: Stage, fallback: string): string {
  const owner = configurable?.[CONFIG.owner];
  return typeof owner === "string" ? owner : fallback;
}

/** The owner and item of a call, for the metadata that callbacks see. A sub-agent's calls have them already. */
export function callMetadata(todos: readonly Todo[], { configurable }: Stage): Record<string, string> {
  if (configurable?.[CONFIG.owner] !== undefined) return {};
  const items = todos.filter(({ status }) => status === "in_progress").map(({ id }) => id);
  return { [CONFIG.owner]: "main", ...(items.length > 0 && { [METADATA.todo]: items.join(",") }) };
}
