import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { markTime } from "../../middleware/tools/index.ts";
import type { Todo } from "../../plan/index.ts";
import { AgentReplay, type Frame } from "./agent-replay.ts";

it("calls of one message have each its own time, though they are saved together", () => {
  const call = (id: string) => ({ id, name: "read_file", args: { file_path: "/a.md" } });
  const result = (id: string, time?: readonly [number, number]): ToolMessage => {
    const message = new ToolMessage({ content: "text", tool_call_id: id });
    if (time) markTime(message, time);
    return message;
  };
  const ids = ["c0", "c1", "c2", "c3"];
  const answer = new AIMessage({ content: "", tool_calls: ids.map(call) });
  const frame = (at: number, messages: Frame["messages"]): Frame => ({
    at,
    idle: 0,
    isEdit: false,
    messages,
    todos: [],
    rules: [],
    jobs: [],
  });
  // The first has ended before the answer was saved.
  const early = result("c0", [800, 850]);
  const messages = [answer, early, result("c1", [1000, 1500]), result("c2", [1500, 4000]), result("c3")];
  const replay = new AgentReplay("main");
  replay.expect(messages);
  const events = [...replay.tell(frame(900, [answer])), ...replay.tell(frame(4100, messages))];
  const times = (id: string) =>
    events.flatMap(({ at, body }) => ("call" in body && body.call === id ? [at] : []));
  expect(ids.map(times)).toEqual([
    [900, 900],
    [1000, 1500],
    [1500, 4000],
    [900, 4100],
  ]);
});

it("keeps the item of a sub-agent in progress until the result of its call", () => {
  const args = { description: "Dig", subagent_type: "general-purpose", todo_id: "1" };
  const answer = new AIMessage({ content: "", tool_calls: [{ id: "c", name: "task", args }] });
  const result = new ToolMessage({ content: "Dug.", name: "task", tool_call_id: "c" });
  const frame = (at: number, messages: Frame["messages"], status: Todo["status"]): Frame => ({
    at,
    idle: 0,
    isEdit: false,
    messages,
    todos: [{ id: "1", content: "Dig", status }],
    rules: [],
    jobs: [],
  });
  const replay = new AgentReplay("main");
  replay.expect([answer, result]);
  const frames = [
    frame(1, [], "pending"),
    frame(2, [answer], "pending"),
    frame(3, [answer], "pending"),
    frame(4, [answer, result], "completed"),
  ];
  const events = frames.flatMap((each) => [...replay.tell(each)]);
  const statuses = events.flatMap(({ body }) =>
    body.type === "plan-change" ? body.todos.map(({ status }) => status) : [],
  );
  expect(statuses).toEqual(["pending", "in_progress", "completed"]);
});
