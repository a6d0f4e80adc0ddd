import { execFileSync } from "node:child_process";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { planMiddleware } from "./index.ts";

const explore = tool(() => "three modules", { name: "explore", description: "look", schema: z.object({}) });

type Item = [content: string, status: string];
const write = (items: Item[]): Step =>
  callTool("write_todos", { todos: items.map(([content, status]) => ({ content, status })) });

/** The workflow of the planning document: a plan, four updates, a task discovered on the way, an answer. */
const LISTS: Item[][] = [
  [
    ["Explore repository structure", "in_progress"],
    ["Analyze core modules", "pending"],
    ["Document findings", "pending"],
  ],
  [
    ["Explore repository structure", "completed"],
    ["Analyze core modules", "in_progress"],
    ["Document findings", "pending"],
  ],
  [
    ["Explore repository structure", "completed"],
    ["Analyze core modules", "completed"],
    ["Test key functionality", "in_progress"],
    ["Document findings", "pending"],
  ],
  [
    ["Explore repository structure", "completed"],
    ["Analyze core modules", "completed"],
    ["Test key functionality", "completed"],
    ["Document findings", "in_progress"],
  ],
  [
    ["Explore repository structure", "completed"],
    ["Analyze core modules", "completed"],
    ["Test key functionality", "completed"],
    ["Document findings", "completed"],
  ],
];
const SCRIPT: Step[] = [
  ...LISTS.flatMap((list, index) => (index === 0 ? [write(list), callTool("explore")] : [write(list)])),
  "All documented.",
];

const QUESTION = { messages: [new HumanMessage("Explore, analyze and document this repository")] };

describe("the workflow of the planning document", () => {
  for (const checkpointer of [undefined, new MemorySaver()]) {
    it(`goes through, ${checkpointer ? "with" : "without"} a checkpointer`, async () => {
      const model = new ScriptedModel(SCRIPT);
      const agent = createAgent({
        model,
        tools: [explore],
        systemPrompt: "You are careful.",
        middleware: [planMiddleware({ preset: "classic" })],
        ...(checkpointer && { checkpointer }),
      });
      const steps: { todos: Item[]; messages: number }[] = [];
      const config = { configurable: { thread_id: "flow" }, streamMode: "values" as const };
      for await (const state of await agent.stream(QUESTION, config)) {
        steps.push({
          todos: (state.todos ?? []).map((todo): Item => [todo.content, todo.status]),
          messages: state.messages.length,
        });
      }

      expect(steps[0]).toEqual({ todos: [], messages: 1 });
      const plans = steps
        .map((step) => step.todos)
        .filter((todos, at, all) => todos.length !== 0 && todos !== all[at - 1]);
      const distinct = plans.filter((todos, at) => JSON.stringify(todos) !== JSON.stringify(plans[at - 1]));
      expect(distinct).toEqual(LISTS);
      expect(steps.at(-1)?.messages).toBe(1 + 6 * 2 + 1);

      const [first] = model.requests;
      expect(first?.messages[0]?.text).toMatch(/^You are careful\.\n\n## Planning with `write_todos`/);
      expect(first?.tools).toHaveLength(2);
      const reply = model.requests.at(-1)!.messages.find((message) => ToolMessage.isInstance(message));
      expect(reply?.text).toBe(
        `Updated todo list to ${JSON.stringify(LISTS[0]!.map(([content, status]) => ({ content, status })))}`,
      );
      expect(reply?.name).toBe("write_todos");
    });
  }

  it("keeps the id of an item across full replacements", async () => {
    const agent = createAgent({
      model: new ScriptedModel(SCRIPT),
      tools: [explore],
      middleware: [planMiddleware({ preset: "classic" })],
    });
    const { todos } = await agent.invoke(QUESTION);
    expect(todos.map((todo) => `${todo.id} ${todo.content}`)).toEqual([
      "1 Explore repository structure",
      "2 Analyze core modules",
      "4 Test key functionality",
      "3 Document findings",
    ]);
  });

  it("continues in a second process from the checkpoint", async () => {
    const checkpointer = new MemorySaver();
    const model = new ScriptedModel([
      callTool("write_todos", { todos: ["read", "build", "check"] }),
      callTool("update_todos", { done: "1" }),
      new Error("the power goes out"),
    ]);
    const agent = createAgent({ model, middleware: [planMiddleware({ verify: false })], checkpointer });
    const config = { configurable: { thread_id: "two-processes" } };
    await expect(agent.invoke(QUESTION, config)).rejects.toThrow("the power goes out");
    const { storage, writes } = checkpointer;
    const input = JSON.stringify({ storage, writes }, (_key, value: unknown) =>
      value instanceof Uint8Array ? { bytes: Buffer.from(value).toString("base64") } : value,
    );
    const script = new URL("../../../test/helpers/models/second-process.mjs", import.meta.url).pathname;
    const output = execFileSync(process.execPath, [script], { input, encoding: "utf8" });
    const { todos, messages, requests } = JSON.parse(output) as {
      todos: { id: string; content: string; status: string }[];
      messages: string[];
      requests: number;
    };
    expect(todos.map(({ id, status }) => `${id} ${status}`)).toEqual([
      "1 completed",
      "2 completed",
      "3 completed",
    ]);
    expect(messages.at(-1)).toBe("ai: Finished.");
    expect(messages).toHaveLength(8);
    expect(requests).toBe(2);
  });

  it("streams, and streams events", async () => {
    const agent = createAgent({
      model: new ScriptedModel([...SCRIPT, ...SCRIPT]),
      tools: [explore],
      middleware: [planMiddleware({ preset: "classic" })],
    });
    const tokens: string[] = [];
    for await (const [message] of await agent.stream(QUESTION, { streamMode: "messages" })) {
      if (AIMessage.isInstance(message)) tokens.push(message.text);
    }
    expect(tokens.join("")).toBe("All documented.");
    const ends: string[] = [];
    for await (const event of agent.streamEvents(QUESTION, { version: "v2" })) {
      if (event.event === "on_tool_end") ends.push(event.name);
    }
    expect(ends).toEqual([
      "write_todos",
      "explore",
      "write_todos",
      "write_todos",
      "write_todos",
      "write_todos",
    ]);
  });
});
