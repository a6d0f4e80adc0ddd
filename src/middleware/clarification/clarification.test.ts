import { HumanMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { callTool, ScriptedModel } from "../../testing/index.ts";
import { planMiddleware } from "../plan/index.ts";
import { clarificationMiddleware } from "./index.ts";

const go = { messages: [new HumanMessage("go")] };
const config = { configurable: { thread_id: "t" } };

describe("a question to the user", () => {
  for (const preset of ["lean", "checklist"] as const) {
    it(`lets the plan of its turn take effect and holds back the work (${preset})`, async () => {
      const isLean = preset === "lean";
      const plan = isLean
        ? callTool("write_todos", { todos: ["Dig", "Plant"] })
        : callTool("todo", { items: [{ id: "1", text: "Dig", status: "in_progress" }] });
      let worked = 0;
      const work = tool(() => `worked ${++worked}`, { name: "work", description: "w", schema: z.object({}) });
      const model = new ScriptedModel([
        [plan, callTool("work"), callTool("ask_clarification", { question: "Which bed?" })],
        isLean ? callTool("update_todos", { cancel: "1,2" }) : "ok",
        "ok",
      ]);
      const agent = createAgent({
        model,
        tools: [work],
        middleware: [planMiddleware({ preset }), clarificationMiddleware()],
        checkpointer: new MemorySaver(),
      });
      await agent.invoke(go, config);
      const { values } = await agent.graph.getState(config);
      expect((values as { todos: { content: string }[] }).todos[0]).toMatchObject({ content: "Dig" });
      await agent.invoke(new Command({ resume: "left" }), config);
      const [planned, held, answered] = model.requests[1]!.messages.slice(-3);
      expect(planned!.text).not.toContain("Not run");
      expect(held!.text).toContain("Not run: ask_clarification");
      expect(answered!.text).toBe("The user answers: left");
      expect(worked).toBe(0);
    });
  }
});
