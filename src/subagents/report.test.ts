import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { createDeepAgent } from "../deep/index.ts";
import { callTool, ScriptedModel } from "../testing/index.ts";
import { readReport } from "./report.ts";

describe("a sub-agent's report", () => {
  it("is what it said last, also when its last message is empty", () => {
    const messages = [
      new HumanMessage("look"),
      new AIMessage({ content: "Found 3 leaks.", tool_calls: [{ name: "ls", args: {}, id: "1" }] }),
      new ToolMessage({ content: "listed", tool_call_id: "1" }),
      new AIMessage({ content: [{ type: "text", text: " " }] }),
    ];
    expect(readReport({ messages }).text).toBe(
      "Found 3 leaks.\n\n(Its last message was empty; it said this before.)",
    );
    expect(readReport({ messages: [...messages, new AIMessage("All done.")] }).text).toBe("All done.");
  });

  it("says so when there is none at all", async () => {
    const silent = new ScriptedModel([callTool("ls"), "", ""]);
    const parent = new ScriptedModel([
      callTool("task", { description: "look", subagent_type: "scout" }),
      "I see.",
    ]);
    const agent = createDeepAgent({
      model: parent,
      subagents: [{ name: "scout", description: "looks", model: silent }],
    });
    const { messages } = await agent.invoke({ messages: [new HumanMessage("go")] });
    expect(messages.find((message) => ToolMessage.isInstance(message))?.text).toBe(
      "(The sub-agent finished without a word: there is no report.)",
    );
  });
});
