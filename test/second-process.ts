// Half of an agent's run, for a test that continues a thread in another process. Checkpoints travel as JSON.
import { HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { planMiddleware } from "../src/middleware/plan/index.ts";
import { callTool, ScriptedModel, type Step } from "../src/testing/index.ts";

const config = { configurable: { thread_id: "two-processes" } };
const isBegin = process.argv[2] === "begin";
const steps: Step[] = isBegin
  ? [
      callTool("write_todos", { todos: ["read", "build", "check"] }),
      callTool("update_todos", { done: "1" }),
      new Error("the power goes out"),
    ]
  : [callTool("update_todos", { done: "2,3" }), "Finished."];
const saver = new MemorySaver();
if (!isBegin) await restore(saver);
const model = new ScriptedModel(steps);
const agent = createAgent({ model, middleware: [planMiddleware()], checkpointer: saver });

if (isBegin) {
  await agent.invoke({ messages: [new HumanMessage("go")] }, config).catch(() => undefined);
  process.stdout.write(JSON.stringify({ storage: saver.storage, writes: saver.writes }, encode));
} else {
  const state = await agent.invoke(null as never, config);
  const messages = state.messages.map((message) => `${message.getType()}: ${message.text}`);
  process.stdout.write(JSON.stringify({ todos: state.todos, messages, requests: model.requests.length }));
}

function encode(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString("base64") } : value;
}

async function restore(into: MemorySaver): Promise<void> {
  let text = "";
  for await (const chunk of process.stdin) text += String(chunk);
  const decode = (_key: string, value: unknown): unknown =>
    typeof value === "object" && value !== null && "bytes" in value
      ? new Uint8Array(Buffer.from(String(value.bytes), "base64"))
      : value;
  Object.assign(into, JSON.parse(text, decode));
}
