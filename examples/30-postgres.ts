// Threads in Postgres: processes on many machines share them, and a run whose thread was taken over cannot write.
import { createDeepAgent } from "holdfast";
import { LEASE, postgresSaver } from "holdfast/storage";
import { callTool, ScriptedModel } from "holdfast/testing";
import { startPostgres } from "../test/helpers/postgres/server.ts";

// HOLDFAST_DATABASE_URL=postgres://user:password@host/database uses yours; else one is started for the example.
const given = process.env["HOLDFAST_DATABASE_URL"];
const server = given === undefined ? await startPostgres() : undefined;
const url = given ?? server!.url;
const thread = `garden-${Date.now()}`;

// One process works on the thread, and hangs.
const first = await postgresSaver(url);
const held = await first.acquireThread(thread);
const config = { configurable: { thread_id: thread, [LEASE]: held.token } };
const model = new ScriptedModel([
  callTool("write_todos", { todos: ["Dig", "Plant"] }),
  new Error("it hangs here"),
]);
await createDeepAgent({ model, checkpointer: first })
  .invoke({ messages: [{ role: "user", content: "A garden" }] }, config)
  .catch((error: unknown) => console.log(String(error)));

// Another one knows better, takes the thread and goes on where it stopped.
const second = await postgresSaver(url);
console.log((await second.getThread(thread))?.state);
const taken = await second.acquireThread(thread, { force: true });
const more = new ScriptedModel([callTool("update_todos", { done: "1,2", note: "by hand" }), "Planted."]);
const { todos } = await createDeepAgent({ model: more, checkpointer: second }).invoke(null as never, {
  configurable: { thread_id: thread, [LEASE]: taken.token },
});
console.log(todos.map((todo) => `${todo.content}: ${todo.status}`).join(", "));

// The first one wakes up: what it writes is refused, in the statement that would write it.
await createDeepAgent({ model: new ScriptedModel(["Too late."]), checkpointer: first })
  .invoke({ messages: [{ role: "user", content: "Where was I?" }] }, config)
  .catch((error: unknown) => console.log(String(error)));

await taken();
await second.deleteThread(thread);
await Promise.all([first.close(), second.close()]);
await server?.stop();
