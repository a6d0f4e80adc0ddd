import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, expect, it } from "vitest";
import { task, TestCluster, until, type Started, type Task } from "../helpers/cluster/cluster.ts";
import { newDatabase } from "../helpers/postgres/database.ts";

const OLD = "0.0.9";

let cluster: TestCluster;
let client: Client;
/** The package as it was in another version, with the worker of the tests. */
let old: string;

beforeAll(async () => {
  old = mkdtempSync(join(tmpdir(), "holdfast-old-"));
  cpSync("dist", join(old, "dist"), { recursive: true });
  mkdirSync(join(old, "test/helpers"), { recursive: true });
  cpSync("test/helpers/cluster", join(old, "test/helpers/cluster"), { recursive: true });
  symlinkSync(join(process.cwd(), "node_modules"), join(old, "node_modules"));
  const about = JSON.parse(readFileSync("package.json", "utf8")) as object;
  writeFileSync(join(old, "package.json"), JSON.stringify({ ...about, version: OLD }));
  cluster = await TestCluster.on(await newDatabase());
  client = await cluster.server();
});
afterAll(async () => {
  await cluster.close();
  rmSync(old, { recursive: true });
});

const startOld = (name: string): Promise<Started> =>
  cluster.worker(name, {}, join(old, "test/helpers/cluster/worker.mjs"));

const sql = async (text: string) => (await cluster.pool.query<Record<string, unknown>>(text)).rows;

/** Starts a run and one behind it; resolves when the first waits at its gate in the second call. */
async function atGate(id: string) {
  const { thread_id: thread } = await client.threads.create();
  const start = (given: Task) =>
    client.runs.create(thread, "agent", { input: task(given), multitaskStrategy: "enqueue" });
  const runs = [await start({ id, turns: 3, gates: { 1: id } }), await start({ id: `${id} next`, turns: 1 })];
  await until(async () => (await cluster.effects(thread)).some(({ call }) => call === `${id}-1`));
  return async () => {
    await cluster.open(id);
    const ended: unknown[] = [];
    for (const { run_id: run } of runs) {
      await client.runs.join(thread, run);
      ended.push((await client.runs.get(thread, run)).status);
    }
    const calls = (await cluster.effects(thread)).filter(({ phase }) => phase === "begin");
    return { ended, calls: calls.map(({ call, worker }) => `${call} ${worker}`) };
  };
}

it("old and new versions continue each other's runs, after SIGTERM and after a kill", async () => {
  const first = await startOld("old");
  const termed = await atGate("a");
  const killed = await atGate("b");
  const second = await cluster.worker("new");
  const versions = await sql("SELECT version FROM holdfast.workers ORDER BY version");
  expect(versions).toEqual([{ version: OLD }, { version: expect.not.stringMatching(OLD) as string }]);

  first.process.kill("SIGTERM");
  await until(async () => (await sql("SELECT FROM holdfast.workers WHERE state = 'draining'")).length > 0);
  await cluster.open("a");
  expect((await termed()).calls).toEqual(["a-0 old", "a-1 old", "a-2 new", "a next-0 new"]);
  first.process.kill("SIGKILL");
  const { ended, calls } = await killed();
  expect(ended).toEqual(["success", "success"]);
  expect(calls).toEqual(["b-0 old", "b-1 old", "b-1 new", "b-2 new", "b next-0 new"]);

  // The upgrade is taken back: the old version goes on with what the new one has begun.
  const back = await atGate("c");
  await startOld("old again");
  second.process.kill("SIGKILL");
  const finished = await back();
  expect(finished.ended).toEqual(["success", "success"]);
  expect(finished.calls.slice(-2)).toEqual(["c-2 old again", "c next-0 old again"]);

  // DBOS would keep the turns of a version for workers of that version.
  expect(await sql("SELECT DISTINCT application_version AS one FROM dbos.workflow_status")).toHaveLength(1);
  const open = "SELECT FROM dbos.workflow_status WHERE status IN ('ENQUEUED', 'PENDING')";
  await until(async () => (await sql(open)).length === 0);
});
