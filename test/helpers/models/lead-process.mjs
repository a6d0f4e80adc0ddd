// One of the processes of a lead agent's thread: asks the user half way through its plan, or goes on with the answer.
// The model decides from the conversation alone, as it must when the process that began is gone.
import { appendFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import { makeLeadAgent } from "holdfast";
import { sqliteSaver } from "holdfast/storage";
import { callTool, ScriptedModel } from "holdfast/testing";
import { tool } from "langchain";
import { z } from "zod";

const [part, database] = process.argv.slice(2);
const folder = dirname(database);
const list = (...statuses) => ({
  todos: ["Dig", "Fill"].map((content, index) => ({ content, status: statuses[index] })),
});

const script = [
  callTool("write_todos", list("in_progress", "pending")),
  callTool("dig"),
  callTool("write_todos", list("completed", "in_progress")),
  callTool("ask_clarification", { question: "Fill it with what?" }),
  callTool("dig"),
  callTool("write_todos", list("completed", "completed")),
];
const play = ({ messages }) =>
  script[messages.filter((message) => AIMessage.isInstance(message)).length] ?? "Filled.";
const dig = tool(
  () => {
    appendFileSync(join(folder, "effects"), "dug\n");
    return "dug";
  },
  { name: "dig", description: "dig", schema: z.object({}) },
);

const checkpointer = await sqliteSaver(database);
const config = { configurable: { thread_id: "hole", is_plan_mode: true } };
const model = new ScriptedModel([play], { loop: true });
const agent = makeLeadAgent(config, { model, tools: [dig], checkpointer, baseDir: join(folder, "threads") });

if (part === "begin") {
  const paused = await agent.invoke({ messages: [new HumanMessage("A hole, please")] }, config);
  console.log(JSON.stringify(paused["__interrupt__"]?.[0]?.value));
  // Waits to be killed.
  setInterval(() => undefined, 1000);
} else {
  const { todos, messages } = await agent.invoke(new Command({ resume: "sand" }), config);
  const said = messages.map((message) => message.text);
  console.log(
    JSON.stringify({ statuses: todos.map((todo) => todo.status), said, requests: model.requests.length }),
  );
  checkpointer.close();
}
