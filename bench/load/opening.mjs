// Prints the processor time that a server takes to open a long thread for the page: `node bench/load/opening.mjs [turns]`.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "../../dist/exports/server.js";
import { createDeepAgent } from "../../dist/index.js";
import { sqliteSaver } from "../../dist/storage/index.js";
import { callTool, ScriptedModel } from "../../dist/testing/index.js";

const turns = Number(process.argv[2] ?? 200);
const folder = mkdtempSync(join(tmpdir(), "holdfast-opening-"));
const path = join(folder, "threads.db");

/** Each turn writes a plan, reads a folder, completes the plan and answers. */
let calls = 0;
const steps = [
  () => {
    calls += 1;
    if (calls % 4 === 1) return callTool("write_todos", { todos: [`Look ${calls}`, `Tell ${calls}`] });
    if (calls % 4 === 2) return callTool("ls", { path: "/" });
    if (calls % 4 === 3) return callTool("update_todos", { done: ["1", "2"], note: "by hand" });
    return `Answer ${calls}. ${"Some words of an answer. ".repeat(20)}`;
  },
];

async function open() {
  const saver = await sqliteSaver(path);
  const agent = createDeepAgent({ model: new ScriptedModel(steps, { loop: true }) });
  const server = await createServer({ graphs: { agent }, checkpointer: saver, token: "t", page: true });
  const get = async (route) => {
    const headers = { authorization: "Bearer t", host: "127.0.0.1" };
    const response = await server.fetch(new Request(`http://127.0.0.1${route}`, { headers }));
    return response.json();
  };
  const close = async () => {
    await server.close();
    saver.close();
  };
  return { agent, get, close };
}

const { agent, close } = await open();
for (let turn = 0; turn < turns; turn += 1) {
  const messages = [{ role: "user", content: `Turn ${turn}` }];
  await agent.invoke({ messages }, { configurable: { thread_id: "t" } });
}
await close();
const server = await open();
for (const name of ["first time", "again", "once more"]) {
  const before = process.cpuUsage();
  const { events } = await server.get("/holdfast/threads/t");
  const { user, system } = process.cpuUsage(before);
  const ms = Math.round((user + system) / 1000);
  console.log(`${turns} turns, ${events.length} events, opened ${name}: ${ms} ms of processor time`);
}
await server.close();
rmSync(folder, { recursive: true, force: true });
