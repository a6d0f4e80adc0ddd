// A person edits the plan of a running thread, here as Markdown. The engine checks it; the model is told once.
import { MemorySaver } from "@langchain/langgraph";
import { HarnessError, planMiddleware, type Todo } from "holdfast";
import { parseMarkdown, renderMarkdown } from "holdfast/plan";
import { callTool, ScriptedModel } from "holdfast/testing";
import { createAgent } from "langchain";

const model = new ScriptedModel([
  callTool("write_todos", { todos: ["Draft", "Publish"] }),
  "Shall I go on?",
  "Shall I?",
  "Well?",
  callTool("update_todos", { done: "1,2,3", note: "Ann has read it" }),
  "Published.",
]);
const agent = createAgent({ model, middleware: [planMiddleware()], checkpointer: new MemorySaver() });
const config = { configurable: { thread_id: "article" } };
await agent.invoke({ messages: [{ role: "user", content: "Write an article" }] }, config);

const { todos } = (await agent.graph.getState(config)).values as { todos: Todo[] };
const markdown = renderMarkdown(todos).replace("- [ ] #2", "- [ ] Let Ann read it\n- [ ] #2");
const edited = parseMarkdown(markdown);
if (!edited.ok) throw new Error(edited.issues.map((issue) => issue.message).join("\n"));
await agent.graph.updateState(config, { todos: edited.todos });
console.log(markdown);

const impossible = agent.graph.updateState(config, { todos: [{ content: "x", status: "soon" }] });
await impossible.catch((error: unknown) => console.log(HarnessError.from(error)?.message));

await agent.invoke({ messages: [{ role: "user", content: "Go on" }] }, config);
console.log(model.requests[4]?.messages.at(-1)?.text);
