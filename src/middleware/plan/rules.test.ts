import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../deep/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";

const RULES = ["T03 only after T08", "change nothing in tickets/"];
const PLAN = callTool("write_todos", { todos: ["read", "build"], rules: RULES });
const DONE = callTool("update_todos", { done: "1,2" });
const go = { messages: [new HumanMessage("go")] };
const config = { configurable: { thread_id: "t" }, recursionLimit: 200 };
const note = tool(() => "noted", { name: "note", description: "n", schema: z.looseObject({}) });

function agentOf(steps: Step[], options: Parameters<typeof createDeepAgent>[0] = {}) {
  const model = new ScriptedModel(steps);
  const checkpointer = new MemorySaver();
  return {
    model,
    agent: createDeepAgent({
      model,
      tools: [note],
      checkpointer,
      ...options,
      plan: { verify: false, ...(options?.plan as object) },
    }),
  };
}
const isIn = (messages: readonly BaseMessage[], words: string): boolean =>
  messages.some(({ text }) => text.includes(words));
const rulesIn = async (agent: ReturnType<typeof agentOf>["agent"]): Promise<unknown> =>
  ((await agent.graph.getState(config)).values as { planRules?: unknown }).planRules;

describe("the rules of a plan", () => {
  it("are stored with the plan and shown in full after every summary", async () => {
    const { model, agent } = agentOf(
      [PLAN, ...Array.from({ length: 20 }, (_, n): Step => callTool("note", { n })), DONE, "ok"],
      {
        summarization: {
          model: new ScriptedModel(["They talked."], { loop: true }),
          trigger: { messages: 8 },
          keep: { messages: 2 },
        },
      },
    );
    await agent.invoke(go, config);
    expect(await rulesIn(agent)).toEqual(RULES);
    const later = model.requests.slice(6, -1);
    expect(later.length).toBeGreaterThan(10);
    const shown = later.filter(({ messages }) => isIn(messages, `Rules:\n- ${RULES.join("\n- ")}`));
    expect(shown).toHaveLength(later.length);
  });

  it("stay when an open plan is rewritten without rules, and end with a finished plan", async () => {
    const { agent } = agentOf([
      PLAN,
      callTool("write_todos", { todos: ["read", "build", "check"] }),
      "?",
      "?",
      "?",
    ]);
    await agent.invoke(go, config);
    expect(await rulesIn(agent)).toEqual(RULES);
    const { agent: other } = agentOf([
      PLAN,
      DONE,
      callTool("write_todos", { todos: ["more"] }),
      "ok",
      "ok",
      "ok",
    ]);
    await other.invoke(go, config);
    expect(await rulesIn(other)).toEqual([]);
  });

  it.each([
    ["classic", "write_todos", "todos", "content"],
    ["deerflow", "write_todos", "todos", "content"],
    ["checklist", "todo", "items", "text"],
  ] as const)(
    "are understood in %s, whose prompt does not name them, and shown with the plan",
    async (preset, name, list, field) => {
      const items = [{ id: "1", [field]: "read", status: "in_progress" }];
      const { model, agent } = agentOf(
        [
          callTool(name, { [list]: items, rules: RULES }),
          ...Array.from({ length: 12 }, (_, n): Step => callTool("note", { n })),
          ...Array.from({ length: 6 }, () => "ok"),
        ],
        {
          plan: { preset },
          summarization: {
            model: new ScriptedModel(["They talked."], { loop: true }),
            trigger: { messages: 8 },
            keep: { messages: 2 },
          },
        },
      );
      await agent.invoke(go, config);
      expect(await rulesIn(agent)).toEqual(RULES);
      expect(isIn(model.requests[12]!.messages, `Rules:\n- ${RULES.join("\n- ")}`)).toBe(true);
      expect(JSON.stringify(model.requests[0]!.tools)).not.toContain("rules:");
    },
  );

  it("are parsed from every form that a model sends", async () => {
    const rules = "- T03 only after T08\n\n* change nothing in tickets/\nT03 only after T08";
    const { agent } = agentOf([callTool("write_todos", { todos: ["read"], rules }), "ok", "ok", "ok"]);
    await agent.invoke(go, config);
    expect(await rulesIn(agent)).toEqual(RULES);
  });

  it("can be changed by the user, and the model is notified once", async () => {
    const { model, agent } = agentOf([PLAN, callTool("note"), callTool("note"), DONE, "ok"]);
    const paused: object = { ...config, interruptBefore: ["tools"] };
    await agent.invoke(go, paused);
    await agent.invoke(null, paused);
    await agent.graph.updateState(config, { planRules: [...RULES, "never touch date.js"] });
    await agent.invoke(null, config);
    const told = model.requests.filter(({ messages }) =>
      isIn(messages, "The user changed the rules of your plan."),
    );
    expect(told).toHaveLength(1);
    expect(isIn(told[0]!.messages, "- never touch date.js")).toBe(true);
  });

  it("are in the brief of a sub-agent", async () => {
    const task = callTool("task", { description: "read tickets", subagent_type: "general-purpose" });
    const { model, agent } = agentOf([[PLAN], task, "report", DONE, "ok"]);
    await agent.invoke(go, config);
    const brief = model.requests[2]!.messages.find(({ text }) => text.startsWith("read tickets"))!.text;
    expect(brief).toContain("hold for the whole task");
    for (const rule of RULES) expect(brief).toContain(`- ${rule}`);
  });

  it("stand in the question for approval, and stay when the plan is edited there", async () => {
    const { model, agent } = agentOf([PLAN, DONE, "ok"], { plan: { verify: false, approval: "first" } });
    await agent.invoke(go, config);
    const { tasks } = await agent.graph.getState(config);
    expect(JSON.stringify(tasks[0]!.interrupts)).toContain(RULES[0]);
    const decision = { type: "edit", todos: [{ content: "read" }, { content: "write" }] };
    await agent.invoke(new Command({ resume: decision }), config);
    expect(await rulesIn(agent)).toEqual(RULES);
    expect(model.requests).toHaveLength(3);
  });
});
