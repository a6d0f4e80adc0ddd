import { planMiddleware } from "holdfast";
import { renderChecklist } from "holdfast/plan";
import { callTool, ScriptedModel } from "holdfast/testing";
// The smallest agent with a plan. A scripted model stands in for a real one, so it runs without a key.
import { createAgent, tool } from "langchain";
import { z } from "zod";

const search = tool(({ query }) => `3 results for ${query}`, {
  name: "search",
  description: "Search the web",
  schema: z.object({ query: z.string() }),
});

const model = new ScriptedModel([
  callTool("write_todos", { todos: ["Find sources", "Compare them", "Write the summary"] }),
  callTool("search", { query: "tide pools" }),
  // Progress rides along with the next work call: no turn is spent on bookkeeping.
  [callTool("update_todos", { done: "1" }), callTool("search", { query: "rocky shores" })],
  // Nothing shows this work but the model's word: with a note the items are accepted, and marked as unverified.
  callTool("update_todos", { done: "2,3", note: "both agree; the summary follows" }),
  "Here is the summary.",
]);

const agent = createAgent({ model, tools: [search], middleware: [planMiddleware()] });
const { todos, messages } = await agent.invoke({
  messages: [{ role: "user", content: "Summarize tide pools" }],
});

console.log(renderChecklist(todos));
console.log(messages.at(-1)?.text);
