import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { createAgent, todoListMiddleware, type AgentMiddleware } from "langchain";
import type { FileBackend } from "../../src/files/index.ts";
import { filesMiddleware, planMiddleware } from "../../src/index.ts";
import { promptCachingMiddleware } from "../../src/middleware/prompt-caching/index.ts";
import { LIVE_SYSTEM_PROMPT } from "./live.prompt.ts";
import type { Meter } from "./meter.ts";

/** What a run needs of an agent. */
export interface Agent {
  stream(input: object, config: object): Promise<AsyncIterable<unknown>>;
}

export interface AgentParts {
  model: BaseChatModel;
  backend: FileBackend;
  meter: Meter;
}

/** A way to plan. */
export interface LiveSystem {
  name: string;
  /** Its name in the simulated table. */
  simulated: string;
  /** What its prompt and tools add to every request, in tokens: for the estimate before the first run. */
  fixedTokens: number;
  plan: () => AgentMiddleware[];
}

/** The system that the others are compared with. */
export const NO_PLAN = "no plan";

/** The same agent with the same tools, and five ways to plan. */
export const LIVE_SYSTEMS: readonly LiveSystem[] = [
  { name: NO_PLAN, simulated: "createAgent", fixedTokens: 0, plan: () => [] },
  {
    name: "todoListMiddleware",
    simulated: "todoListMiddleware",
    fixedTokens: 2900,
    plan: () => [todoListMiddleware()],
  },
  {
    name: "classic",
    simulated: "holdfast classic",
    fixedTokens: 2900,
    plan: () => [planMiddleware({ preset: "classic" })],
  },
  { name: "lean", simulated: "holdfast lean", fixedTokens: 380, plan: () => [planMiddleware()] },
  {
    name: "inline",
    simulated: "holdfast lean inline",
    fixedTokens: 450,
    plan: () => [planMiddleware({ reports: "inline" })],
  },
];

/** Builds an agent of a system for one run. */
export function agentOf({ plan }: LiveSystem, { model, backend, meter }: AgentParts): Agent {
  const permissions = [{ effect: "allow", operations: ["execute"], paths: "/" }] as const;
  const middleware: unknown[] = [
    ...plan(),
    filesMiddleware({ backend, canExecute: true, permissions, systemPrompt: "" }),
    promptCachingMiddleware(),
    // The last one is nearest to the model: it sees every call, also those that a plan makes on its own.
    meter.middleware(),
  ];
  return createAgent({
    model,
    systemPrompt: LIVE_SYSTEM_PROMPT,
    middleware: middleware as AgentMiddleware[],
  }) as unknown as Agent;
}
