import type { RunnableConfig } from "@langchain/core/runnables";
import { lightenLoop, type LoopingAgent } from "../../langgraph/loop/index.ts";
import { callMetadata, readPlanState } from "../plan/index.ts";

/**
 * Makes an agent's loop cheaper, in place: a turn with a single tool call goes to the tools by a plain edge, where
 * LangChain would send a copy of the whole state with the call and save it twice. Several calls of a turn stay separate
 * tasks, each with its own saved result. Other agents in the process can run between two steps. `withConfig` builds the
 * graph again, without this. `createDeepAgent` and `makeLeadAgent` apply it.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { lightLoop, planMiddleware } from "holdfast";
 *
 * const agent = lightLoop(createAgent({ model: "openai:gpt-5.1", middleware: [planMiddleware()] }));
 * ```
 */
export function lightLoop<Agent extends LoopingAgent>(agent: Agent): Agent {
  return lightenLoop(agent, withPlanItem);
}

/** Adds the agent's current plan item to the metadata of everything it runs, including tools. */
function withPlanItem(config: RunnableConfig, input: unknown): RunnableConfig {
  if ((input as { todos?: unknown } | undefined)?.todos === undefined) return config;
  return { ...config, metadata: { ...config.metadata, ...callMetadata(readPlanState(input).todos, config) } };
}
