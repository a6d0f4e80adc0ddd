import { ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { createAgent, type ReactAgent } from "langchain";
import { expect, it } from "vitest";
import { createDeepAgent } from "../../../deep/index.ts";
import { makeLeadAgent } from "../../../lead/index.ts";
import { callTool, ScriptedModel } from "../../../testing/index.ts";
import { planMiddleware } from "../index.ts";

const whole = ["Read", "Build"].map((content) => ({ content, status: "completed" }));
const write = callTool("write_todos", { todos: whole });
const update = callTool("update_todos", { done: "1,2" });

it.each<[string, string[], () => object]>([
  [
    "planMiddleware in createAgent",
    ["write_todos", "update_todos"],
    () =>
      createAgent({
        model: new ScriptedModel([callTool("write_todos", { todos: ["Read", "Build"] }), update, "Done."]),
        middleware: [planMiddleware({ verify: false })],
      }),
  ],
  [
    "createDeepAgent",
    ["write_todos", "update_todos", "ls", "write_file", "task"],
    () =>
      createDeepAgent({
        model: new ScriptedModel([
          callTool("write_todos", { todos: ["Read", "Build"] }),
          [update, callTool("ls", { path: "/" }), callTool("write_file", { file_path: "/a", content: "a" })],
          callTool("task", { description: "Look", subagent_type: "reader" }),
          "Looked.",
          "Done.",
        ]),
        plan: { verify: false },
      }),
  ],
  [
    "makeLeadAgent",
    ["write_todos"],
    () =>
      makeLeadAgent({ configurable: { is_plan_mode: true } }, { model: new ScriptedModel([write, "Done."]) }),
  ],
])("every result is in the stream of messages, once, as it is stored: %s", async (_, names, make) => {
  const agent = make() as ReactAgent;
  const streamed: BaseMessage[] = [];
  let stored: BaseMessage[] = [];
  const input = { messages: [{ role: "user" as const, content: "go" }] };
  const stream = await agent.stream(input, { streamMode: ["messages", "values"] });
  for await (const [mode, part] of stream as AsyncIterable<[string, unknown]>) {
    if (mode === "messages") streamed.push((part as [BaseMessage])[0]);
    else stored = (part as { messages: BaseMessage[] }).messages;
  }
  const results = (messages: BaseMessage[]) =>
    messages
      .filter((message) => ToolMessage.isInstance(message))
      .map(({ id, name, content, tool_call_id: call }) => ({ id, name, content, call }));
  expect(results(streamed)).toEqual(results(stored));
  expect(results(streamed).map(({ name }) => name)).toEqual(names);
});
