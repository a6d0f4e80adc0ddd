import { planMiddleware } from "holdfast/middleware";
// LangChain's own agent on Holdfast's page: the server needs a checkpointer of ours, and `page: true`.
import { createServer, listen } from "holdfast/server";
import { sqliteSaver } from "holdfast/storage";
import { callTool, ScriptedModel } from "holdfast/testing";
import { createAgent } from "langchain";

const model = new ScriptedModel([
  callTool("write_todos", { todos: ["Count the boats", "Count the nets"] }),
  callTool("update_todos", { done: "1: there are three" }),
  callTool("update_todos", { done: "2: there are two" }),
  "Three boats, two nets.",
]);
const agent = createAgent({ model, tools: [], middleware: [planMiddleware()] });

const checkpointer = await sqliteSaver(":memory:");
const server = await createServer({ graphs: { counter: agent }, checkpointer, page: true });
const { url, close } = await listen(server, { port: 0, hostname: "127.0.0.1" });
console.log("a browser would open", `${url}/#token=…`);

// Requests of the page, in the place of a browser.
const request = async (path: string, init?: RequestInit) => {
  const headers = { authorization: `Bearer ${server.token!}`, "content-type": "application/json" };
  return (await fetch(`${url}${path}`, { ...init, headers })).json() as Promise<Opened>;
};
interface Opened {
  thread: { id: string; status: string; todos: { done: number; total: number } };
}

let { thread } = await request("/holdfast/threads", { method: "POST", body: '{"task":"Count them"}' });
while (thread.status === "running") ({ thread } = await request(`/holdfast/threads/${thread.id}`));
console.log(thread.status, `${thread.todos.done}/${thread.todos.total}`);

await server.close();
await close();
checkpointer.close();
