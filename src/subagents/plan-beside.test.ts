import { HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { createDeepAgent } from "../deep/index.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";

const WORK: Step[] = [callTool("ls", { path: "/" }), "Found."];

it("sub-agents in the message of a plan follow its rules and cause no edit notice", async () => {
  const ends: Step[][] = [
    WORK,
    Array<Step>(6).fill(""),
    WORK,
    WORK,
    [callTool("write_todos", { todos: ["look", "count"] }), ...Array<Step>(6).fill("I stopped.")],
    WORK,
  ];
  const names = ends.map((_, at) => `helper-${at + 1}`);
  const helpers = ends.map((steps) => new ScriptedModel(steps));
  const tasks = names.map((name, at) =>
    callTool("task", { subagent_type: name, description: `Look for ${name}.`, todo_id: String(at + 1) }),
  );
  const report = { content: "Report", after: [1, 2, 3, 4, 5, 6] };
  const again = { subagent_type: names[0]!, description: "Look again.", todo_id: "3" };
  const model = new ScriptedModel([
    [callTool("write_todos", { todos: [...names, report], rules: ["Change nothing in /x"] }), ...tasks],
    callTool("task", again),
    ...Array<Step>(6).fill("Here is the report."),
  ]);
  const agent = createDeepAgent({
    model,
    checkpointer: new MemorySaver(),
    subagents: names.map((name, at) => ({ name, description: name, model: helpers[at]! })),
  });
  await agent.invoke({ messages: [new HumanMessage("go")] }, { configurable: { thread_id: "t" } });
  for (const helper of helpers) {
    expect(helper.requests[0]!.messages.at(-1)!.text).toContain("Change nothing in /x");
  }
  const second = model.requests[1]!.messages.map(({ text }) => text).join("\n");
  expect(second).toContain("Todo 5 is still in progress.");
  expect(second).not.toContain("Todo 6");
  expect(second).not.toContain("The user changed");
  // Nor for a decision that a sub-agent may not go against.
  const third = model.requests[2]!.messages.map(({ text }) => text);
  expect(third.join("\n")).not.toContain("the user set it so");
});

it("the note on why a sub-agent left an item open goes with its completion", async () => {
  const task = (more: object = {}) =>
    callTool("task", { subagent_type: "scout", description: "Look.", todo_id: "1", ...more });
  const notes: (string | undefined)[] = [];
  const model = new ScriptedModel([
    callTool("write_todos", { todos: ["Look", "Report"] }),
    task(),
    task({ again: "t1" }),
    ...Array<Step>(4).fill("Here is the report."),
  ]);
  const scout = new ScriptedModel([callTool("ls", { path: "/" }), "", "", "Found."]);
  const agent = createDeepAgent({
    model,
    checkpointer: new MemorySaver(),
    subagents: [{ name: "scout", description: "looks", model: scout }],
  });
  const config = { configurable: { thread_id: "t" } };
  const states = await agent.stream(
    { messages: [new HumanMessage("go")] },
    { ...config, streamMode: "values" },
  );
  for await (const { todos } of states) {
    const { note } = (todos as { note?: string }[] | undefined)?.[0] ?? {};
    if (note !== notes.at(-1)) notes.push(note);
  }
  expect(notes).toEqual(["sub-agent: there is no report", undefined]);
});
