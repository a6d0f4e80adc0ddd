import { afterAll, beforeAll, expect, it } from "vitest";
import { createDeepAgent } from "../../src/deep/index.ts";
import { hostedGraphs } from "../../src/surfaces/server/graphs.ts";
import { ScriptedModel } from "../../src/testing/index.ts";
import { Publisher } from "../../src/threads/cluster/feed/publisher.ts";
import { clusterHost, openCluster, type Cluster } from "../../src/threads/cluster/index.ts";
import { QUEUE } from "../../src/threads/cluster/queue/jobs.ts";
import type { Run } from "../../src/threads/host/hosted-run.ts";
import type { HostEvent } from "../../src/threads/host/stream/live-events.ts";
import { ask, newDatabase } from "../helpers/postgres/database.ts";

type Host = ReturnType<typeof clusterHost>;

const WORKER = "one";
let clusters: [Cluster, Cluster];
let hosts: [Host, Host];
let publisher: Publisher;

beforeAll(async () => {
  const url = await newDatabase();
  clusters = [await openCluster(url), await openCluster(url)];
  hosts = clusters.map(hostOn) as [Host, Host];
  publisher = new Publisher(clusters[0].db, WORKER);
  await ask(
    url,
    `INSERT INTO holdfast.workers (id, state, host, pid, version, slots, queues, beat)
     VALUES ('${WORKER}', 'working', '', 1, '1', 9, '{}', now() + interval '1 hour')`,
  );
});
afterAll(async () => {
  for (const host of hosts) await host.stop();
  for (const cluster of clusters) await cluster.close();
});

/** A server's part of a cluster. */
function hostOn(cluster: Cluster): Host {
  const agent = createDeepAgent({ model: new ScriptedModel([]), plan: false });
  const { store: checkpointer, memories: store } = cluster;
  return clusterHost(cluster, hostedGraphs("test", { agent }, { checkpointer, store }));
}

/** A run of a thread that says something, as a worker does it. */
async function run(thread: string, words: string): Promise<string> {
  const [host] = hosts;
  const { id, done } = await host.start(thread, { graph: "agent", input: { messages: words } });
  const job = await host.jobs.claim(thread, { worker: WORKER, queues: [QUEUE], limits: {} });
  const stream = await publisher.open(job!, () => {});
  const params = { namespace: [], timestamp: 0, data: words };
  stream.push({ kind: "begin", head: undefined });
  stream.push({ kind: "chunk", chunk: { namespace: [], mode: "values", payload: words } });
  stream.push({ kind: "protocol", event: { method: "values", params } });
  stream.push({
    kind: "event",
    event: { type: "text", version: 1, at: 0, thread, owner: "main", text: words },
  });
  stream.push({ kind: "end", status: "success", result: undefined });
  await publisher.close(stream);
  await host.jobs.end(job!, "success");
  await done;
  return id;
}

const saidIn = async (host: Host, thread: string): Promise<unknown[]> =>
  (await host.protocol(thread)).since(0).map((entry) => "event" in entry && entry.event.params.data);

/** Reads the events of a host up to one that is waited for. */
async function heard(host: Host, after: number, isLast: (event: HostEvent) => boolean): Promise<HostEvent[]> {
  const found: HostEvent[] = [];
  for await (const entries of host.events.read(after))
    for (const entry of entries) {
      if ("gap" in entry) continue;
      found.push(entry.event);
      if (isLast(entry.event)) return found;
    }
  return found;
}

it("a new thread with a deleted thread's name shows none of its text on any server", async () => {
  const [one, other] = hosts;
  await one.noteThread("tide", { owner: "ann" });
  await run("tide", "of ann");
  for (const host of hosts) expect(await saidIn(host, "tide")).toEqual(["of ann"]);
  await one.remove("tide");
  await other.noteThread("tide", { owner: "bob" });
  // Whether it has heard of it or not.
  expect(await saidIn(other, "tide")).toEqual([]);
  expect(await saidIn(one, "tide")).toEqual([]);
  expect(await ask(clusters[0].db.url, "SELECT FROM holdfast.events WHERE thread = 'tide'")).toEqual([]);
});

it("a new thread with the name of a thread for one run shows none of its text", async () => {
  const [one, other] = hosts;
  await one.noteThread("foam", { owner: "ann" });
  await run("foam", "of ann");
  // As a worker does.
  await clusters[0].store.deleteThread("foam");
  await one.jobs.forget("foam", { keepsEvents: true });
  await one.noteThread("foam", { owner: "bob" });
  for (const host of [one, other]) expect(await saidIn(host, "foam")).toEqual([]);
});

it("every server learns of a deleted thread, and no reader continues into the next", async () => {
  const [one, other] = hosts;
  await one.noteThread("ebb", { owner: "ann" });
  const log = await other.protocol("ebb");
  const read: unknown[] = [];
  const reading = (async () => {
    for await (const entries of log.read(0))
      for (const entry of entries) read.push("event" in entry && entry.event.params.data);
  })();
  await run("ebb", "of ann");
  const { last } = other.events;
  await one.remove("ebb");
  await one.noteThread("ebb", { owner: "bob" });
  await reading;
  expect(read).toEqual(["of ann"]);
  await other.protocol("ebb");
  const bobs = await run("ebb", "of bob");
  const events = await heard(other, last, (event) => event.kind === "run" && event.event.run === bobs);
  expect(events).toContainEqual({ kind: "removed", thread: "ebb", owner: "ann" });
  expect(events.at(-1)).toMatchObject({ kind: "run", owner: "bob", event: { text: "of bob" } });
});

it("a server that could not hear of a deletion finds it out when it hears again", async () => {
  const [one, other] = hosts;
  await one.noteThread("calm", { owner: "ann" });
  const log = await other.protocol("calm");
  const { last } = other.events;
  const isGone = heard(other, last, ({ kind, thread }) => kind === "removed" && thread === "calm");
  const { store } = clusters[0];
  await store.deleteThread("calm");
  const { url } = clusters[0].db;
  await ask(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  expect((await isGone).at(-1)).toMatchObject({ owner: "ann" });
  expect(await other.protocol("calm")).not.toBe(log);
});

it("only one of two users on two servers gets a new name; the other's run is dropped", async () => {
  const [one, other] = hosts;
  const request = { graph: "agent", input: { messages: "Look" }, strategy: "enqueue" } as const;
  const both = await Promise.allSettled([
    one.start("neap", request, { note: { owner: "ann" } }),
    other.start("neap", request, { note: { owner: "bob" } }),
  ]);
  const [refused] = both.flatMap((end) => (end.status === "rejected" ? [end.reason as unknown] : []));
  expect(refused).toMatchObject({ code: "not-found" });
  expect(await one.ledger.runs("neap")).toHaveLength(1);
});

it("the host keeps only the newest finished runs of a thread, and not indefinitely", async () => {
  const [host] = hosts;
  const request = { graph: "agent", input: { messages: "Look" }, strategy: "enqueue" } as const;
  const runs: Run[] = [];
  for (let n = 0; n < 105; n += 1) runs.push(await host.start("spring", request));
  const { url } = clusters[0].db;
  await ask(url, "UPDATE holdfast.jobs SET status = 'success' WHERE thread = 'spring'");
  await ask(url, "SELECT pg_notify('holdfast_ended', 'spring')");
  await Promise.all(runs.map(({ done }) => done));
  const kept = await Promise.all(runs.map(async (one) => (await host.run(one.id)) === one));
  expect(kept).toEqual(runs.map((_, at) => at >= 5));
});
