import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { DBOSClient } from "@dbos-inc/dbos-sdk";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { cpuOf, TestCluster, until, type Started } from "../../test/helpers/cluster/cluster.ts";
import { spreadOf } from "../time/statistics.ts";
import { newDatabase, quantile, type ScaleFigures, type ScaleSizes } from "./figures.ts";
import { CROWD_TURNS, EVENTS_PER_SECOND, SPEAKERS, TURNS, type Measured } from "./ours.ts";

const PROGRAM = join(import.meta.dirname, "peer.mjs");

/** As long as a peer is waited for to go on with the work of another process. */
const PATIENCE_MS = 15_000;

/** A plain workflow of DBOS, with its own queue, recovery and streams. */
export async function measureDbos({ server, sizes, progress }: Measured): Promise<ScaleFigures> {
  const cluster = await TestCluster.on(await newDatabase(server));
  const start = (name: string): Promise<Started> => cluster.worker(name, { KIND: "dbos" }, PROGRAM);
  try {
    progress("a plain DBOS workflow: 1 worker");
    const first = await start("first");
    const client = await DBOSClient.create({
      systemDatabaseUrl: cluster.url,
      applicationName: "peer",
      logger: SILENT,
    });
    const enqueue = async (workflowName: string, given: object): Promise<string> => {
      const workflowID = randomUUID();
      await client.enqueue({ workflowName, queueName: "runs", workflowID, appVersion: "1" }, given);
      return workflowID;
    };
    const runs = async (count: number, id: string, turns = TURNS): Promise<number> => {
      const began = performance.now();
      const ids: string[] = [];
      for (let at = 0; at < count; at += 1) ids.push(await enqueue("run", { id: `${id}${at}`, turns }));
      for (const one of ids) await client.retrieveWorkflow(one).getResult();
      return (performance.now() - began) / 1000;
    };
    await runs(sizes.cpuRuns, "warm");
    const cpuPerRun = await cpuFor([first], sizes.cpuRuns, (count) => runs(count, "one"));
    progress("a plain DBOS workflow: send and stream");
    const starts: number[] = [];
    for (let at = 0; at < sizes.probes; at += 1) {
      const sent = Date.now();
      await enqueue("speak", { id: `p${at}`, count: 0, every: 1 });
      const { at: begun } = await until(async () =>
        (await cluster.effects("")).find(({ call }) => call === `p${at}`),
      );
      starts.push(begun - sent);
    }
    const delays: number[] = [];
    await Promise.all(
      Array.from({ length: SPEAKERS }, async (_, at) => {
        const every = SPEAKERS / (EVENTS_PER_SECOND / 1000);
        const id = await enqueue("speak", { id: `s${at}`, count: sizes.eventsEach, every });
        for await (const { at: said } of client.readStream<{ at: number }>(id, "events"))
          delays.push(Date.now() - said);
      }),
    );
    progress("a plain DBOS workflow: kill -9");
    const begun = async (is: (worker: string) => boolean) =>
      (await cluster.effects()).find(({ call, worker }) => call === "gate-1" && is(worker));
    await enqueue("run", { id: "gate", turns: 2, gates: { 1: "gate" } });
    await until(() => begun((worker) => worker === "first"));
    const others = await Promise.all(["w2", "w3", "w4", "w5"].map(start));
    const began = Date.now();
    first.process.kill("SIGKILL");
    const next = await until(async () => {
      const found = await begun((worker) => worker !== "first");
      return found?.at ?? (Date.now() - began > PATIENCE_MS && Infinity);
    });
    progress(`a plain DBOS workflow: 4 workers, and ${sizes.threads * 2} runs on 2`);
    await runs(others.length * sizes.cpuRuns, "warm four");
    const cpuPerRunOfFour = await cpuFor(others, sizes.cpuRuns, (count) => runs(count, "four"));
    for (const { process: child, ended } of others.slice(2)) {
      child.kill("SIGTERM");
      await ended;
    }
    const crowdSeconds = await runs(sizes.threads * 2, "crowd", CROWD_TURNS);
    await client.destroy();
    return {
      killed: (next - began) / 1000,
      start: spreadOf(starts).median,
      eventDelay: quantile(delays, 0.95),
      cpuPerRun,
      cpuPerRunOfFour,
      crowdSeconds,
    };
  } finally {
    await cluster.close();
  }
}

/** LangGraph's own saver has no queue: nobody goes on with what a killed process was at, and nobody is kept from writing. */
export async function measureSaver({ server, sizes, progress }: Measured): Promise<ScaleFigures> {
  progress("the official Postgres saver");
  const cluster = await TestCluster.on(await newDatabase(server));
  try {
    const cpu = async (names: readonly string[]): Promise<number> => {
      const workers = await Promise.all(
        names.map((name) => cluster.worker(name, { KIND: "saver" }, PROGRAM)),
      );
      await runAll(workers, workers.length * sizes.cpuRuns, `warm ${names.length} `);
      return cpuFor(workers, sizes.cpuRuns, (count) => runAll(workers, count, `of ${names.length} `));
    };
    const cpuPerRun = await cpu(["one"]);
    const cpuPerRunOfFour = await cpu(["w2", "w3", "w4", "w5"]);
    return {
      cpuPerRun,
      cpuPerRunOfFour,
      stale: await staleWrites(cluster.url, sizes),
      killed: Infinity,
      stopped: Infinity,
    };
  } finally {
    await cluster.close();
  }
}

/** Runs on fresh threads, so many at a time in each process as our workers have slots. */
async function runAll(workers: readonly Started[], count: number, id: string): Promise<void> {
  let next = 0;
  for (const { process: child } of workers) child.setMaxListeners(100);
  const one = async ({ process: child }: Started): Promise<void> => {
    while (next < count) {
      const thread = `${id}${next++}`;
      const done = new Promise<void>((resolve) => {
        const hear = (message: { done?: string }): void => {
          if (message.done !== thread) return;
          child.off("message", hear);
          resolve();
        };
        child.on("message", hear);
      });
      child.send({ thread, given: { id: thread, turns: TURNS } });
      await done;
    }
  };
  await Promise.all(
    workers.flatMap((worker) => Array.from({ length: 50 / workers.length }, () => one(worker))),
  );
}

/** Milliseconds of processor time for one of so many runs per worker. */
async function cpuFor(
  workers: readonly Started[],
  each: number,
  work: (runs: number) => Promise<unknown>,
): Promise<number> {
  const runs = each * workers.length;
  const before = await Promise.all(workers.map(cpuOf));
  await work(runs);
  const after = await Promise.all(workers.map(cpuOf));
  return after.reduce((sum, one, at) => sum + one - before[at]!, 0) / runs;
}

const PACKAGE: string = "@langchain/langgraph-checkpoint-postgres";

interface Saver {
  setup: () => Promise<void>;
  put: (config: object, checkpoint: object, metadata: object, versions: object) => Promise<object>;
  end: () => Promise<void>;
}

/** How many writes of one process are accepted after another has gone on with the thread. */
async function staleWrites(url: string, { stale: tries }: ScaleSizes): Promise<number> {
  const { PostgresSaver } = (await import(PACKAGE)) as {
    PostgresSaver: { fromConnString: (url: string) => Saver };
  };
  const savers = [PostgresSaver.fromConnString(url), PostgresSaver.fromConnString(url)] as const;
  await savers[0].setup();
  const config = { configurable: { thread_id: "t", checkpoint_ns: "" } };
  const put = (saver: Saver, step: number): Promise<object> =>
    saver.put(config, emptyCheckpoint(), { source: "loop", step, parents: {} }, {});
  let accepted = 0;
  for (let at = 0; at < tries; at += 1) {
    const [former, taker] = at % 2 === 0 ? savers : [savers[1], savers[0]];
    await put(taker, at);
    accepted += await put(former, at).then(
      () => 1,
      () => 0,
    );
  }
  for (const saver of savers) await saver.end();
  return accepted;
}

const nothing = (): void => {};
const SILENT = { info: nothing, debug: nothing, warn: nothing, error: nothing };
