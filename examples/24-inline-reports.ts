// Progress in the work calls themselves: a model that makes one call at a time still reports without a turn of its own.
import { planMiddleware } from "holdfast";
import { renderStatus } from "holdfast/plan";
import { callTool, ScriptedModel } from "holdfast/testing";
import { createAgent, tool } from "langchain";
import { z } from "zod";

const build = tool(({ target }) => `built ${target}`, {
  name: "build",
  description: "Builds one target.",
  schema: z.object({ target: z.string() }),
});

const model = new ScriptedModel([
  callTool("write_todos", { todos: ["Build the library", "Build the site", "Build the docs"] }),
  callTool("build", { target: "library" }),
  callTool("build", { target: "site", todo_done: "1" }),
  callTool("build", { target: "docs", todo_done: "2" }),
  "Everything is built.",
]);
const agent = createAgent({
  model,
  tools: [build],
  middleware: [planMiddleware({ reports: "inline" })],
});
const { messages, todos } = await agent.invoke({ messages: [{ role: "user", content: "Build it all" }] });

console.log(renderStatus(todos));
console.log(`${model.requests.length} model calls for ${todos.length} items`);
// The tool, the state and everybody who looks at it get the calls without the argument; the model sees its own words.
const lastCall = (list: typeof messages): unknown =>
  list
    .flatMap((message) => ("tool_calls" in message ? (message.tool_calls as { args: object }[]) : []))
    .at(-1)?.args;
console.log("in the state:", JSON.stringify(lastCall(messages)));
console.log("in the request:", JSON.stringify(lastCall(model.requests.at(-1)!.messages)));
