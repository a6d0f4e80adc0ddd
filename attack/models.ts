import { AIMessage, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { createDeepAgent } from "../src/deep/index.ts";
import type { DeepAgentOptions } from "../src/deep/options.ts";
import { metadataOf } from "../src/marks.ts";
import { applyUpdate, applyWrite, EMPTY_PLAN, LEAN_POLICY } from "../src/plan/index.ts";
import { callTool, type ModelRequestRecord, ScriptedModel, type Step } from "../src/testing/index.ts";

const OPERATIONS = 100_000;
/** The default budget, and one for what would else take long. */
const CALLS = 1000;
const FEW = 100;

interface Options {
  tries?: number;
  seed: number;
}

/** Models that never end, and plans that are given anything. `tries`: hostile plan operations. */
export const models = {
  name: "models",
  run: async ({ tries = OPERATIONS, seed }: Options) => {
    const problems: string[] = [];
    for (const [what, run] of Object.entries(AGENTS)) {
      const problem = await run().catch((error: unknown) => `threw ${String(error).slice(0, 200)}`);
      if (problem !== undefined) problems.push(`${what}: ${problem}`);
    }
    problems.push(...hostileOperations(tries, seed));
    const notes = problems[0] ?? "every model was ended in words, and every plan stayed whole";
    return { tries: Object.keys(AGENTS).length + tries, failures: problems.length, notes };
  },
};

type Run = () => Promise<string | undefined>;

const task = (n: number) => callTool("task", { description: `Job ${n}`, subagent_type: "general-purpose" });
const broken = (n: number): AIMessage =>
  new AIMessage({
    content: "",
    invalid_tool_calls: [
      { type: "invalid_tool_call", id: String(n), name: "ls", args: "{", error: "no JSON" },
    ],
    response_metadata: { finish_reason: "tool_calls" },
  });

/** What a model does for ever, and with which reason and after how many calls it must have been ended. */
const AGENTS: Record<string, Run> = {
  "another call each time": () =>
    ends((n) => callTool("ls", { path: `/${n}` }), { reason: "budget", calls: CALLS }),
  "the same call each time": () => ends(() => callTool("ls"), { reason: "loop_guard", calls: 5 }),
  "twenty sub-agents in every turn, three deep": () =>
    ends((n) => Array.from({ length: 20 }, (_, at) => task(n * 20 + at)), {
      reason: "budget",
      calls: CALLS,
      options: { maxDepth: 3 },
    }),
  "calls that cannot be read, with a plan": () =>
    ends(broken, { reason: "tool_calls", calls: 3, options: { plan: {} } }),
  "calls that cannot be read, without one": () => ends(broken, { reason: "tool_calls", calls: 3 }),
  "unreadable calls next to a plan that continues": () =>
    ends((n) => (n % 3 === 0 ? callTool("write_todos", { todos: [`Step ${n}`] }) : broken(n)), {
      reason: "budget",
      calls: FEW,
      options: { plan: {}, budget: { modelCalls: FEW } },
    }),
  "a tool that does not exist": () =>
    ends((n) => callTool("nothing", { n }), {
      reason: "budget",
      calls: FEW,
      options: { budget: { modelCalls: FEW } },
    }),
};

interface Expected {
  reason: string;
  calls: number;
  options?: Pick<DeepAgentOptions, "budget" | "maxDepth" | "plan">;
}

async function ends(
  act: (n: number) => Step,
  { reason, calls, options }: Expected,
): Promise<string | undefined> {
  let made = 0;
  const model = new ScriptedModel([() => act((made += 1))], { loop: true });
  const agent = createDeepAgent({ plan: false, ...options, model });
  const { messages } = (await agent.invoke({ messages: [new HumanMessage("go")] })) as {
    messages: BaseMessage[];
  };
  const said: unknown = metadataOf(messages.at(-1))["finish_reason"];
  // Summaries of a long conversation are no part of the budget.
  const isSummary = ({ messages: sent, tools }: ModelRequestRecord): boolean =>
    tools.length === 0 || sent.at(-1)!.text.includes("replaced by a summary that you write");
  const asked = model.requests.filter((request) => !isSummary(request)).length;
  return said === reason && asked === calls ? undefined : `ended with ${String(said)} after ${asked} calls`;
}

/** Puts anything into a plan, again and again: it must never throw, and what it accepts must keep to the rules. */
function hostileOperations(tries: number, seed: number): string[] {
  const random = numbers(seed);
  const problems: string[] = [];
  let plan = EMPTY_PLAN;
  for (let n = 0; n < tries; n += 1) {
    const input = anything(random, 3);
    try {
      const result =
        random() < 0.2
          ? applyWrite(plan, input, LEAN_POLICY)
          : applyUpdate(plan, { [pick(random, KEYS)]: input }, LEAN_POLICY);
      if (!result.ok) continue;
      plan = result.plan;
      const ids = plan.todos.map(({ id }) => id);
      if (new Set(ids).size !== ids.length) problems.push(`operation ${n} made an id twice`);
      if (ids.length > LEAN_POLICY.maxItems) problems.push(`operation ${n} made too many items`);
    } catch (error) {
      problems.push(`operation ${n} threw ${String(error).slice(0, 200)}`);
    }
  }
  return problems;
}

const KEYS = ["start", "done", "block", "cancel", "add", "edit", "move", "reorder", "__proto__", "todos"];
const ATOMS: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  Number.NaN,
  1e308,
  "",
  "1",
  "2,3",
  "constructor",
  "__proto__",
  "in_progress",
  "x".repeat(100_000),
  "\u0000\uD800",
  '{"id":"1"}',
];
const FIELDS = ["id", "content", "status", "priority", "dependsOn", "after", "estimate", "note", "toString"];

function anything(random: () => number, depth: number): unknown {
  const kind = depth === 0 ? 0 : random();
  if (kind < 0.4) return pick(random, ATOMS);
  const size = Math.floor(random() * (random() < 0.01 ? 1000 : 5));
  if (kind < 0.7) return Array.from({ length: size }, () => anything(random, depth - 1));
  return Object.fromEntries(
    Array.from({ length: size }, () => [pick(random, FIELDS), anything(random, depth - 1)]),
  );
}

function pick<T>(random: () => number, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)]!;
}

/** Numbers from 0 to 1 that are the same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
