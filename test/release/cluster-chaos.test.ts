import { afterEach, expect, it } from "vitest";
import { chaos } from "../helpers/cluster/chaos.ts";
import { task, TestCluster, until } from "../helpers/cluster/cluster.ts";
import { newDatabase } from "../helpers/postgres/database.ts";
import { startPostgres, type PostgresServer } from "../helpers/postgres/server.ts";
import { rounds } from "../helpers/runner/rounds.ts";
import { seed } from "../helpers/runner/seed.ts";

let cluster: TestCluster;
let own: PostgresServer | undefined;

afterEach(async () => {
  await cluster.close();
  await own?.stop();
  own = undefined;
});

it("each run has one result, in order, when workers are killed, stopped and cut off", async () => {
  cluster = await TestCluster.on(await newDatabase());
  const options = { threads: 3, runsPerThread: 2, turns: 3, blows: 2, seed };
  expect(await chaos(cluster, options), `seed ${seed}`).toEqual([]);
});

it("runs wait for a database that restarts, and all of them finish", async () => {
  own = await startPostgres();
  cluster = await TestCluster.on(own.url);
  const [client] = await Promise.all([cluster.server(), cluster.worker("one", { SLOTS: String(RUNS) })]);
  const started = await Promise.all(
    Array.from({ length: RUNS }, async (_, at) => {
      const { thread_id: thread } = await client.threads.create();
      const input = task({ id: `r${at}`, turns: 2, gates: { 0: "go" } });
      const { run_id: run } = await client.runs.create(thread, "agent", { input });
      return { thread, run, at };
    }),
  );
  const waiting = async () => (await cluster.effects()).filter(({ call }) => call.endsWith("-0")).length;
  await until(async () => (await waiting()) === RUNS);
  await own.restart();
  await cluster.open("go");
  for (const { thread, run, at } of started) {
    await until(async () => (await client.runs.get(thread, run)).status === "success");
    const { values } = await client.threads.getState<{ messages: { type: string; content: string }[] }>(
      thread,
    );
    expect(values.messages.map(({ type }) => type).join()).toBe("human,ai,tool,ai,tool,ai");
    expect(values.messages.at(-1)?.content).toBe(`done r${at}`);
  }
});

const RUNS = rounds(50);
