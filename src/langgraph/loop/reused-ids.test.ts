import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { Command, MemorySaver, type Interrupt } from "@langchain/langgraph";
import { tool, toolStrategy } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../deep/index.ts";
import { makeLeadAgent } from "../../lead/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { type PresetName } from "../../vocabulary.ts";

/** Calls of a model that counts its ids anew in every turn: more of them each time, then fewer. */
const turns = (preset: PresetName): Step[] => {
  const item = { content: "Work", status: "in_progress" };
  const plan =
    preset === "checklist"
      ? callTool("todo", { items: [{ id: "1", text: "Work", status: "in_progress" }] }, "call_1")
      : callTool("write_todos", { todos: [item] }, "call_1");
  let n = 0;
  const work = (...ids: number[]) => ids.map((id) => callTool("work", { n: (n += 1) }, `call_${id}`));
  return [[plan, ...work(2)], work(1, 2, 3), work(1), work(1, 2, 3, 4), work(4, 1)];
};
const CALLS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

function worker() {
  const done: number[] = [];
  const work = tool(({ n }) => `done ${done.push(n)}`, {
    name: "work",
    description: "Works.",
    schema: z.object({ n: z.number() }),
  });
  return { done, work };
}

interface Agent {
  invoke(input: object | null, config: object): Promise<object>;
}

/** Says yes to everything until the run has ended, and how often it was asked. */
async function agreed(agent: Agent): Promise<number> {
  const config = { configurable: { thread_id: "t", is_plan_mode: true } };
  let state = await agent.invoke({ messages: [{ role: "user", content: "Go" }] }, config);
  for (let asked = 0; ; asked += 1) {
    const { __interrupt__: open } = state as { __interrupt__?: Interrupt[] };
    if (!open?.length) return asked;
    const resume = Object.fromEntries(open.map(({ id }) => [id, { type: "approve" }]));
    state = await agent.invoke(new Command({ resume }), config);
  }
}

describe("no call of a model that uses its ids again is lost", () => {
  const presets = ["lean", "classic", "deerflow", "checklist"] as const;
  const approvals = ["never", "first", "always"] as const;
  const cases = presets.flatMap((preset) => approvals.map((approval) => ({ preset, approval })));

  it.each(cases)("preset $preset, approval $approval", async ({ preset, approval }) => {
    const { done, work } = worker();
    const agent = createDeepAgent({
      model: new ScriptedModel([...turns(preset), "Done."]),
      tools: [work],
      plan: { preset, approval, reminders: false },
      checkpointer: new MemorySaver(),
    });
    expect(await agreed(agent)).toBe(approval === "never" ? 0 : 1);
    expect(done.toSorted((a, b) => a - b)).toEqual(CALLS);
  });

  it("when each call needs consent", async () => {
    const { done, work } = worker();
    const agent = createDeepAgent({
      model: new ScriptedModel([...turns("lean"), "Done."]),
      tools: [work],
      plan: { approval: "always", reminders: false },
      interruptOn: { work: true },
      checkpointer: new MemorySaver(),
    });
    expect(await agreed(agent)).toBeGreaterThan(1);
    expect(done.toSorted((a, b) => a - b)).toEqual(CALLS);
  });

  it("with a structured response", async () => {
    const { done, work } = worker();
    const responseFormat = toolStrategy(z.object({ ok: z.boolean() }));
    const answer = callTool(responseFormat[0]!.name, { ok: true }, "call_1");
    const agent = createDeepAgent({
      model: new ScriptedModel([...turns("lean"), answer]),
      tools: [work],
      plan: { approval: "always", reminders: false },
      responseFormat,
      checkpointer: new MemorySaver(),
    });
    await agreed(agent);
    expect(done.toSorted((a, b) => a - b)).toEqual(CALLS);
  });

  it("in the lead agent", async () => {
    const { done, work } = worker();
    const agent = makeLeadAgent(
      { configurable: { is_plan_mode: true } },
      {
        model: new ScriptedModel([...turns("deerflow"), "Done.", "Done.", "Done.", "Done."]),
        tools: [work],
        checkpointer: new MemorySaver(),
      },
    );
    await agreed(agent);
    expect(done.toSorted((a, b) => a - b)).toEqual(CALLS);
  });
});

describe("no answer of a provider that reuses one id is lost", () => {
  const id = "chatcmpl-1";
  const look = (n: number) =>
    new AIMessage({
      id,
      content: "",
      tool_calls: [{ name: "ls", args: { path: `/${n}` }, id: `call-${n}` }],
    });

  it.each([{}, { plan: false as const }])("with the options %j", async (options) => {
    const model = new ScriptedModel([look(1), look(2), look(3), new AIMessage({ id, content: "Done." })]);
    const agent = createDeepAgent({ model, ...options });
    const { messages } = await agent.invoke({ messages: [new HumanMessage("go")] });
    const types = messages.map(({ type }) => type);
    expect(types).toEqual(["human", "ai", "tool", "ai", "tool", "ai", "tool", "ai"]);
    expect(new Set(messages.map((message) => message.id)).size).toBe(messages.length);
  });
});
