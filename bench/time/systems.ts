import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { createAgent, createMiddleware, todoListMiddleware, type AgentMiddleware } from "langchain";
import { z } from "zod";
import type { ScriptedModel } from "../../src/testing/index.ts";
import { loadDeepagents } from "../deepagents.ts";
import { BEST, CLASSIC, FLOOR, LEAN, LEAN_DIALECT, LEAN_INLINE, LEAN_LIGHT, TYPICAL } from "../systems.ts";
import type { Planning } from "../task.ts";
import type { Product } from "./product.ts";
import { kilobyteTool } from "./script.ts";

/** What the timed runs need of an agent, whoever built it. */
export interface TimedAgent {
  invoke(input: object, config: object): Promise<{ messages: BaseMessage[]; todos?: { status: string }[] }>;
  /** Absent where there is no graph. */
  graph?: { getState(config: object): Promise<{ values: { messages: BaseMessage[] } }> };
}

export interface TimedSystem {
  name: string;
  plan?: Planning;
  create: (model: ScriptedModel, checkpointer: unknown) => TimedAgent;
}

export const LOOP = "loop without LangGraph";
/** What LangChain takes for any middleware with state that wraps model calls. */
export const EMPTY = "createAgent + empty middleware";
export const DEEP = "holdfast createDeepAgent";
export const PEER_DEEP = "deepagents";
export const PEER_DEEP_PLAN = "deepagents + todoListMiddleware beside";

const BESIDE_CLASSIC = { dialect: CLASSIC, pace: "beside" } as const;
const BESIDE_LEAN = { dialect: LEAN_DIALECT, pace: "beside", answerCompletes: true } as const;
const INLINE = { dialect: LEAN_DIALECT, pace: "inline", answerCompletes: true } as const;

/** Everything that is timed. `deepagents` is left out where it is not installed. */
export async function timedSystems({ main }: Product): Promise<TimedSystem[]> {
  const { planMiddleware, createDeepAgent, lightLoop } = main;
  const tools = [kilobyteTool];
  const lean = (): unknown => planMiddleware();
  return [
    { name: LOOP, create: (model) => handWritten(model) },
    { name: FLOOR, create: agentWith() },
    { name: EMPTY, create: agentWith(emptyMiddleware) },
    { name: LEAN, plan: BESIDE_LEAN, create: agentWith(lean) },
    {
      name: LEAN_LIGHT,
      plan: BESIDE_LEAN,
      create: (model, checkpointer) => lightLoop(agentWith(lean)(model, checkpointer) as never),
    },
    { name: LEAN_INLINE, plan: INLINE, create: agentWith(() => planMiddleware({ reports: "inline" })) },
    { name: TYPICAL, plan: { dialect: CLASSIC, pace: "own-turn" }, create: agentWith(todoListMiddleware) },
    { name: BEST, plan: BESIDE_CLASSIC, create: agentWith(todoListMiddleware) },
    {
      name: "holdfast classic beside",
      plan: BESIDE_CLASSIC,
      create: agentWith(() => planMiddleware({ preset: "classic" })),
    },
    {
      name: DEEP,
      plan: BESIDE_LEAN,
      create: (model, checkpointer) =>
        createDeepAgent({
          model,
          tools,
          ...(checkpointer ? { checkpointer: checkpointer as never } : {}),
        }) as never,
    },
    ...(await peerSystems()),
  ];
}

async function peerSystems(): Promise<TimedSystem[]> {
  const peer = await loadDeepagents().catch(() => undefined);
  if (!peer) return [];
  const create =
    (middleware: () => unknown[]): TimedSystem["create"] =>
    (model, checkpointer) =>
      peer.createDeepAgent({
        model,
        tools: [kilobyteTool],
        middleware: middleware(),
        ...(checkpointer ? { checkpointer } : {}),
      }) as never;
  return [
    { name: PEER_DEEP, create: create(() => []) },
    { name: PEER_DEEP_PLAN, plan: BESIDE_CLASSIC, create: create(() => [todoListMiddleware()]) },
  ];
}

function agentWith(middleware?: () => unknown): TimedSystem["create"] {
  return (model, checkpointer) =>
    createAgent({
      model,
      tools: [kilobyteTool],
      middleware: (middleware ? [middleware()] : []) as AgentMiddleware[],
      ...(checkpointer ? { checkpointer: checkpointer as never } : {}),
    }) as never;
}

function emptyMiddleware(): unknown {
  return createMiddleware({
    name: "Empty",
    stateSchema: z.object({ todos: z.array(z.string()).default([]), _plan: z.any().optional() }),
    wrapModelCall: (request, handler) => handler(request),
  });
}

/** The least that an agent can be: call the model, run its calls, go on until it answers. */
function handWritten(model: ScriptedModel): TimedAgent {
  const bound = model.bindTools([kilobyteTool]);
  return {
    async invoke(input) {
      const messages: BaseMessage[] = [...(input as { messages: HumanMessage[] }).messages];
      for (;;) {
        const answer = (await bound.invoke(messages)) as AIMessage;
        messages.push(answer);
        if (!answer.tool_calls?.length) return { messages };
        for (const call of answer.tool_calls) {
          const result = (await kilobyteTool.invoke({ ...call, type: "tool_call" } as never)) as ToolMessage;
          messages.push(result);
        }
      }
    },
  };
}
