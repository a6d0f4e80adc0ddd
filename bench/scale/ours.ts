import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@langchain/langgraph-sdk";
import { takeThreads } from "../../attack/takeovers.ts";
import {
  cpuOf,
  task,
  TestCluster,
  until,
  type Effect,
  type Task,
} from "../../test/helpers/cluster/cluster.ts";
import type { PostgresServer } from "../../test/helpers/postgres/server.ts";
import { spreadOf } from "../time/statistics.ts";
import { newDatabase, quantile, type ScaleFigures, type ScaleSizes } from "./figures.ts";

export interface Measured {
  server: PostgresServer;
  sizes: ScaleSizes;
  seed: number;
  progress: (text: string) => void;
}

/** `createServer` and `createWorker` on one database, the workers in processes of their own. */
export async function measureOurs({ server, sizes, seed, progress }: Measured): Promise<ScaleFigures> {
  const on = async <T>(work: (cluster: TestCluster, client: Client) => Promise<T>): Promise<T> => {
    const cluster = await TestCluster.on(await newDatabase(server));
    try {
      return await work(cluster, await cluster.server());
    } finally {
      await cluster.close();
    }
  };
  progress("kill -9 and SIGSTOP");
  const killed = await on((cluster, client) => takeovers(cluster, client, "SIGKILL", sizes.takeovers));
  const stopped = await on((cluster, client) => takeovers(cluster, client, "SIGSTOP", sizes.takeovers));
  progress(`${sizes.stale} forced takeovers`);
  const { failures: stale } = await takeThreads(await newDatabase(server), { tries: sizes.stale, seed });
  progress("nothing to do");
  const idle = await on((cluster) => idleFigures(cluster));
  progress("send, stop and stream");
  const live = await on((cluster, client) => liveFigures(cluster, client, sizes));
  progress("SIGTERM");
  const deploy = await on((cluster, client) => deployed(cluster, client));
  progress("a restart of the database");
  const restart = await on((cluster, client) => restarted(cluster, client, server));
  progress(`${sizes.cpuRuns} runs on 1 worker, and as many on each of 4`);
  const cpu = async (workers: number): Promise<number> => {
    const runs = workers * sizes.cpuRuns;
    const done = await on((cluster, client) =>
      crowd(cluster, client, { workers, threads: runs, warm: runs }),
    );
    return done.cpuPerRun;
  };
  const [cpuPerRun, cpuPerRunOfFour] = [await cpu(1), await cpu(4)];
  progress(`${sizes.threads} threads on 2 workers`);
  const many = await on((cluster, client) =>
    crowd(cluster, client, { workers: 2, threads: sizes.threads, runs: 2, turns: CROWD_TURNS }),
  );
  return {
    killed: spreadOf(killed.seconds).median,
    stopped: spreadOf(stopped.seconds).median,
    repeatedByTakeover: Math.max(...killed.repeated, ...stopped.repeated),
    untold: killed.untold + stopped.untold,
    stale,
    ...idle,
    ...live,
    deployRepeats: deploy,
    restartLost: restart,
    crowdSeconds: many.seconds,
    crowdTakeovers: many.takeovers,
    crowdRepeats: many.repeats,
    crowdDisorder: many.disorder,
    cpuPerRun,
    cpuPerRunOfFour,
  };
}

/** How long it takes until the call that a lost worker was at is begun elsewhere, and what that repeats. */
async function takeovers(cluster: TestCluster, client: Client, signal: NodeJS.Signals, tries: number) {
  const workers = new Map<string, Awaited<ReturnType<TestCluster["worker"]>>>();
  const found = { seconds: [] as number[], repeated: [] as number[], untold: 0 };
  const start = async (name: string) => void workers.set(name, await cluster.worker(name));
  await Promise.all([start("first"), start("second")]);
  for (let at = 0; at < tries; at += 1) {
    const id = `t${at}`;
    const { thread_id: thread } = await client.threads.create();
    const input = task({ id, turns: 3, gates: { 1: id } });
    const { run_id: run } = await client.runs.create(thread, "agent", { input });
    const calls = async (is: (one: Effect) => boolean) =>
      (await cluster.effects(thread)).filter((one) => one.phase === "begin" && is(one));
    const { worker: name } = await until(async () => (await calls(({ call }) => call === `${id}-1`))[0]);
    const began = Date.now();
    workers.get(name)!.process.kill(signal);
    const next = await until(
      async () => (await calls(({ call, worker }) => call === `${id}-1` && worker !== name))[0],
    );
    found.seconds.push((next.at - began) / 1000);
    workers.get(name)!.process.kill("SIGKILL");
    await cluster.open(id);
    await client.runs.join(thread, run);
    const all = await calls(() => true);
    found.repeated.push(all.length - 3);
    found.untold += all.filter(({ again }) => !again).length - 3;
    workers.delete(name);
    if (at + 1 < tries) await start(`${name} ${at}`);
  }
  return found;
}

/** What is asked of the database while nothing is asked for. */
async function idleFigures(cluster: TestCluster) {
  const perSecond = async (): Promise<number> => {
    const count = async (): Promise<number> => {
      const said = "SELECT xact_commit AS n FROM pg_stat_database WHERE datname = current_database()";
      return Number((await cluster.pool.query<{ n: string }>(said)).rows[0]!.n);
    };
    // Counts are a second old at most.
    await sleep(2000);
    const before = await count();
    await sleep(IDLE_MS);
    return ((await count()) - before) / (IDLE_MS / 1000);
  };
  const idleServer = await perSecond();
  await cluster.worker("one");
  return { idleServer, idleWorker: (await perSecond()) - idleServer };
}

const IDLE_MS = 10_000;

/** From a request to the start, from a cancel to the signal of the graph, and from what is said to who reads it. */
export async function liveFigures(cluster: TestCluster, client: Client, sizes: ScaleSizes) {
  await cluster.worker("one", { SLOTS: "40" });
  const other = await cluster.server();
  const marked = async (call: string, phase: string) =>
    (await cluster.effects("")).find((one) => one.call === call && one.phase === phase);
  const [starts, stops]: [number[], number[]] = [[], []];
  for (let at = 0; at < sizes.probes; at += 1) {
    const { thread_id: thread } = await client.threads.create();
    const sent = Date.now();
    const input = { id: `p${at}`, count: 1e6, every: 50 };
    const { run_id: run } = await client.runs.create(thread, "speaker", { input });
    starts.push((await until(() => marked(`p${at}`, "start"))).at - sent);
    const asked = Date.now();
    await client.runs.cancel(thread, run, true);
    stops.push((await until(() => marked(`p${at}`, "stop"))).at - asked);
  }
  const speakers = await Promise.all(
    Array.from({ length: SPEAKERS }, async (_, at) => {
      const { thread_id: thread } = await client.threads.create();
      const input = { id: `s${at}`, count: sizes.eventsEach, every: SPEAKERS / (EVENTS_PER_SECOND / 1000) };
      return { thread, run: (await client.runs.create(thread, "speaker", { input })).run_id };
    }),
  );
  const delays: number[] = [];
  let gaps = 0;
  await Promise.all([
    ...speakers.map(async (speaker) => {
      for await (const { at: said, seen } of heard(client, speaker)) delays.push(seen - said);
    }),
    // Some have a second reader, who goes in the middle and comes back to another server.
    ...speakers.slice(0, 4).map(async (speaker) => {
      const all: number[] = [];
      let last = "0";
      for await (const { n, id } of heard(client, speaker)) {
        all.push(n);
        last = id;
        if (all.length >= sizes.eventsEach / 2) break;
      }
      for await (const { n } of heard(other, speaker, last)) all.push(n);
      gaps += all.filter((n, place) => n !== place).length + Math.abs(sizes.eventsEach - all.length);
    }),
  ]);
  return {
    start: spreadOf(starts).median,
    cancel: spreadOf(stops).median,
    eventDelay: quantile(delays, 0.95),
    eventGaps: gaps,
  };
}

/** What a reader of a run hears from an event on. */
async function* heard(client: Client, { thread, run }: { thread: string; run: string }, lastEventId = "0") {
  const options = { lastEventId, streamMode: ["custom" as const] };
  for await (const { id = "", event, data } of client.runs.joinStream(thread, run, options)) {
    if (event !== "custom") continue;
    const { n, at } = data as unknown as { n: number; at: number };
    yield { n, at, id, seen: Date.now() };
  }
}

export const SPEAKERS = 20;
export const EVENTS_PER_SECOND = 2000;

/** How many calls are repeated when a worker at ten runs is told to end. */
async function deployed(cluster: TestCluster, client: Client): Promise<number> {
  const old = await cluster.worker("old");
  const started = await startAll(client, 10, { turns: 3, gates: { 1: "go" } });
  await until(async () => (await begins(cluster)).filter(({ call }) => call.endsWith("-1")).length === 10);
  await cluster.worker("new");
  old.process.kill("SIGTERM");
  const draining = "SELECT 1 FROM holdfast.workers WHERE state = 'draining'";
  await until(async () => (await cluster.pool.query(draining)).rowCount === 1);
  await cluster.open("go");
  await old.ended;
  for (const { thread, run } of started) await client.runs.join(thread, run);
  return (await begins(cluster)).length - 30;
}

/** How many of 50 runs are not finished as they should be after a restart of the database. */
async function restarted(cluster: TestCluster, client: Client, server: PostgresServer): Promise<number> {
  await cluster.worker("one", { SLOTS: "50" });
  const started = await startAll(client, 50, { turns: 2, gates: { 0: "go" } });
  await until(async () => (await begins(cluster)).length === 50);
  await server.restart();
  await cluster.open("go");
  let lost = 0;
  for (const { thread, run } of started) {
    const { status } = await until(async () => {
      const found = await client.runs.get(thread, run);
      return found.status !== "pending" && found.status !== "running" && found;
    });
    const { values } = await client.threads.getState<{ messages: { type: string }[] }>(thread);
    const types = values.messages.map(({ type }) => type).join();
    if (status !== "success" || types !== "human,ai,tool,ai,tool,ai") lost += 1;
  }
  return lost;
}

/** Runs on many threads at once. */
async function crowd(
  cluster: TestCluster,
  client: Client,
  {
    workers: count,
    threads,
    runs = 1,
    turns = TURNS,
    warm = 20 * count,
  }: { workers: number; threads: number; runs?: number; turns?: number; warm?: number },
) {
  const names = Array.from({ length: count }, (_, at) => `w${at}`);
  const workers = await Promise.all(names.map((name) => cluster.worker(name, { SLOTS: "50" })));
  const isIdle = async () =>
    (await cluster.pool.query("SELECT FROM holdfast.jobs WHERE status IN ('pending', 'running') LIMIT 1"))
      .rowCount === 0;
  // What is loaded and compiled with the first runs is no part of a run.
  await startAll(client, warm, { turns }, "warm");
  await until(isIdle);
  const before = await Promise.all(workers.map(cpuOf));
  const began = performance.now();
  for (let run = 0; run < runs; run += 1) await startAll(client, threads, { turns }, `r${run}`);
  await until(isIdle);
  const seconds = (performance.now() - began) / 1000;
  const after = await Promise.all(workers.map(cpuOf));
  const cpu = after.reduce((sum, one, at) => sum + one - before[at]!, 0);
  const wanted = Array.from({ length: runs }, (_, run) => callsOf(`r${run}`, turns)).flat();
  const done = await begins(cluster);
  let [repeats, disorder] = [0, 0];
  for (let at = 0; at < threads; at += 1) {
    const calls = done
      .filter(({ thread }) => thread === `r${at}`)
      .map(({ call }) => call.slice(call.indexOf(" ") + 1));
    repeats += Math.max(0, calls.length - wanted.length);
    if (calls.join() !== wanted.join()) disorder += 1;
  }
  const again = await cluster.pool.query(
    "SELECT FROM holdfast.jobs WHERE attempt > 1 OR status <> 'success'",
  );
  return { seconds, cpuPerRun: cpu / (threads * runs), repeats, disorder, takeovers: again.rowCount ?? 0 };
}

export const TURNS = 5;
export const CROWD_TURNS = 2;

const callsOf = (id: string, turns: number): string[] =>
  Array.from({ length: turns }, (_, n) => `${id}-${n}`);

/** Starts a run on each of so many threads, and on the same threads those that are to follow. */
async function startAll(client: Client, count: number, given: Omit<Task, "id">, run = "r0") {
  const started: { thread: string; run: string }[] = [];
  const kind = run.replace(/\d+$/, "");
  for (let at = 0; at < count; at += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - at) }, async (_, place) => {
      const thread = `${kind}${at + place}`;
      const input = task({ ...given, id: `${thread} ${run}` });
      const options = { input, multitaskStrategy: "enqueue" as const, ifNotExists: "create" as const };
      return { thread, run: (await client.runs.create(thread, "agent", options)).run_id };
    });
    started.push(...(await Promise.all(some)));
  }
  return started;
}

const AT_ONCE = 20;

async function begins(cluster: TestCluster): Promise<Effect[]> {
  return (await cluster.effects()).filter(({ phase }) => phase === "begin");
}
