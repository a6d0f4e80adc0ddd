import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { MemorySaver } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { createDeepAgent } from "../deep/index.ts";
import { callTool, ScriptedModel } from "../testing/index.ts";

class Watcher extends BaseCallbackHandler {
  name = "watcher";
  readonly seen: unknown[] = [];
  override handleChatModelStart(
    ...args: Parameters<NonNullable<BaseCallbackHandler["handleChatModelStart"]>>
  ): void {
    const { thread_id, holdfast_owner, holdfast_todo } = args[6] ?? {};
    this.seen.push([thread_id, holdfast_owner, holdfast_todo]);
  }
}

it("callbacks such as LangSmith's and Langfuse's see the thread, whose call it is and its item", async () => {
  const watcher = new Watcher();
  const agent = createDeepAgent({
    model: new ScriptedModel([
      callTool("write_todos", { todos: ["One", "Two"] }),
      callTool(
        "task",
        { description: "Look around", subagent_type: "general-purpose", todo_id: "1" },
        "call_1",
      ),
      "Nothing there.",
      "Done.",
      "Done.",
    ]),
    plan: { reminders: false },
    checkpointer: new MemorySaver(),
  });
  await agent.invoke(
    { messages: [{ role: "user", content: "Go" }] },
    { configurable: { thread_id: "t" }, callbacks: [watcher] },
  );
  expect(watcher.seen).toEqual([
    ["t", "main", undefined],
    ["t", "main", "1"],
    ["t", "main/general-purpose:call_1", "1"],
    ["t", "main", "2"],
  ]);
});
