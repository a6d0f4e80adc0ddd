import { HumanMessage } from "@langchain/core/messages";
import type { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createDeepAgent } from "../../src/deep/index.ts";
import { hostedGraphs } from "../../src/surfaces/server/graphs.ts";
import { ScriptedModel } from "../../src/testing/index.ts";
import { clusterHost, openCluster } from "../../src/threads/cluster/index.ts";
import type { HostEvent } from "../../src/threads/host/stream/live-events.ts";
import { task, TestCluster, until, type Served } from "../helpers/cluster/cluster.ts";
import { newDatabase } from "../helpers/postgres/database.ts";

let cluster: TestCluster;
let client: Client;

beforeAll(async () => {
  cluster = await TestCluster.on(await newDatabase());
  const limits = JSON.stringify({ "graph:agent": 2 });
  [client] = await Promise.all([cluster.server(), cluster.worker("one", { LIMITS: limits })]);
});
afterAll(() => cluster.close());

const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;
const begun = (call: string) => async () => (await cluster.effects()).some((one) => one.call === call);
const statusOf = async (thread: string, run: string) => (await client.runs.get(thread, run)).status;
const tasks = async (thread: string): Promise<string[]> => {
  const { values } = await client.threads.getState<{ messages?: { type: string; content: string }[] }>(
    thread,
  );
  return (values.messages ?? [])
    .filter(({ type }) => type === new HumanMessage("").getType())
    .map(({ content }) => (JSON.parse(content) as { id: string }).id);
};

it("runs of a thread keep their order; a second run is refused, waits or replaces", async () => {
  const thread = await newThread();
  const start = (
    id: string,
    multitaskStrategy: "reject" | "enqueue" | "interrupt" | "rollback",
    gate = true,
  ) =>
    client.runs.create(thread, "agent", {
      input: task({ id, turns: 1, ...(gate && { gates: { 0: id } }) }),
      multitaskStrategy,
    });
  const a = await start("a", "reject");
  await until(begun("a-0"));
  await expect(start("b", "reject")).rejects.toThrow(/409.*already running/);
  const queued = [await start("c", "enqueue"), await start("d", "enqueue")];
  await cluster.open("a");
  await until(begun("c-0"));
  expect(await statusOf(thread, a.run_id)).toBe("success");
  const e = await start("e", "interrupt");
  await until(begun("e-0"));
  expect(await Promise.all(queued.map(({ run_id: id }) => statusOf(thread, id)))).toEqual([
    "interrupted",
    "interrupted",
  ]);
  const f = await start("f", "rollback", false);
  await client.runs.join(thread, f.run_id);
  await expect(client.runs.get(thread, e.run_id)).rejects.toThrow(/404/);
  expect(await tasks(thread)).toEqual(["a", "c", "f"]);
});

it("cancel stops a run during a model's answer, and a run that waits to start", async () => {
  const thread = await newThread();
  const input = task({ id: "m", gates: { model: "never" } });
  const { run_id: run } = await client.runs.create(thread, "agent", { input });
  const { run_id: next } = await client.runs.create(thread, "agent", {
    input: task({ id: "n" }),
    multitaskStrategy: "enqueue",
  });
  await until(async () => (await statusOf(thread, run)) === "running");
  await client.runs.cancel(thread, next, true);
  await client.runs.cancel(thread, run, true);
  expect([await statusOf(thread, run), await statusOf(thread, next)]).toEqual(["interrupted", "interrupted"]);
  expect((await client.threads.get(thread)).status).not.toBe("busy");
});

it("a temporary failure is tried again, and a permanent failure ends the run at once", async () => {
  const [passing, patchModel] = [await newThread(), await newThread()];
  const passes = { times: 1, message: "overloaded", status: 503 };
  const lasts = { times: 9, message: "no such model", status: 404 };
  const first = await client.runs.create(passing, "agent", { input: task({ id: "p", fail: passes }) });
  const second = await client.runs.create(patchModel, "agent", { input: task({ id: "l", fail: lasts }) });
  await client.runs.join(passing, first.run_id);
  expect(await client.runs.get(passing, first.run_id)).toMatchObject({ status: "success", attempt: 2 });
  expect(await tasks(passing)).toEqual(["p"]);
  await client.runs.join(patchModel, second.run_id);
  const failed = await client.runs.get(patchModel, second.run_id);
  expect(failed).toMatchObject({
    status: "error",
    attempt: 1,
    error: expect.stringContaining("404") as string,
  });
});

it("a limit holds across threads, and a waiting run continues when another run ends", async () => {
  const threads = await Promise.all([newThread(), newThread(), newThread()]);
  const runs: string[] = [];
  for (const [at, thread] of threads.entries()) {
    const input = task({ id: `x${at}`, gates: { 0: `x${at}` } });
    runs.push((await client.runs.create(thread, "agent", { input })).run_id);
  }
  const limited = async () =>
    (
      await cluster.pool.query<{ thread: string }>(
        "SELECT thread FROM holdfast.jobs WHERE waits = 'graph:agent'",
      )
    ).rows[0];
  const { thread: last } = await until(limited);
  const others = threads.filter((thread) => thread !== last);
  for (const thread of others) await until(begun(`x${threads.indexOf(thread)}-0`));
  expect(await begun(`x${threads.indexOf(last)}-0`)()).toBe(false);
  await cluster.open(`x${threads.indexOf(others[0]!)}`);
  await until(begun(`x${threads.indexOf(last)}-0`));
  for (const at of [0, 1, 2]) await cluster.open(`x${at}`);
  for (const [at, thread] of threads.entries()) await client.runs.join(thread, runs[at]!);
});

it("runs wait for a worker of their queue, are visible, and start by priority", async () => {
  const [{ url, headers }] = cluster.served as [Served];
  const runs: { thread: string; run: string }[] = [];
  for (const [id, priority] of [
    ["low", -5],
    ["middle", undefined],
    ["high", 50],
  ] as const) {
    const thread = await newThread();
    const body = { assistant_id: "agent", input: task({ id }), queue: "nightly", priority };
    const asked = await fetch(`${url}/threads/${thread}/runs`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    runs.push({ thread, run: ((await asked.json()) as { run_id: string }).run_id });
  }
  const metrics = await fetch(`${url}/metrics`, { headers });
  expect(await metrics.text()).toContain('holdfast_queue_depth{queue="nightly"} 3\n');
  const nightly = await cluster.worker("nightly", { QUEUES: "nightly", SLOTS: "1" });
  for (const { thread, run } of runs) await client.runs.join(thread, run);
  const done = (await cluster.effects()).filter(
    ({ call, phase }) => /^(low|middle|high)-/.test(call) && phase === "end",
  );
  expect(done.map(({ call, worker }) => `${call} ${worker}`)).toEqual([
    "high-0 nightly",
    "middle-0 nightly",
    "low-0 nightly",
  ]);
  nightly.process.kill("SIGTERM");
  expect(await nightly.ended).toBe(0);
});

it("a run that waits for the user holds no worker and resumes with the answer", async () => {
  const thread = await newThread();
  const input = task({ id: "asked", turns: 1 });
  await client.runs.wait(thread, "agent", { input, interruptBefore: ["tools"] });
  expect((await client.threads.get(thread)).status).toBe("interrupted");
  const held = "SELECT FROM holdfast.jobs WHERE thread = $1 AND status IN ('pending', 'running')";
  expect((await cluster.pool.query(held, [thread])).rowCount).toBe(0);
  expect(await begun("asked-0")()).toBe(false);
  await client.runs.wait(thread, "agent", { input: null });
  expect(await begun("asked-0")()).toBe(true);
});

it("a run whose text cannot be written fails with that reason; its thread continues", async () => {
  const thread = await newThread();
  await cluster.pool.query(
    `ALTER TABLE holdfast.events ADD CONSTRAINT mute CHECK (thread <> '${thread}') NOT VALID`,
  );
  const { run_id: run } = await client.runs.create(thread, "agent", {
    input: task({ id: "mute", gates: { model: "never" } }),
  });
  await client.runs.join(thread, run);
  expect(await client.runs.get(thread, run)).toMatchObject({
    status: "error",
    error: expect.stringMatching(/^What the run says cannot be written: .*"mute"/) as string,
  });
  await cluster.pool.query("ALTER TABLE holdfast.events DROP CONSTRAINT mute");
  await client.runs.wait(thread, "agent", { input: task({ id: "voice" }) });
  expect(await begun("voice-0")()).toBe(true);
});

it("a schedule can be changed, paused and resumed, and refuses invalid values", async () => {
  const thread = await newThread();
  const { cron_id: id } = await client.crons.createForThread(thread, "agent", {
    schedule: "* * * * * *",
    input: task({ id: "first", turns: 0 }),
    metadata: { kind: "nightly" },
    enabled: false,
  });
  expect(await client.crons.search({ threadId: thread, enabled: true })).toEqual([]);
  const changed = await client.crons.update(id, { input: task({ id: "second", turns: 0 }) });
  expect(changed).toMatchObject({ cron_id: id, schedule: "* * * * * *", enabled: false });
  expect(await client.crons.count({ threadId: thread, metadata: { kind: "nightly" } })).toBe(1);
  expect(await client.crons.count({ threadId: thread, metadata: { kind: "other" } })).toBe(0);
  expect(await client.runs.list(thread)).toEqual([]);

  expect(await client.crons.update(id, { enabled: true })).toMatchObject({ enabled: true });
  await until(async () => (await client.runs.list(thread)).some(({ status }) => status === "success"));
  expect((await tasks(thread))[0]).toBe("second");

  expect(await client.crons.update(id, { schedule: "0 9 * * *", enabled: false })).toMatchObject({
    schedule: "0 9 * * *",
    enabled: false,
  });
  for (const [change, reason] of [
    [{ schedule: "sometimes" }, /422.*sometimes/],
    [{ timezone: "Mars/Olympus" }, /422.*timezone: there is no time zone of this name/],
    [{ endTime: "soon" }, /422.*end_time/],
  ] as const) {
    await expect(client.crons.update(id, change)).rejects.toThrow(reason);
  }
  await expect(client.crons.update("nobody", { enabled: true })).rejects.toThrow(/404.*Cron nobody/);
  expect(await client.crons.search({ threadId: thread })).toMatchObject([
    { schedule: "0 9 * * *", enabled: false },
  ]);
  await client.crons.delete(id);
});

it("a run for later waits for its time, and lets others of its thread go first", async () => {
  const thread = await newThread();
  const later = await client.runs.create(thread, "agent", { input: task({ id: "later" }), afterSeconds: 2 });
  expect(later.status).toBe("pending");
  await client.runs.wait(thread, "agent", { input: task({ id: "now" }) });
  await client.runs.join(thread, later.run_id);
  expect(await tasks(thread)).toEqual(["now", "later"]);
});

it("a schedule starts runs of its thread, is listed, and ends", async () => {
  const thread = await newThread();
  const cron = await client.crons.createForThread(thread, "agent", {
    schedule: "* * * * * *",
    input: task({ id: "often", turns: 0 }),
  });
  expect(await client.crons.search({ threadId: thread })).toMatchObject([
    { cron_id: cron.cron_id, schedule: "* * * * * *" },
  ]);
  await until(async () => (await client.runs.list(thread)).some(({ status }) => status === "success"));
  await client.crons.delete(cron.cron_id);
  expect(await client.crons.search({ threadId: thread })).toEqual([]);
  await expect(client.crons.createForThread(thread, "agent", { schedule: "sometimes" })).rejects.toThrow(
    /422/,
  );
});

it("servers hear that a thread for one run is gone, after all that the run has said", async () => {
  const other = await openCluster(cluster.url);
  const agent = createDeepAgent({ model: new ScriptedModel([]), plan: false });
  const { store: checkpointer, memories: store } = other;
  const host = clusterHost(other, hostedGraphs("test", { agent }, { checkpointer, store }));
  const heard: HostEvent[] = [];
  const reading = (async () => {
    for await (const entries of host.events.read(0))
      for (const entry of entries) {
        if ("gap" in entry) continue;
        heard.push(entry.event);
        if (entry.event.kind === "removed") return;
      }
  })();
  const done = client.runs.wait(null, "agent", { input: task({ id: "once", gates: { 0: "once" } }) });
  // A server that comes to it after its end hears nothing of what it said.
  await until(async () => heard.some(({ kind }) => kind === "run" || kind === "moved"));
  await cluster.open("once");
  await Promise.all([done, reading]);
  // What a schedule started may still be at work.
  const { thread } = heard.at(-1)!;
  const said = heard.flatMap((one) => (one.kind === "run" && one.thread === thread ? [one.event.type] : []));
  expect(said.at(-1)).toBe("run-end");
  await host.stop();
  await other.close();
});
