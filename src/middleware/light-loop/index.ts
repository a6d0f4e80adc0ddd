import type { RunnableConfig } from "@langchain/core/runnables";
import { lightenLoop, type LoopingAgent } from "../../langgraph/loop/index.ts";
import { placeOf, readPlanState } from "../plan/index.ts";

/**
 * The same agent, with a lighter loop: a turn with a single tool call goes to the tools by a plain edge. LangChain sends
 * a copy of the whole state with every call, which is saved twice. Several calls of a turn stay tasks of their own, each
 * with its own saved result. Other agents in the process get their turn between two steps. Changes the agent's graph;
 * what `withConfig` makes of the agent is built anew, without it. `createDeepAgent` and `makeLeadAgent` have it.
 */
export function lightLoop<Agent extends LoopingAgent>(agent: Agent): Agent {
  return lightenLoop(agent, placed);
}

/** Adds an agent's current plan item to the metadata of everything that it runs, tools included. */
function placed(config: RunnableConfig, input: unknown): RunnableConfig {
  if ((input as { todos?: unknown } | undefined)?.todos === undefined) return config;
  return { ...config, metadata: { ...config.metadata, ...placeOf(readPlanState(input).todos, config) } };
}
