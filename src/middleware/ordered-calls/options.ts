import type { ToolCall } from "@langchain/core/messages";
import { z } from "zod";
import { FUNCTION } from "../options/index.ts";

/**
 * The order of a tool's calls among the others of their message. `read`: in parallel with other reads, after earlier
 * changes. `change`: after all earlier calls. `parallel`: as a change, but in parallel with others of its kind. `free`:
 * neither waits nor is waited for.
 */
export type CallOrder = "read" | "change" | "parallel" | "free";

/** Options of `orderedCallsMiddleware`. */
export interface OrderedCallsOptions {
  /**
   * The order of tools by name. Default: a table for Holdfast's own tools, `read` for a tool whose `metadata.annotations`
   * have `readOnlyHint: true`, `change` for all others.
   */
  tools?: Readonly<Record<string, CallOrder>>;
  /**
   * Whether a call is withheld because earlier calls of its message failed or were refused. The model is notified. Default:
   * `execute` after a failed change of a file. `false`: no call is withheld.
   */
  withhold?: false | ((call: ToolCall, failed: readonly ToolCall[]) => boolean);
  /** Replaces the addition to the system prompt; empty for none. */
  systemPrompt?: string;
  /** The clock for the duration of calls in their results. Default: the system's. */
  now?: () => number;
}

export const ORDERED_CALLS_OPTIONS = z.strictObject({
  tools: z.record(z.string(), z.enum(["read", "change", "parallel", "free"])).optional(),
  withhold: z.union([z.literal(false), FUNCTION]).optional(),
  systemPrompt: z.string().optional(),
  now: FUNCTION.optional(),
});
