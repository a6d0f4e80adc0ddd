// Threads in one SQLite file: they survive the process, and a list of them says how far each one is.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDeepAgent } from "holdfast";
import { sqliteSaver } from "holdfast/storage";
import { callTool, ScriptedModel } from "holdfast/testing";

const folder = await mkdtemp(join(tmpdir(), "holdfast-"));
const path = join(folder, "threads.db");
const config = { configurable: { thread_id: "garden" } };

const before = await sqliteSaver(path);
const first = new ScriptedModel([
  callTool("write_todos", { todos: ["Dig", "Plant"] }),
  new Error("the power goes out"),
]);
await createDeepAgent({ model: first, checkpointer: before })
  .invoke({ messages: [{ role: "user", content: "A garden" }] }, config)
  .catch((error: unknown) => console.log(String(error)));
before.close();

const after = await sqliteSaver(path);
console.log(await after.listThreads());
const second = new ScriptedModel([callTool("update_todos", { done: "1,2", note: "by hand" }), "Planted."]);
const { todos } = await createDeepAgent({ model: second, checkpointer: after }).invoke(null as never, config);
console.log(todos.map((todo) => `${todo.content}: ${todo.status}`).join(", "));
console.log((await after.getThread("garden"))?.state);
after.close();
await rm(folder, { recursive: true });
