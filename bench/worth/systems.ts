import type { ClientTool } from "@langchain/core/tools";
import { createAgent, summarizationMiddleware, todoListMiddleware, type AgentMiddleware } from "langchain";
import { createDeepAgent, planMiddleware, type PlanOptions } from "../../src/index.ts";
import { deerflowPeer } from "./deerflow-peer.ts";
import type { SimulatedModel, Summarizer } from "./simulated-model.ts";

/** What a run needs of an agent, whoever built it. */
export interface Agent {
  stream(input: object, config: object): Promise<AsyncIterable<unknown>>;
}

export interface AgentParts {
  model: SimulatedModel;
  tools: ClientTool[];
  /** Given where the window is small. */
  summarizer?: Summarizer;
}

/** A harness under test. */
export interface System {
  name: string;
  isOurs: boolean;
  hasPlan: boolean;
  create: (parts: AgentParts) => Agent;
}

export const SYSTEM_PROMPT = "You migrate services. Use the tools; be brief.";
/** The same for every system: when a conversation is summarized, and what stays as it is. */
const TRIGGER = { messages: 12 };
const KEEP = { messages: 4 };

/** The systems that need only the root's dependencies. */
export const SYSTEMS: readonly System[] = [
  peer("createAgent", () => [], { hasPlan: false }),
  peer("todoListMiddleware", () => [todoListMiddleware()]),
  peer("DeerFlow reminders (port)", deerflowPeer),
  ours("holdfast lean"),
  ours("holdfast lean, verify: false", () => ({ verify: false })),
  ours("holdfast lean inline", () => ({ reports: "inline" })),
  ours("holdfast classic", () => ({ preset: "classic" })),
  ours("holdfast deerflow", () => ({ preset: "deerflow" })),
  ours("holdfast checklist", () => ({ preset: "checklist" })),
  {
    name: "holdfast createDeepAgent",
    isOurs: true,
    hasPlan: true,
    create: ({ model, tools, summarizer }) =>
      createDeepAgent({
        model,
        tools,
        systemPrompt: SYSTEM_PROMPT,
        ...(summarizer && { summarization: { model: summarizer, trigger: TRIGGER, keep: KEEP } }),
      }) as unknown as Agent,
  },
];

/** LangChain's summarization with the small window. */
export function smallWindow(summarizer: Summarizer | undefined): AgentMiddleware[] {
  if (!summarizer) return [];
  const create = summarizationMiddleware as unknown as (options: object) => AgentMiddleware;
  return [create({ model: summarizer, trigger: TRIGGER, keep: KEEP })];
}

function peer(name: string, middleware: () => AgentMiddleware[], { hasPlan = true } = {}): System {
  return { name, isOurs: false, hasPlan, create: agentWith(middleware) };
}

function ours(name: string, options: () => PlanOptions = () => ({})): System {
  const middleware = (): AgentMiddleware[] => [planMiddleware(options())];
  return { name, isOurs: true, hasPlan: true, create: agentWith(middleware) };
}

function agentWith(middleware: () => AgentMiddleware[]): System["create"] {
  return ({ model, tools, summarizer }) =>
    createAgent({
      model,
      tools,
      systemPrompt: SYSTEM_PROMPT,
      middleware: [...smallWindow(summarizer), ...middleware()],
    }) as unknown as Agent;
}
