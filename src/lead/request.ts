import type { RunnableConfig } from "@langchain/core/runnables";
import { z } from "zod";
import { HarnessError } from "../errors.ts";

/** A request's wishes for its agent. */
export interface LeadRequest {
  threadId: string | undefined;
  /** Default false: no plan tool, no plan prompt, no `todos`. */
  isPlanMode: boolean;
  thinkingEnabled: boolean | undefined;
  modelName: string | undefined;
  reasoningEffort: "low" | "medium" | "high" | undefined;
  subagentEnabled: boolean;
  maxConcurrentSubagents: number | undefined;
  /** Set where nobody is there to answer: the model gets no tool to ask with. */
  nonInteractive: boolean;
}

const FIELDS = {
  thread_id: z.string(),
  is_plan_mode: z.boolean(),
  thinking_enabled: z.boolean(),
  model_name: z.string().min(1),
  reasoning_effort: z.enum(["low", "medium", "high"]),
  subagent_enabled: z.boolean(),
  max_concurrent_subagents: z.number().int().min(1),
  non_interactive: z.boolean(),
};
type Field = keyof typeof FIELDS;

/** Keys that LangGraph and its server put into `configurable` themselves. */
const FOREIGN =
  /^(?:__|langgraph|checkpoint|run_id$|graph_id$|assistant_id$|user_id$|ls_|holdfast_|x-|thread_ts$)/;

/**
 * Reads a request from `configurable` and `context`, of which `context` wins, in snake_case or camelCase. A value of
 * the wrong type throws `invalid-request`; an unknown key is told to `warn`.
 */
export function readRequest(
  config: RunnableConfig & { context?: unknown },
  warn: (message: string) => void,
): LeadRequest {
  const values = {
    ...named(config.configurable, "configurable", warn),
    ...named(config.context, "context", warn),
  };
  return {
    threadId: values.thread_id as string | undefined,
    isPlanMode: (values.is_plan_mode as boolean | undefined) ?? false,
    thinkingEnabled: values.thinking_enabled as boolean | undefined,
    modelName: values.model_name as string | undefined,
    reasoningEffort: values.reasoning_effort as LeadRequest["reasoningEffort"],
    subagentEnabled: (values.subagent_enabled as boolean | undefined) ?? false,
    maxConcurrentSubagents: values.max_concurrent_subagents as number | undefined,
    nonInteractive: (values.non_interactive as boolean | undefined) ?? false,
  };
}

function named(
  source: unknown,
  where: string,
  warn: (message: string) => void,
): Partial<Record<Field, unknown>> {
  const values: Partial<Record<Field, unknown>> = {};
  for (const [key, value] of Object.entries((source ?? {}) as Record<string, unknown>)) {
    if (value === undefined || value === null) continue;
    const field = key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (!Object.hasOwn(FIELDS, field)) {
      if (!FOREIGN.test(key))
        warn(`${where}.${key} is not known to the lead agent; it reads ${Object.keys(FIELDS).join(", ")}`);
      continue;
    }
    const parsed = FIELDS[field as Field].safeParse(value);
    if (!parsed.success) {
      const reason = parsed.error.issues[0]!.message;
      throw new HarnessError(
        "invalid-request",
        `makeLeadAgent: ${where}.${key} is ${JSON.stringify(value)}. ${reason}.`,
      );
    }
    values[field as Field] = parsed.data;
  }
  return values;
}
