// Completion is checked by code: an item is done when the check says so, not when the model says so.
import { planMiddleware, workWasDone, type Verifier } from "holdfast";
import { callTool, ScriptedModel } from "holdfast/testing";
import { createAgent, ToolMessage, tool } from "langchain";
import { z } from "zod";

const build = tool(() => "built", { name: "build", description: "Build", schema: z.object({}) });

/** Your own checks go together with ready ones: run a test, look at a file, ask a reviewer. */
const verify: Verifier = async (todo, context) => {
  const verdict = await workWasDone()(todo, context);
  return verdict === true && todo.content === "Build" ? context.state["built"] !== false : verdict;
};

const model = new ScriptedModel([
  callTool("write_todos", { todos: ["Build", "Publish"] }),
  callTool("update_todos", { done: "1" }), // a claim without work
  callTool("build"),
  callTool("update_todos", { done: "1", cancel: "2" }),
  "Built.",
]);
const agent = createAgent({ model, tools: [build], middleware: [planMiddleware({ verify })] });
const { messages, todos } = await agent.invoke({ messages: [{ role: "user", content: "Build it" }] });

for (const message of messages)
  if (ToolMessage.isInstance(message)) console.log(`${message.name}: ${message.text}`);
console.log(todos[0]?.actuals);
