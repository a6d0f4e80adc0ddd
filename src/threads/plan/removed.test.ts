import { MemorySaver } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { makeLeadAgent } from "../../lead/index.ts";
import { callTool, ScriptedModel } from "../../testing/index.ts";
import { createRunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../prepare/settings.ts";
import { Thread } from "../thread/thread.ts";

it.each([false, true])(
  "the model reads the text of an item that the user removes, during a turn: %s",
  async (isInTurn) => {
    const model = new ScriptedModel([
      callTool("write_todos", { todos: ["Dig", "Plant", "Water"] }),
      "Stop.",
      "Stop.",
      "Stop.",
      ...(isInTurn ? [callTool("ls", { path: "/" })] : []),
      ...Array<string>(8).fill("Stop."),
    ]);
    const settings = { ...DEFAULT_SETTINGS, model: "scripted" };
    const agent = createRunAgent({ settings, model, checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: "t" } };
    await agent.graph.invoke({ messages: [{ role: "user", content: "Go" }] } as never, config);
    const thread = new Thread(agent, "t");
    if (isInTurn) {
      const beforeTools = { ...config, interruptBefore: ["tools"] };
      await agent.graph.invoke({ messages: [{ role: "user", content: "Again" }] } as never, beforeTools);
    }
    const base = await thread.todos();
    await thread.writePlan({ todos: base.filter(({ id }) => id !== "3"), base });
    const before = model.requests.length;
    await agent.graph.invoke(
      (isInTurn ? null : { messages: [{ role: "user", content: "Go on" }] }) as never,
      config,
    );
    const texts = model.requests.slice(before).flatMap(({ messages }) => messages.map(({ text }) => text));
    expect(texts.join("\n")).toContain('removed 3 "Water"');
  },
);

it("the model reads a removal that a client without plan mode has written", async () => {
  const checkpointer = new MemorySaver();
  const model = new ScriptedModel([
    callTool("write_todos", {
      todos: [
        { content: "Dig", status: "in_progress" },
        { content: "Plant", status: "pending" },
      ],
    }),
    ...Array<string>(9).fill("Stop."),
  ]);
  const of = (configurable: object) => makeLeadAgent({ configurable } as never, { model, checkpointer });
  const config = { configurable: { thread_id: "t", is_plan_mode: true } };
  const say = (content: string) =>
    of(config.configurable).invoke({ messages: [{ role: "user", content }] } as never, config as never);
  await say("Go");
  const thread = new Thread(of({}) as never, "t");
  const base = await thread.todos();
  await thread.writePlan({ todos: base.slice(0, 1), base });
  const before = model.requests.length;
  await say("Go on");
  const texts = model.requests.slice(before).flatMap(({ messages }) => messages.map(({ text }) => text));
  expect(texts.join("\n")).toContain('removed 2 "Plant"');
});
