import { afterAll, beforeAll, expect, it } from "vitest";
import { createDeepAgent } from "../../src/deep/index.ts";
import { hostedGraphs } from "../../src/surfaces/server/graphs.ts";
import { createServer, createWorker } from "../../src/surfaces/server/index.ts";
import { ScriptedModel } from "../../src/testing/index.ts";
import { clusterHost, openCluster, type Cluster } from "../../src/threads/cluster/index.ts";
import { ask, newDatabase } from "../helpers/postgres/database.ts";
import { startPostgres } from "../helpers/postgres/server.ts";

type Host = ReturnType<typeof clusterHost>;

let cluster: Cluster;
const hosts: Host[] = [];

beforeAll(async () => {
  cluster = await openCluster(await newDatabase());
});
afterAll(async () => {
  for (const host of hosts) await host.stop();
  await cluster.close();
});

/** A server's part of a cluster that has no worker. */
function newHost(): Host {
  const agent = createDeepAgent({ model: new ScriptedModel([]), plan: false });
  const { store: checkpointer, memories: store } = cluster;
  const host = clusterHost(cluster, hostedGraphs("test", { agent }, { checkpointer, store }));
  hosts.push(host);
  return host;
}

const request = { graph: "agent", input: { messages: "Look at the tide" } };
const sql = (text: string, values: unknown[] = []) => ask(cluster.db.url, text, values);
const tellEnd = (thread: string) => sql("SELECT pg_notify('holdfast_ended', $1)", [thread]);

it("a run requested between its end and the notice of its end still ends", async () => {
  const host = newHost();
  const run = await host.start("ebb", request);
  await sql("UPDATE holdfast.jobs SET status = 'success' WHERE id = $1", [run.id]);
  expect(await host.run(run.id)).toBe(run);
  await tellEnd("ebb");
  await run.done;
  expect(run.record.status).toBe("success");
});

it("a run that is not in the queue yet is not treated as gone", async () => {
  const host = newHost();
  const first = await host.start("flow", request);
  const holder = await cluster.db.pool.connect();
  await holder.query("SELECT pg_advisory_lock(hashtextextended('flow', 7))");
  const starting = host.start("flow", { ...request, strategy: "enqueue" });
  const isWaiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
  while ((await sql(isWaiting)).length === 0);
  await holder.query("UPDATE holdfast.jobs SET status = 'success' WHERE id = $1", [first.id]);
  await tellEnd("flow");
  await first.done;
  await holder.query("SELECT pg_advisory_unlock_all()");
  holder.release();
  const second = await starting;
  expect(second.isOver).toBe(false);
  expect(await host.run(second.id)).toBe(second);
});

it("a run belongs to the owner of its thread on every server", async () => {
  const [one, other] = [newHost(), newHost()];
  await one.noteThread("calm", { owner: "ann" });
  const { id } = await one.start("calm", request);
  expect((await other.run(id))?.owner).toBe("ann");
});

it("a server and a worker that cannot be built leave no open connection", async () => {
  const database = await newDatabase();
  for (const create of [createServer, createWorker])
    await expect(create({ database, graphs: {} })).rejects.toMatchObject({ code: "invalid-options" });
  const left = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
  while ((await ask(database, left)).length > 0);
});

it("a server is ready while its database answers and it is not told to stop", async () => {
  const own = await startPostgres();
  const away = await openCluster(own.url);
  const agent = createDeepAgent({ model: new ScriptedModel([]), plan: false });
  const graphs = hostedGraphs("test", { agent }, { checkpointer: away.store, store: away.memories });
  const [one, other] = [clusterHost(away, graphs), clusterHost(away, graphs)];
  const readiness: boolean[] = [await one.isReady()];
  await one.stop();
  readiness.push(await one.isReady(), await other.isReady());
  await own.stop();
  readiness.push(await other.isReady());
  expect(readiness).toEqual([true, false, true, false]);
  await other.stop();
  await away.close();
});
