// A server for a graph of your own, by LangGraph's HTTP protocol: the public client runs it, and two users share it.
import { Client } from "@langchain/langgraph-sdk";
import { createDeepAgent, type PlanChangeEvent } from "holdfast";
import { createServer, listen } from "holdfast/server";
import { sqliteSaver } from "holdfast/storage";
import { callTool, ScriptedModel } from "holdfast/testing";

const model = new ScriptedModel([
  callTool("write_todos", { todos: ["Look at the tide", "Write the note"] }),
  [
    callTool("update_todos", { done: "1" }),
    callTool("write_file", { file_path: "/note.md", content: "Low" }),
  ],
  callTool("update_todos", { done: "2" }),
  "The tide is low.",
]);

const users = new Map([
  ["key-of-ann", "ann"],
  ["key-of-ben", "ben"],
]);
const checkpointer = await sqliteSaver(":memory:");
const server = await createServer({
  graphs: { harbour: createDeepAgent({ model }) },
  checkpointer,
  // Who is it? Each user sees their own threads, and no others.
  auth: {
    authenticate: (request) => {
      const id = users.get(request.headers.get("x-api-key") ?? "");
      return id === undefined ? undefined : { id };
    },
  },
});
const { url, close } = await listen(server, { port: 0, hostname: "127.0.0.1" });

const ann = new Client({ apiUrl: url, apiKey: "key-of-ann" });
const ben = new Client({ apiUrl: url, apiKey: "key-of-ben" });
const { thread_id } = await ann.threads.create();
const run = ann.runs.stream(thread_id, "harbour", {
  input: { messages: [{ type: "human", content: "How is the tide?" }] },
  streamMode: ["custom", "messages-tuple"],
});
let answer = "";
for await (const { event, data } of run) {
  if (event === "custom") {
    const { completed, total } = (data as PlanChangeEvent).counts;
    console.log(`plan: ${completed}/${total}`);
  }
  const [piece] = event === "messages" ? data : [];
  if (piece?.type === "ai" && typeof piece.content === "string") answer += piece.content;
}
console.log("answer:", answer);
const { values } = await ann.threads.getState<{ files: object }>(thread_id);
console.log("files:", values.files);
console.log("threads that ann sees:", await ann.threads.count(), "and ben:", await ben.threads.count());

await server.close();
await close();
checkpointer.close();
