import type { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, expect, it } from "vitest";
import { task, TestCluster, until, type Started, type Task } from "../helpers/cluster/cluster.ts";
import { collected } from "../helpers/page/graph-server.ts";
import { newDatabase } from "../helpers/postgres/database.ts";

let cluster: TestCluster;
let client: Client;
let other: Client;
/** Those that nothing was done to. */
const workers = new Map<string, Started>();

beforeAll(async () => {
  cluster = await TestCluster.on(await newDatabase());
  const names = ["one", "two", "three", "four"];
  [client, other] = await Promise.all([cluster.server(), cluster.server()]);
  for (const [at, worker] of (await Promise.all(names.map((name) => cluster.worker(name)))).entries())
    workers.set(names[at]!, worker);
});
afterAll(() => cluster.close());

/** Starts a run; resolves when it waits at its gate in the second call, with the worker that it is at. */
async function atGate(id: string, more: Partial<Task> = {}) {
  const { thread_id: thread } = await client.threads.create();
  const given = { id, turns: 3, gates: { 1: id }, ...more };
  const { run_id: run } = await client.runs.create(thread, "agent", { input: task(given) });
  const { worker: name } = await until(async () => (await cluster.effects(thread)).find(isCall(`${id}-1`)));
  return { thread, run, name, worker: workers.get(name)! };
}

const isCall =
  (call: string) =>
  (effect: { call: string }): boolean =>
    effect.call === call;

/** What was done, as `call phase worker`, and `again` where the tool was told that it may have been done before. */
const history = async (thread: string): Promise<string[]> =>
  (await cluster.effects(thread)).map(({ call, phase, worker, again }) =>
    [call, phase, worker, ...(again ? ["again"] : [])].join(" "),
  );

it.each(["SIGKILL", "SIGSTOP"] as const)(
  "after %s another worker continues and marks the repeated call; the first ends",
  async (signal) => {
    const { thread, run, name, worker } = await atGate(signal);
    workers.delete(name);
    worker.process.kill(signal);
    const { worker: next } = await until(async () =>
      (await cluster.effects(thread)).find((one) => one.call === `${signal}-1` && one.worker !== name),
    );
    worker.process.kill("SIGCONT");
    expect(await worker.ended).toBe(signal === "SIGKILL" ? null : 1);
    const words = "createWorker: this worker missed its heartbeat, so other workers took over its runs.";
    expect(worker.errors.join("")).toContain(signal === "SIGKILL" ? "" : words);
    await cluster.open(signal);
    await client.runs.join(thread, run);
    expect(await client.runs.get(thread, run)).toMatchObject({ status: "success", attempt: 2 });
    expect(await history(thread)).toEqual([
      `${signal}-0 begin ${name}`,
      `${signal}-0 end ${name}`,
      `${signal}-1 begin ${name}`,
      `${signal}-1 begin ${next} again`,
      `${signal}-1 end ${next} again`,
      `${signal}-2 begin ${next}`,
      `${signal}-2 end ${next}`,
    ]);
  },
);

it("SIGTERM ends a worker after its step, and another continues without repeats", async () => {
  const { thread, run, name, worker } = await atGate("d");
  workers.delete(name);
  worker.process.kill("SIGTERM");
  const isDraining = async () =>
    (await cluster.pool.query("SELECT 1 FROM holdfast.workers WHERE state = 'draining'")).rowCount === 1;
  await until(isDraining);
  await cluster.open("d");
  expect(await worker.ended).toBe(0);
  await client.runs.join(thread, run);
  expect(await client.runs.get(thread, run)).toMatchObject({ status: "success", attempt: 1 });
  const [next] = workers.keys();
  expect(await history(thread)).toEqual([
    `d-0 begin ${name}`,
    `d-0 end ${name}`,
    `d-1 begin ${name}`,
    `d-1 end ${name}`,
    `d-2 begin ${next}`,
    `d-2 end ${next}`,
  ]);
});

it("any server streams any run, and a later server leaves out no event", async () => {
  const { thread, run } = await atGate("r", { turns: 2 });
  const half: { id?: string; event: string }[] = [];
  for await (const event of other.runs.joinStream(thread, run, {
    lastEventId: "0",
    streamMode: ["updates"],
  })) {
    half.push(event);
    if (half.length === 3) break;
  }
  await cluster.open("r");
  const modes = { streamMode: ["updates" as const] };
  const all = await collected(client.runs.joinStream(thread, run, { lastEventId: "0", ...modes }));
  const rest = await collected(other.runs.joinStream(thread, run, { lastEventId: half[2]!.id!, ...modes }));
  expect([...half, ...rest]).toEqual(all);
  expect(all[0]).toMatchObject({ event: "metadata", data: { run_id: run, attempt: 1 } });
  expect(all.filter(({ event }) => event === "updates").length).toBeGreaterThan(4);
  const third = await cluster.server();
  expect(await collected(third.runs.joinStream(thread, run, { lastEventId: "0", ...modes }))).toEqual(all);
  const state = await other.threads.getState<{ messages: { content: string }[] }>(thread);
  expect(state.values.messages.at(-1)?.content).toBe("done r");
});
