// Sub-agents in the background: the agent goes on while they work, and nothing of them is lost.
import { MemorySaver } from "@langchain/langgraph";
import { createDeepAgent, isSubagentEvent } from "holdfast";
import { callTool, ScriptedModel } from "holdfast/testing";

const inBackground = (name: string, description: string) =>
  callTool("task", { subagent_type: name, description, background: true });

// In place of real models. The reader takes its time.
const agent = createDeepAgent({
  model: new ScriptedModel([
    [inBackground("reader", "Read the log"), inBackground("counter", "Count the errors")],
    callTool("write_file", { file_path: "/notes.md", content: "Reading and counting." }),
    callTool("background", { action: "look" }),
    "I have nothing left to do until the reader is back.",
    "There are 3 errors, all from the same leak.",
  ]),
  background: true, // costs about 120 tokens in a request; without it nothing
  maxConcurrency: 4, // more wait for their turn
  subagents: [
    {
      name: "reader",
      description: "reads logs",
      model: new ScriptedModel([
        () => new Promise((resolve) => setTimeout(() => resolve("All errors come from one leak."), 300)),
      ]),
      timeLimit: 60_000, // at the limit, what it has found so far is its report
      permissions: [{ effect: "deny", operations: ["write", "delete"], paths: "/**" }],
    },
    { name: "counter", description: "counts", model: new ScriptedModel(["There are 3 errors."]) },
  ],
  checkpointer: new MemorySaver(), // with `sqliteSaver` they go on after kill -9
});

const stream = await agent.stream(
  { messages: [{ role: "user", content: "What is wrong?" }] },
  { configurable: { thread_id: "1" }, streamMode: ["custom", "updates"] },
);
for await (const [mode, chunk] of stream as AsyncIterable<[string, unknown]>) {
  if (mode === "custom" && isSubagentEvent(chunk)) console.log(chunk.type, chunk.name);
}

const { values } = await agent.graph.getState({ configurable: { thread_id: "1" } });
for (const { type, text } of (values as { messages: { type: string; text: string }[] }).messages) {
  if (text) console.log(`${type}: ${text}`);
}
