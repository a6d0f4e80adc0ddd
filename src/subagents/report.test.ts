import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { createDeepAgent } from "../deep/index.ts";
import { HarnessError } from "../errors.ts";
import { callTool, ScriptedModel } from "../testing/index.ts";
import { readReport, verdictLine } from "./report.ts";

describe("a sub-agent's report", () => {
  it("is its last text, even when its last message is empty", () => {
    const messages = [
      new HumanMessage("look"),
      new AIMessage({ content: "Found 3 leaks.", tool_calls: [{ name: "ls", args: {}, id: "1" }] }),
      new ToolMessage({ content: "listed", tool_call_id: "1" }),
      new AIMessage({ content: [{ type: "text", text: " " }] }),
    ];
    const { text, verdict } = readReport({ messages });
    expect(text).toBe("Found 3 leaks.");
    expect(verdictLine(verdict)).toBe("[Done: its last message was empty, and it wrote this before.]");
    const more = readReport({ messages: [...messages, new AIMessage("All done.")] });
    expect([more.text, verdictLine(more.verdict)]).toEqual(["All done.", ""]);
  });

  it("is JSON alone if an empty message follows JSON", () => {
    const messages = [new AIMessage('{"a":1}'), new AIMessage("")];
    const { text, verdict } = readReport({ messages });
    expect([text, verdict]).toEqual(['{"a":1}', { result: "done" }]);
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
      "[Failed: there is no report.]",
    );
  });

  it("is kept when the sub-agent gives it with or before its last plan call", () => {
    const report = "Found 3 leaks: two in the roof, one in the cellar.";
    const plan = (content: string) =>
      new AIMessage({ content, tool_calls: [{ name: "update_todos", args: { done: "1,2" }, id: "1" }] });
    const noted = new ToolMessage({ content: "2/2 done.", tool_call_id: "1" });
    const last = new AIMessage("Done.");
    expect(readReport({ messages: [plan(report), noted, last] }).text).toBe(`${report}\n\nDone.`);
    const called = new HumanMessage({ content: "Still open.", additional_kwargs: { hide_from_ui: true } });
    const sentBack = [new AIMessage(report), called, plan(""), noted, last];
    expect(readReport({ messages: sentBack }).text).toBe(`${report}\n\nDone.`);
    const full = new AIMessage(report);
    expect(readReport({ messages: [plan("Now I report."), noted, full] }).text).toBe(report);
  });
});

it("a sub-agent is called by the title of its task, in every event", async () => {
  const parent = new ScriptedModel([
    callTool("task", { title: "Borva: reefs/coast", description: "look", subagent_type: "scout" }, "c1"),
    "I see.",
  ]);
  const scout = new ScriptedModel([callTool("write_todos", { todos: ["look"] }), callTool("ls"), "Found."]);
  const agent = createDeepAgent({
    model: parent,
    subagents: [{ name: "scout", description: "looks", model: scout }],
  });
  const places = new Set<string>();
  const names = new Set<string>();
  const stream = await agent.stream({ messages: [new HumanMessage("go")] }, { streamMode: "custom" });
  for await (const chunk of stream as AsyncIterable<{ owner: string; name?: string }>) {
    places.add(chunk.owner);
    if (chunk.name !== undefined) names.add(chunk.name);
  }
  expect([...names]).toEqual(["scout"]);
  expect([...places]).toEqual(["main/Borva reefs coast:c1"]);
});

it("a report in JSON stands alone, and completes its item", async () => {
  const parent = new ScriptedModel([
    callTool("write_todos", { todos: ["judge", "report"] }),
    callTool("task", { description: "judge", subagent_type: "judge", todo_id: "1" }),
    "I see.",
  ]);
  const judge = { name: "judge", description: "judges", model: new ScriptedModel(['{"score":7}']) };
  const agent = createDeepAgent({ model: parent, subagents: [judge], checkpointer: new MemorySaver() });
  const { messages, todos } = await agent.invoke(
    { messages: [new HumanMessage("go")] },
    { configurable: { thread_id: "t" } },
  );
  const report = messages.findLast((message) => ToolMessage.isInstance(message))!;
  expect(JSON.parse(report.text)).toEqual({ score: 7 });
  expect(report.artifact).toEqual({ result: "done" });
  expect(todos[0]!.status).toBe("completed");
});

describe("the verdict on a sub-agent", () => {
  const todo = (id: string, status: string) => ({ id, content: `item ${id}`, status });
  const verdictOn = (text: string, todos: object[] = []) =>
    readReport({ messages: [new AIMessage(text)], todos }).verdict;

  it("is by its report and its own plan", () => {
    expect(verdictOn("Found.", [todo("1", "completed"), todo("2", "cancelled")])).toEqual({ result: "done" });
    expect(verdictOn("Found.", [todo("1", "completed"), todo("2", "pending"), todo("3", "blocked")])).toEqual(
      {
        result: "part",
        reason: "2 of 3 items of its plan are open: item 2; item 3",
      },
    );
    expect(verdictOn("Found.", [{ ...todo("1", "completed"), unverified: true }])).toEqual({
      result: "done",
      reason: "without evidence: item 1",
    });
    for (const text of ["", "...", "—"]) expect(verdictOn(text).result).toBe("failed");
  });

  it("follows the report, and work done in part leaves its item open", async () => {
    const half = new ScriptedModel([
      callTool("write_todos", { todos: ["look", "count"] }),
      ...Array<string>(4).fill("I looked."),
    ]);
    const parent = new ScriptedModel([
      callTool("write_todos", { todos: ["survey", "report"] }),
      callTool("task", { description: "look", subagent_type: "scout", todo_id: "1" }),
      ...Array<string>(4).fill("I see."),
    ]);
    const subagents = [{ name: "scout", description: "looks", model: half }];
    const agent = createDeepAgent({ model: parent, subagents });
    const ends: unknown[] = [];
    const stream = await agent.stream({ messages: [new HumanMessage("go")] }, { streamMode: "custom" });
    for await (const chunk of stream as AsyncIterable<{ type: string }>) {
      if (chunk.type === "subagent-end") ends.push(chunk);
    }
    const error = "2 of 2 items of its plan are open: look; count";
    expect(ends).toMatchObject([{ ok: false, verdict: "part", error }]);
    expect(parent.requests[2]!.messages.findLast((message) => ToolMessage.isInstance(message))!.text).toBe(
      `I looked.\n[In part: ${error}. Todo 1 is still in progress.]`,
    );
  });
});

it("a store error ends the run instead of becoming the sub-agent's report", async () => {
  const runnable = { invoke: () => Promise.reject(new HarnessError("thread-changed", "taken over")) };
  const task = callTool("task", { description: "look", subagent_type: "scout" });
  const agent = createDeepAgent({
    model: new ScriptedModel([task, "Done."]),
    subagents: [{ name: "scout", description: "looks", runnable }],
  });
  await expect(agent.invoke({ messages: [new HumanMessage("go")] })).rejects.toThrow("taken over");
});
