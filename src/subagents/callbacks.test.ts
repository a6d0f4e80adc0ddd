import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { expect, it } from "vitest";
import { createDeepAgent } from "../deep/index.ts";
import { callTool, ScriptedModel } from "../testing/index.ts";

class Watcher extends BaseCallbackHandler {
  name = "watcher";
  readonly seen: unknown[] = [];
  override handleChatModelStart(
    ...args: Parameters<NonNullable<BaseCallbackHandler["handleChatModelStart"]>>
  ): void {
    this.see("model", args[6]);
  }
  override handleToolStart(...args: Parameters<NonNullable<BaseCallbackHandler["handleToolStart"]>>): void {
    this.see(args[6] ?? "", args[5]);
  }
  private see(
    name: string,
    { thread_id, holdfast_owner, holdfast_todo }: Record<string, unknown> = {},
  ): void {
    this.seen.push([name, thread_id, holdfast_owner, holdfast_todo]);
  }
}

it("callbacks such as LangSmith's see the thread, the owner of a call and its item", async () => {
  const watcher = new Watcher();
  const agent = createDeepAgent({
    model: new ScriptedModel([
      callTool("write_todos", { todos: ["One", "Two"] }),
      callTool(
        "task",
        { description: "Look around", subagent_type: "general-purpose", todo_id: "1" },
        "call_1",
      ),
      callTool("ls", {}),
      "Nothing there.",
      [callTool("ls", {}), callTool("read_file", { path: "/a" })],
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
    ["model", "t", "main", undefined],
    ["write_todos", "t", "main", undefined],
    ["model", "t", "main", "1"],
    ["task", "t", "main", "1"],
    ["model", "t", "main/Look around:call_1", "1"],
    ["ls", "t", "main/Look around:call_1", "1"],
    ["model", "t", "main/Look around:call_1", "1"],
    ["model", "t", "main", "2"],
    ["ls", "t", "main", "2"],
    ["read_file", "t", "main", "2"],
    ["model", "t", "main", "2"],
  ]);
});

it("traces of a named agent's sub-agents have the sub-agents' names", async () => {
  const names: string[] = [];
  const agent = createDeepAgent({
    name: "main",
    model: new ScriptedModel([
      [
        callTool("task", { description: "Look", subagent_type: "worker" }),
        callTool("task", { description: "Look", subagent_type: "ready" }),
      ],
      "Done.",
    ]),
    subagents: [
      { name: "worker", description: "looks", model: new ScriptedModel(["Seen."]) },
      {
        name: "ready",
        description: "looks",
        runnable: createAgent({ name: "inner", model: new ScriptedModel(["Seen."]) }),
      },
    ],
  });
  const handleChatModelStart = (...args: unknown[]): void => {
    names.push((args[6] as Record<string, string>)["lc_agent_name"]!);
  };
  await agent.invoke(
    { messages: [{ role: "user", content: "Go" }] },
    { callbacks: [{ handleChatModelStart }] },
  );
  expect(names.toSorted()).toEqual(["main", "main", "ready", "worker"]);
});
