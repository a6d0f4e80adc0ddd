// The rest of an agent's run, for a test that continues a thread in another process. Checkpoints travel as JSON.
import { MemorySaver } from "@langchain/langgraph";
import { planMiddleware } from "holdfast";
import { callTool, ScriptedModel } from "holdfast/testing";
import { createAgent } from "langchain";

let text = "";
for await (const chunk of process.stdin) text += String(chunk);
const decoded = JSON.parse(text, (_key, value) =>
  typeof value === "object" && value !== null && "bytes" in value
    ? new Uint8Array(Buffer.from(value.bytes, "base64"))
    : value,
);
const checkpointer = Object.assign(new MemorySaver(), decoded);
const model = new ScriptedModel([callTool("update_todos", { done: "2,3", note: "by hand" }), "Finished."]);
const agent = createAgent({ model, middleware: [planMiddleware()], checkpointer });
const state = await agent.invoke(null, { configurable: { thread_id: "two-processes" } });
const messages = state.messages.map((message) => `${message.getType()}: ${message.text}`);
process.stdout.write(JSON.stringify({ todos: state.todos, messages, requests: model.requests.length }));
