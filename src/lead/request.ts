import type { RunnableConfig } from "@langchain/core/runnables";
import { z } from "zod";
import { HarnessError } from "../errors.ts";
import { own } from "../plan/todo/index.ts";

const REQUEST = z
  .object({
    threadId: z.string(),
    /** Default false: no plan tool, no plan prompt, no `todos`. */
    isPlanMode: z.boolean(),
    thinkingEnabled: z.boolean(),
    modelName: z.string().min(1),
    reasoningEffort: z.enum(["low", "medium", "high"]),
    subagentEnabled: z.boolean(),
    maxConcurrentSubagents: z.number().int().min(1),
    /** Whether no one can answer questions: then the model has no tool to ask. */
    nonInteractive: z.boolean(),
  })
  .partial();

/** The options of one request. */
export type LeadRequest = z.output<typeof REQUEST>;

/** Matches keys that LangGraph and its server put into `configurable`. */
const FOREIGN =
  /^(?:__|langgraph|checkpoint|run_id$|graph_id$|assistant_id$|user_id$|ls_|holdfast_|x-|thread_ts$)/;

/**
 * Reads a request from `configurable` and `context`, in snake_case or camelCase; `context` wins. Throws
 * `invalid-request` for a value of the wrong type, and warns of unknown keys.
 */
export function readRequest(
  config: RunnableConfig & { context?: unknown },
  warn: (message: string) => void,
): LeadRequest {
  return {
    ...readSource(config.configurable, "configurable", warn),
    ...readSource(config.context, "context", warn),
  };
}

function readSource(source: unknown, where: string, warn: (message: string) => void): LeadRequest {
  const values: Record<string, unknown> = {};
  for (const [key, value] of Object.entries((source ?? {}) as Record<string, unknown>)) {
    if (value === undefined || value === null) continue;
    const field = key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const schema = own(REQUEST.shape, field);
    if (!schema) {
      const names = Object.keys(REQUEST.shape).map((name) =>
        name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      );
      if (!FOREIGN.test(key))
        warn(`${where}.${key} is not known to the lead agent; it reads ${names.join(", ")}`);
      continue;
    }
    const parsed = schema.safeParse(value);
    if (!parsed.success) {
      const reason = parsed.error.issues[0]!.message;
      throw new HarnessError(
        "invalid-request",
        `makeLeadAgent: ${where}.${key} is ${JSON.stringify(value)}. ${reason}.`,
      );
    }
    values[field] = parsed.data;
  }
  return values;
}
