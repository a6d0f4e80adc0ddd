import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createAgent, type AnyAgentMiddleware } from "langchain";
import { describe, expect, it } from "vitest";
import { numbered } from "../../../test/numbered.ts";
import { consentMiddleware } from "../../middleware/consent/index.ts";
import { filesMiddleware } from "../../middleware/files/index.ts";
import { planMiddleware } from "../../middleware/plan/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { splitMiddleware } from "./split-middleware.ts";

const CONFIG = { configurable: { thread_id: "t" } };
const MODES = ["values", "updates", "messages", "tasks", "debug", "custom", "checkpoints"] as const;
const INPUT = { messages: [new HumanMessage({ content: "Go", id: "go" })] };
const APPROVE = new Command({ resume: { decisions: [{ type: "approve" }] } });
/** Made up anew in each run. */
const TIMES = ["timestamp", "ts"];
const SCRIPT: readonly Step[] = [
  [
    callTool("write_todos", { todos: ["Write", "Check"] }),
    callTool("write_file", { file_path: "/a", content: "1" }),
  ],
  callTool("update_todos", { done: "1" }),
  "Finished?",
  callTool("update_todos", { done: "2" }),
  "Finished.",
];

it("a middleware in parts has no schema in the part that wraps model calls", () => {
  const parts = splitMiddleware(planMiddleware({ verify: false }) as AnyAgentMiddleware);
  expect(parts.map(({ name }) => name)).toEqual(["PlanMiddleware.state", "PlanMiddleware"]);
  expect(parts.some(({ stateSchema, wrapModelCall }) => stateSchema && wrapModelCall)).toBe(false);
});

describe("a middleware in parts does what it does in one:", () => {
  it("what the model is asked", async () => {
    const asked = async (isSplit: boolean): Promise<unknown> => {
      const { agent, model } = agentOf({ isSplit });
      await agent.invoke(INPUT, CONFIG);
      return model.requests.map((request) => request.messages.map(({ text }) => text));
    };
    expect(await asked(true)).toEqual(await asked(false));
  });

  it.each(MODES)("the stream of %s, over a question and its answer", async (streamMode) => {
    const streamed = async (isSplit: boolean): Promise<unknown> => {
      const { agent } = agentOf({ isSplit, isAsking: true });
      const chunks: unknown[] = [];
      for (const input of [INPUT, APPROVE]) {
        const stream = await agent.stream(input as never, { ...CONFIG, streamMode });
        for await (const chunk of stream) chunks.push(chunk);
      }
      return numbered(chunks, TIMES);
    };
    expect(await streamed(true)).toEqual(await streamed(false));
  });

  it("a fork with an edit from each of its nine checkpoints", async () => {
    const forked = async (isSplit: boolean, at: number): Promise<unknown> => {
      const { agent } = agentOf({
        isSplit,
        script: [...SCRIPT, ...Array.from({ length: 9 }, () => "Done.")],
      });
      await agent.invoke(INPUT, CONFIG);
      const history = await listed(agent.graph.getStateHistory(CONFIG));
      const edit = { messages: [new HumanMessage({ content: "An edit", id: "edit" })] };
      const fork = await agent.graph.updateState(history.at(-1 - at)!.config, edit, "tools");
      await agent.invoke(null as never, fork as never);
      return numbered(await statesOf(agent.graph), TIMES);
    };
    for (let at = 0; at < 9; at += 1) expect(await forked(true, at)).toEqual(await forked(false, at));
  });

  it("a thread that was stopped between two steps goes on in the other form", async () => {
    const goneOn = async (first: boolean, then: boolean, recursionLimit: number): Promise<unknown> => {
      const saver = new MemorySaver();
      const { agent } = agentOf({ isSplit: first, saver });
      await agent.invoke(INPUT, { ...CONFIG, recursionLimit }).catch(() => {});
      const { values } = await agent.graph.getState(CONFIG);
      const answers = (values as { messages: BaseMessage[] }).messages.filter(({ type }) => type === "ai");
      const { agent: next } = agentOf({ isSplit: then, saver, script: SCRIPT.slice(answers.length) });
      await next.invoke(null as never, CONFIG);
      return numbered((await next.graph.getState(CONFIG)).values, TIMES);
    };
    for (const limit of [1, 2, 3, 6]) {
      const whole = await goneOn(false, false, limit);
      expect(await goneOn(true, false, limit)).toEqual(whole);
      expect(await goneOn(false, true, limit)).toEqual(whole);
    }
  });
});

it("one with a hook stays in one part, as a hook is given its own fields", () => {
  const approval = planMiddleware({ verify: false, approval: "first" }) as AnyAgentMiddleware;
  expect(splitMiddleware(approval)).toEqual([approval]);
});

interface AgentOf {
  isSplit: boolean;
  isAsking?: boolean;
  saver?: MemorySaver;
  script?: readonly Step[];
}

function agentOf({ isSplit, isAsking = false, saver, script = SCRIPT }: AgentOf) {
  const whole = [
    planMiddleware({ verify: false, now: () => 1 }),
    filesMiddleware(),
    ...(isAsking ? [consentMiddleware({ interruptOn: { write_file: true } })] : []),
  ] as AnyAgentMiddleware[];
  const middleware = isSplit ? whole.flatMap((one) => splitMiddleware(one)) : whole;
  const model = new ScriptedModel(script);
  const checkpointer = saver ?? new MemorySaver();
  return { agent: createAgent({ model, tools: [], middleware, checkpointer }), model };
}

async function statesOf(graph: ReturnType<typeof agentOf>["agent"]["graph"]): Promise<unknown[]> {
  const states = await listed(graph.getStateHistory(CONFIG));
  return states.map(({ values, next, metadata }) => ({ values: values as unknown, next, metadata }));
}

async function listed<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
