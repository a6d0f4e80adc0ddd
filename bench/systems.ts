import { createAgent, todoListMiddleware, type AgentMiddleware } from "langchain";
import { planMiddleware } from "../src/index.ts";
import { callTool, type ScriptedModel } from "../src/testing/index.ts";
import { SYSTEM_PROMPT, workTool, type Dialect, type Pace, type Planning } from "./task.ts";

/** What the measurements need of an agent, whoever built it. */
export interface Agent {
  invoke(input: object, config: object): Promise<unknown>;
}

export interface AgentOptions {
  model: ScriptedModel;
  /** The number of items in the plan. */
  size: number;
  checkpointer?: unknown;
}

/** A way to plan that is measured: an agent, how its model speaks, and the same agent without planning. */
export interface System {
  name: string;
  plan?: Planning;
  create: (options: AgentOptions) => Agent;
  /** The name of the system that does the same work without a plan. */
  floor: string;
  /** The largest plan that the system works on without compacting its context. */
  maxSize?: number;
}

export const FLOOR = "createAgent";
export const TYPICAL = "todoListMiddleware own-turn";
export const BEST = "todoListMiddleware beside";
export const LEAN = "holdfast lean";
/** The same in an agent with the light loop. */
export const LEAN_LIGHT = "holdfast lean, light loop";
/** The same with a model that makes one call at a time. */
export const LEAN_OWN_TURN = "holdfast lean own-turn";
/** The same with its reports in its work calls. */
export const LEAN_INLINE = "holdfast lean inline";

type Status = "completed" | "in_progress" | "pending";
const statusAt = (at: number, done: number): Status =>
  at < done ? "completed" : at === done ? "in_progress" : "pending";

/** LangChain's words: the whole list in every call. */
export const CLASSIC: Dialect = {
  write: (items) => CLASSIC.progress(items, 0),
  progress: (items, done) =>
    callTool("write_todos", {
      todos: items.map((content, at) => ({ content, status: statusAt(at, done) })),
    }),
};

const CHECKLIST: Dialect = {
  write: (items) => CHECKLIST.progress(items, 0),
  progress: (items, done) =>
    callTool("todo", {
      items: items.map((text, at) => ({ id: String(at + 1), text, status: statusAt(at, done) })),
    }),
};

export const LEAN_DIALECT: Dialect = {
  write: (items) => callTool("write_todos", { todos: items }),
  progress: (_, done) => callTool("update_todos", { done: String(done) }),
};

/** The systems that need only the root's dependencies. `deepagents.ts` has the others. */
export const SYSTEMS: readonly System[] = [
  { name: FLOOR, create: agentWith(() => []), floor: FLOOR },
  ...both("todoListMiddleware", CLASSIC, () => todoListMiddleware()),
  {
    name: LEAN,
    plan: { dialect: LEAN_DIALECT, pace: "beside", answerCompletes: true },
    create: agentWith(() => [planMiddleware()]),
    floor: FLOOR,
  },
  {
    name: LEAN_INLINE,
    plan: { dialect: LEAN_DIALECT, pace: "inline", answerCompletes: true },
    create: agentWith(() => [planMiddleware({ reports: "inline" })]),
    floor: FLOOR,
  },
  {
    name: LEAN_OWN_TURN,
    plan: { dialect: LEAN_DIALECT, pace: "own-turn", answerCompletes: true },
    create: agentWith(() => [planMiddleware()]),
    floor: FLOOR,
  },
  ...both("holdfast classic", CLASSIC, () => planMiddleware({ preset: "classic" })),
  ...both("holdfast deerflow", CLASSIC, () => planMiddleware({ preset: "deerflow" })),
  // The preset stops at 20 items; larger plans lift that limit.
  ...both("holdfast checklist", CHECKLIST, (size) =>
    planMiddleware({ preset: "checklist", maxItems: Math.max(20, size) }),
  ),
];

function both(name: string, dialect: Dialect, middleware: (size: number) => unknown): System[] {
  return (["own-turn", "beside"] as const).map((pace) => ({
    ...system(`${name} ${pace}`, dialect, pace),
    create: agentWith((size) => [middleware(size)]),
  }));
}

function system(name: string, dialect: Dialect, pace: Pace): Omit<System, "create"> {
  return { name, plan: { dialect, pace }, floor: FLOOR };
}

function agentWith(middleware: (size: number) => unknown[]): System["create"] {
  return ({ model, size, checkpointer }) =>
    createAgent({
      model,
      tools: [workTool],
      systemPrompt: SYSTEM_PROMPT,
      middleware: middleware(size) as AgentMiddleware[],
      ...(checkpointer ? { checkpointer: checkpointer as never } : {}),
    }) as unknown as Agent;
}
