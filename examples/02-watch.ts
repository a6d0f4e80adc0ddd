// Watch a plan change: every change is an event on LangGraph's custom stream.
import { isPlanChangeEvent, planMiddleware } from "holdfast";
import { renderChecklist } from "holdfast/plan";
import { callTool, ScriptedModel } from "holdfast/testing";
import { createAgent, tool } from "langchain";
import { z } from "zod";

const run = tool(({ command }) => `${command}: ok`, {
  name: "run",
  description: "Run a command",
  schema: z.object({ command: z.string() }),
});

const model = new ScriptedModel([
  [
    callTool("write_todos", {
      todos: ["Read the code", "Fix the bug", { content: "Run the tests", after: [2] }],
    }),
    callTool("run", { command: "cat src/*" }),
  ],
  [callTool("update_todos", { done: "1" }), callTool("run", { command: "patch" })],
  // The model discovers more work, and does not wait for a turn of its own to say so.
  [
    callTool("update_todos", { done: "2", add: ["Update the changelog"] }),
    callTool("run", { command: "npm test" }),
  ],
  [callTool("update_todos", { done: "3" }), callTool("run", { command: "edit CHANGELOG.md" })],
  callTool("update_todos", { done: "4" }),
  "The bug is fixed.",
]);

const agent = createAgent({ model, tools: [run], middleware: [planMiddleware()] });
const stream = await agent.stream(
  { messages: [{ role: "user", content: "Fix it" }] },
  { streamMode: "custom" },
);
for await (const event of stream) {
  if (isPlanChangeEvent(event)) console.log(renderChecklist(event.todos), "\n");
}
