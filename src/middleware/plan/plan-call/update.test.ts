import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { PRESETS, type Todo } from "../../../plan/index.ts";
import { callTool, ScriptedModel, type Step } from "../../../testing/index.ts";
import { planMiddleware } from "../index.ts";

async function run(steps: Step[]): Promise<{ texts: string[]; todos: Todo[] }> {
  const agent = createAgent({
    model: new ScriptedModel(steps),
    middleware: [planMiddleware({ verify: false })],
  });
  const state = await agent.invoke({ messages: [new HumanMessage("go")] });
  const { todos, messages } = state as unknown as { todos: Todo[]; messages: unknown[] };
  return { todos, texts: messages.flatMap((one) => (ToolMessage.isInstance(one) ? one.text : [])) };
}

describe("update_todos", () => {
  it("confirms other words and another order, also of an edit that moves an item", async () => {
    const { texts, todos } = await run([
      callTool("write_todos", { todos: ["read", "build", "check"] }),
      callTool("update_todos", { edit: [{ id: "2", content: "build it all" }], done: "1" }),
      callTool("update_todos", { edit: [{ id: "3", before: "2" }] }),
      callTool("update_todos", { order: "2,3" }),
      callTool("update_todos", { done: "2,3" }),
      "ok",
    ]);
    expect(texts.slice(1, -1)).toEqual([
      "1/3 done; now 2. Edited 2.",
      "1/3 done; now 2; next 3. Order: 3, 2.",
      "1/3 done; now 2. Order: 2, 3.",
    ]);
    expect(todos.map(({ content }) => content)).toEqual(["build it all", "check", "read"]);
  });

  it("shows the model every field that its description names", () => {
    const { update } = PRESETS.lean.tools;
    const shown = JSON.stringify(update!.schema);
    const named = [...update!.description.matchAll(/"?(\w+)"?:/g)].map(([, name]) => name!);
    expect(named.filter((name) => !/^\d/.test(name))).toEqual(["done", "block", "order", "before"]);
    for (const name of named.filter((one) => !/^\d/.test(one))) expect(shown).toContain(`"${name}":`);
  });
});
