import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { createAgent, type AgentMiddleware } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { planMiddleware } from "./index.ts";

const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;

/** An agent whose clock stands still unless somebody moves it. */
function agentOf(steps: Step[], ...guards: AgentMiddleware[]) {
  const clock = { now: DAY };
  const work = tool(
    ({ seconds }) => {
      clock.now += seconds * SECOND;
      return "worked";
    },
    { name: "work", description: "Work.", schema: z.object({ seconds: z.number() }) },
  );
  const ask = tool(() => interrupt<string, string>("May I?"), {
    name: "ask",
    description: "Ask.",
    schema: z.object({}),
  });
  const stop = tool(
    () => {
      if (clock.now < 2 * DAY) throw new Error("killed");
      return "not killed";
    },
    { name: "stop", description: "Stop.", schema: z.object({}) },
  );
  const agent = createAgent({
    model: new ScriptedModel(steps),
    tools: [work, ask, stop],
    checkpointer: new MemorySaver(),
    middleware: [
      planMiddleware({ now: () => clock.now, reminders: false }),
      // An error that passes through here ends the run, as a kill would.
      { name: "Strict", wrapToolCall: async (request, handler) => handler(request) },
      ...guards,
    ],
  });
  const config = { configurable: { thread_id: "t" } };
  return {
    clock,
    go: async (
      input: { messages: HumanMessage[] } | Command | null = { messages: [new HumanMessage("Go")] },
    ) => agent.invoke(input as never, config),
    elapsed: async () => {
      const { todos } = (await agent.graph.getState(config)).values as { todos: { actuals?: object }[] };
      return todos.map(({ actuals }) => (actuals as { elapsedMs: number } | undefined)?.elapsedMs);
    },
  };
}

const plan = callTool("write_todos", { todos: ["Dig"] });
const work = callTool("work", { seconds: 3 });
const done = callTool("update_todos", { done: "1" });

describe("the time of an item leaves out", () => {
  it("the wait for a question", async () => {
    const { clock, go, elapsed } = agentOf([plan, work, callTool("ask", {}), work, done, "Done."]);
    await go();
    clock.now += DAY;
    await go(new Command({ resume: "yes" }));
    expect(await elapsed()).toEqual([6 * SECOND]);
  });

  it("the wait for a question in the turn that completes the item", async () => {
    const { clock, go, elapsed } = agentOf([plan, work, [callTool("ask", {}), done], "Done."]);
    await go();
    clock.now += DAY;
    await go(new Command({ resume: "yes" }));
    expect((await elapsed())[0]).toBeLessThanOrEqual(3 * SECOND);
  });

  it("the wait for a question about the call that completes the item", async () => {
    const { clock, go, elapsed } = agentOf([plan, work, done, "Done."], {
      name: "Guard",
      wrapToolCall: async (request, handler) => {
        if (request.toolCall.name === "update_todos") interrupt("May it?");
        return handler(request);
      },
    });
    await go();
    clock.now += DAY;
    await go(new Command({ resume: "yes" }));
    expect(await elapsed()).toEqual([3 * SECOND]);
  });

  it("the pause between a mid-run stop and the resume", async () => {
    const { clock, go, elapsed } = agentOf([plan, work, callTool("stop", {}), work, done, "Done."]);
    await expect(go()).rejects.toThrow("killed");
    clock.now += DAY;
    await go(null);
    expect(await elapsed()).toEqual([6 * SECOND]);
  });

  it("the pause between an answer and the next message", async () => {
    const { clock, go, elapsed } = agentOf([plan, work, "Which bed?", work, done, "Done."]);
    await go();
    clock.now += DAY;
    await go({ messages: [new HumanMessage("The left one.")] });
    clock.now += DAY;
    expect(await elapsed()).toEqual([6 * SECOND]);
  });
});
