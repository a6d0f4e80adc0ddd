import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { createDeepAgent } from "../deep/index.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";

const config = { configurable: { thread_id: "t" } };
const task = (more: object) => callTool("task", { subagent_type: "scout", ...more });

async function run(parent: Step[], scout: Step[], { background = false, checkpointer = true } = {}) {
  const model = new ScriptedModel(scout);
  const agent = createDeepAgent({
    model: new ScriptedModel(parent),
    background,
    ...(checkpointer && { checkpointer: new MemorySaver() }),
    subagents: [{ name: "scout", description: "looks", model }],
  });
  const input = (text: string) => ({ messages: [new HumanMessage(text)] });
  const { messages } = await agent.invoke(input("go"), config);
  const results = messages.flatMap((one) => (ToolMessage.isInstance(one) ? one.text : []));
  return { model, results, agent, input };
}

describe("a sub-agent that gets a second task", () => {
  it("continues with its earlier knowledge, and reports only new results", async () => {
    const { model, results } = await run(
      [
        task({ description: "Find the depth" }),
        task({ description: "And the width?", again: "t1" }),
        "Done.",
      ],
      [callTool("ls", { path: "/" }), "The depth is 4.", "The width is 9."],
    );
    expect(results).toEqual(["The depth is 4.", "The width is 9."]);
    const texts = model.requests.at(-1)!.messages.map(({ text }) => text);
    expect(texts.slice(1)).toEqual([
      "Find the depth",
      "",
      expect.any(String),
      "The depth is 4.",
      "And the width?",
    ]);
    expect(model.requests).toHaveLength(3);
  });

  it("may have failed, and may be asked in a later run and in the background", async () => {
    const { model, results, agent, input } = await run(
      [
        task({ description: "Find the depth" }),
        "Failed.",
        task({ description: "Try once more", again: "t1", background: true }),
        "Waiting.",
        "Done.",
      ],
      [callTool("ls", { path: "/" }), new Error("no model"), "The depth is 4."],
      { background: true },
    );
    expect(results[0]).toBe('Error: the sub-agent "scout" (t1) failed: no model.');
    const { messages } = await agent.invoke(input("again"), config);
    const texts = messages.map(({ text }) => text);
    expect(texts).toContainEqual(expect.stringContaining("The depth is 4."));
    expect(texts).toContain("Started in the background as b1.");
    expect(model.requests.at(-1)!.messages.at(-1)!.text).toBe("Try once more");
    expect(model.requests.at(-1)!.messages.map(({ text }) => text)).toContain("Find the depth");
  });

  it("is refused in words where there is none such, or nothing was kept", async () => {
    const steps = [task({ description: "Find" }), task({ description: "More", again: "t7" }), "Done."];
    const kept = await run(steps, ["Found."]);
    expect(kept.results[1]).toBe('Error: no sub-agent "t7" can be asked again; there are t1.');
    const lost = await run(steps, ["Found."], { checkpointer: false });
    expect(lost.results).toEqual(["Found.", 'Error: no sub-agent "t7" can be asked again.']);
  });
});
