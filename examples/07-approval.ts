// A person approves, edits or rejects the plan before anything of it runs. The interrupt survives a restart.
import { Command, MemorySaver } from "@langchain/langgraph";
import { planMiddleware, type PlanApprovalRequest } from "holdfast";
import { callTool, ScriptedModel } from "holdfast/testing";
import { createAgent } from "langchain";

const model = new ScriptedModel([
  callTool("write_todos", { todos: ["Drop the old tables", "Create the new ones"] }),
  callTool("update_todos", { done: "1,2", note: "both scripts ran" }),
  "Migrated, with a backup.",
]);
const agent = createAgent({
  model,
  middleware: [planMiddleware({ approval: "first" })],
  checkpointer: new MemorySaver(),
});
const config = { configurable: { thread_id: "migration" } };

const paused = await agent.invoke({ messages: [{ role: "user", content: "Migrate the database" }] }, config);
const [question] = (paused as unknown as Record<string, { value: PlanApprovalRequest }[]>)["__interrupt__"]!;
console.log("The model wants to:", question!.value.todos.map((todo) => todo.content).join("; "));

const decision = { type: "edit", todos: [{ content: "Back up" }, { content: "Create the new tables" }] };
const { todos, messages } = await agent.invoke(new Command({ resume: decision }), config);
console.log("It did:", todos.map((todo) => todo.content).join("; "));
console.log(messages.at(-1)?.text);
