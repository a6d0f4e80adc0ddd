import { HumanMessage } from "@langchain/core/messages";
import { createAgent, tool } from "langchain";
import { expect, it } from "vitest";
import { z } from "zod";
import { callTool, ScriptedModel } from "../../testing/index.ts";
import { clarificationMiddleware } from "../clarification/index.ts";
import { filesMiddleware } from "../files/index.ts";

const go = { messages: [new HumanMessage("go")] };

it("files and clarification beside a tool that throws leave LangChain's behaviour: the run goes on", async () => {
  const fragile = tool(
    () => {
      throw new Error("broke");
    },
    { name: "fragile", description: "f", schema: z.object({}) },
  );
  for (const middleware of [filesMiddleware(), clarificationMiddleware()]) {
    const model = new ScriptedModel([callTool("fragile"), "ok"]);
    const { messages } = await createAgent({ model, tools: [fragile], middleware: [middleware] }).invoke(go);
    expect(messages.at(-1)!.text).toBe("ok");
    expect(messages.at(-2)!.text).toBe("Error: broke");
  }
});
