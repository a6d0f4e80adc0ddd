// A server and a worker that share a database: the server takes runs, the worker does them. More of both may be started
// on any machine; `holdfast serve` and `holdfast worker` do the same for the threads of the command line.
import { Client } from "@langchain/langgraph-sdk";
import { createDeepAgent } from "holdfast";
import { createServer, createWorker, listen } from "holdfast/server";
import { callTool, ScriptedModel } from "holdfast/testing";
import { startPostgres } from "../test/helpers/postgres/server.ts";

// HOLDFAST_DATABASE_URL=postgres://user:password@host/database uses yours; else one is started for the example.
const given = process.env["HOLDFAST_DATABASE_URL"];
const postgres = given === undefined ? await startPostgres() : undefined;
const database = given ?? postgres!.url;

const model = new ScriptedModel(
  [callTool("write_file", { file_path: "/note.md", content: "Low" }), "The tide is low."],
  { loop: true },
);
// Each has graphs of its own, as it would in a process of its own.
const graphs = () => ({ harbour: createDeepAgent({ model, plan: false }) });

const server = await createServer({ graphs: graphs(), database });
const worker = await createWorker({ graphs: graphs(), database, slots: 4, limits: { "tenant:*": 2 } });
const { url, close } = await listen(server, { port: 0, hostname: "127.0.0.1" });
const client = new Client({ apiUrl: url, apiKey: server.token! });

const ask = (content: string) => ({ messages: [{ type: "human", content }] });
const { thread_id: thread } = await client.threads.create();
await client.runs.create(thread, "harbour", { input: ask("How is the tide?") });
const { run_id: run } = await client.runs.create(thread, "harbour", {
  input: ask("And now?"),
  multitaskStrategy: "enqueue",
});
await client.runs.join(thread, run);
const runs = await client.runs.list(thread);
console.log(runs.map(({ status }) => status).join(", "));

const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${server.token}` } });
console.log(
  (await metrics.text())
    .split("\n")
    .filter((line) => /^holdfast_(workers|runs)/.test(line))
    .join("\n"),
);

await worker.close();
await server.close();
await close();
await postgres?.stop();
