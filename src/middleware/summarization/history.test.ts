import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { tool } from "langchain";
import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../deep/index.ts";
import { diskBackend } from "../../files/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";

const config = { configurable: { thread_id: "t" } };
const note = tool(() => "noted", { name: "note", description: "n", schema: z.object({}) });
let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-history-"));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

function agentOf(steps: Step[], checkpointer = new MemorySaver()) {
  return createDeepAgent({
    model: new ScriptedModel(steps),
    tools: [note],
    plan: false,
    backend: diskBackend(dir),
    checkpointer,
    summarization: {
      model: new ScriptedModel(["They talked."], { loop: true }),
      trigger: { messages: 4 },
      keep: { messages: 2 },
    },
  });
}

const said = (words: string): number =>
  readFileSync(join(dir, "history/t.md"), "utf8").split(words).length - 1;

it("a thread has its history in a file of its own, whatever it is called", async () => {
  const ids = [
    "../t",
    "..",
    "a/b",
    "a_b",
    "$(touch x)",
    "x".repeat(500),
    "\u001B]0;t\u0007",
    "\uD800",
    "\uD801",
    "漢",
  ];
  for (const thread_id of ids) {
    const agent = agentOf([callTool("note"), callTool("note"), "ok"]);
    await agent.invoke({ messages: [new HumanMessage("the task")] }, { configurable: { thread_id } });
  }
  const names = readdirSync(join(dir, "history"));
  expect(names).toHaveLength(ids.length);
  for (const name of names) expect(name).toMatch(/^[\w.=!~*'()-]+\.md$/);
  expect(readdirSync(dir)).toEqual(["history"]);
});

it("the history has everything once, however often the model fails after the summary", async () => {
  const overloaded = new Error("overloaded");
  const agent = agentOf([callTool("note"), callTool("note"), overloaded, overloaded, overloaded, "ok"]);
  await expect(agent.invoke({ messages: [new HumanMessage("the task")] }, config)).rejects.toThrow(
    "overloaded",
  );
  await expect(agent.invoke(null as never, config)).rejects.toThrow("overloaded");
  // With another message there is more to put away than before.
  await expect(agent.invoke({ messages: [new HumanMessage("and?")] }, config)).rejects.toThrow("overloaded");
  await agent.invoke(null as never, config);
  expect(said("the task")).toBe(1);
});

it("the history has everything once also when the process ends before the answer is saved", async () => {
  class Full extends MemorySaver {
    isFull = false;
    override putWrites(...args: Parameters<MemorySaver["putWrites"]>): Promise<void> {
      const isSummarized = JSON.stringify(args[1]).includes("They talked.");
      return this.isFull && isSummarized ? Promise.reject(new Error("disk full")) : super.putWrites(...args);
    }
    override put(...args: Parameters<MemorySaver["put"]>): ReturnType<MemorySaver["put"]> {
      const isSummarized = JSON.stringify(args[1].channel_values).includes("They talked.");
      return this.isFull && isSummarized ? Promise.reject(new Error("disk full")) : super.put(...args);
    }
  }
  const checkpointer = new Full();
  const agent = agentOf([callTool("note"), callTool("note"), "ok", "ok"], checkpointer);
  checkpointer.isFull = true;
  const saved = { ...config, durability: "sync" as const };
  await expect(agent.invoke({ messages: [new HumanMessage("the task")] }, saved)).rejects.toThrow(
    "disk full",
  );
  expect(said("the task")).toBe(1);
  checkpointer.isFull = false;
  await agent.invoke(null as never, saved);
  expect(said("the task")).toBe(1);
});
