import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { newDatabase } from "../../../../test/helpers/postgres/database.ts";
import { newRecord } from "../../host/records.ts";
import type { RunRequest } from "../../host/request/request.ts";
import { ClusterDatabase } from "../database/database.ts";
import { Jobs, MOST_ATTEMPTS, QUEUE } from "./jobs.ts";

let db: ClusterDatabase;
let jobs: Jobs;

beforeAll(async () => {
  db = await ClusterDatabase.open(await newDatabase());
  jobs = new Jobs(db);
});
beforeEach(async () => {
  await db.pool.query(
    "DELETE FROM holdfast.workers; DELETE FROM holdfast.jobs; DELETE FROM dbos.workflow_status",
  );
  await newWorker("one");
});
afterAll(() => db.close());

const newWorker = (id: string, queues = [QUEUE]) =>
  db.pool.query(
    `INSERT INTO holdfast.workers (id, state, host, pid, version, slots, queues) VALUES ($1, 'working', '', 1, '1', 9, $2)`,
    [id, queues],
  );

async function enqueue(thread: string, request: Partial<RunRequest> = {}): Promise<string> {
  const record = newRecord(thread, { graph: "agent", strategy: "enqueue", ...request });
  await jobs.enqueue(record);
  return record.id;
}

const LIMITS = { "tenant:*": 1, "model:*": 1 };
const claim = (thread: string, { worker = "one", queues = [QUEUE] } = {}) =>
  jobs.claim(thread, { worker, queues, limits: LIMITS });

/** The turns that were given since the last call, as `thread in queue`. */
async function turns(): Promise<string[]> {
  const { rows } = await db.pool.query<{ turn: string }>(
    `WITH taken AS (DELETE FROM dbos.workflow_status RETURNING workflow_uuid, queue_name)
     SELECT split_part(workflow_uuid, '/', 1) || ' in ' || queue_name AS turn FROM taken ORDER BY turn`,
  );
  return rows.map(({ turn }) => turn);
}

it("room under a limit goes to the run with the highest priority, then the oldest", async () => {
  const limits = ["tenant:a"];
  for (const [thread, priority] of [
    ["first", 0],
    ["low", -1],
    ["early", 5],
    ["late", 5],
  ] as const)
    await enqueue(thread, { limits, priority });
  const first = await claim("first");
  for (const thread of ["low", "late", "early"]) expect(await claim(thread)).toBeUndefined();
  await turns();
  await jobs.end(first!, "success");
  expect(await turns()).toEqual(["early in runs"]);
  await jobs.end((await claim("early"))!, "success");
  expect(await turns()).toEqual(["late in runs"]);
});

it("a later run does not take room under a limit that was given to an earlier run", async () => {
  const limits = ["tenant:a"];
  for (const thread of ["first", "second", "newcomer"]) await enqueue(thread, { limits });
  await enqueue("urgent", { limits, priority: 1 });
  const first = await claim("first");
  expect(await claim("second")).toBeUndefined();
  await jobs.end(first!, "success");
  // Its turn was in the queue before the one of the run that has waited.
  expect(await claim("newcomer")).toBeUndefined();
  const urgent = await claim("urgent");
  expect(urgent).toBeDefined();
  expect(await claim("second")).toBeUndefined();
  await jobs.end(urgent!, "success");
  expect(await claim("newcomer")).toBeUndefined();
  const second = await claim("second");
  await jobs.end(second!, "success");
  expect(await claim("newcomer")).toBeDefined();
});

it("room given to a run goes to another run when no worker takes from its queue", async () => {
  const limits = ["tenant:a"];
  await newWorker("night", ["nightly"]);
  await enqueue("first", { limits });
  await enqueue("nightly", { limits, queue: "nightly" });
  await enqueue("newcomer", { limits });
  const first = await claim("first");
  expect(await claim("nightly", { worker: "night", queues: ["nightly"] })).toBeUndefined();
  await db.pool.query("UPDATE holdfast.workers SET state = 'dead' WHERE id = 'night'");
  await jobs.end(first!, "success");
  expect(await claim("newcomer")).toBeDefined();
});

it("runs that end at once under one key do not block each other, each wakes another", async () => {
  const limits = ["tenant:a"];
  const threads = ["first", "second", "third", "fourth"];
  for (const thread of threads) await enqueue(thread, { limits });
  const two = { worker: "one", queues: [QUEUE], limits: { "tenant:*": 2 } };
  const [first, second, ...waiting] = await Promise.all(
    threads.map((thread) => jobs.claim(thread, two)),
  ).then((claimed) => claimed.toSorted((a, b) => Number(!a) - Number(!b)));
  expect(waiting).toEqual([undefined, undefined]);
  await turns();
  // Another one that ends, and is not through yet.
  await db.transaction(undefined, async (tx) => {
    await tx.query("SELECT pg_advisory_xact_lock_shared(hashtextextended('tenant:a', 11))");
    await Promise.all([jobs.end(first!, "success"), jobs.end(second!, "success")]);
  });
  expect(await turns()).toHaveLength(2);
});

it("stopping several runs does not block counting runs of the same keys", async () => {
  const stopped = [
    await enqueue("tide", { limits: ["model:b"] }),
    await enqueue("tide", { limits: ["model:a"] }),
  ];
  let stopping: Promise<boolean> | undefined;
  // As one that counts, in the order of the keys.
  await db.transaction("other", async (tx) => {
    const take = (key: string) => tx.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 11))", [key]);
    await take("model:a");
    stopping = jobs.stop(stopped, "interrupt");
    const isWaiting =
      "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()";
    while ((await db.pool.query(isWaiting)).rowCount === 0);
    const { rows } = await tx.query<{ free: boolean }>(
      "SELECT pg_try_advisory_xact_lock(hashtextextended('model:b', 11)) AS free",
    );
    expect(rows).toEqual([{ free: true }]);
  });
  expect(await stopping).toBe(true);
});

it("room that a stopped run was to have goes to another", async () => {
  const limits = ["tenant:a"];
  await enqueue("first", { limits });
  const second = await enqueue("second", { limits });
  await enqueue("third", { limits });
  const first = await claim("first");
  for (const thread of ["second", "third"]) expect(await claim(thread)).toBeUndefined();
  await turns();
  await jobs.end(first!, "success");
  expect(await turns()).toEqual(["second in runs"]);
  await jobs.stop([second], "interrupt");
  expect(await claim("second")).toBeUndefined();
  expect(await turns()).toEqual(["third in runs"]);
  expect(await claim("third")).toMatchObject({ status: "running" });
});

it("room that a run cannot use, as another limit holds it, goes to another", async () => {
  await enqueue("both", { limits: ["model:x", "tenant:a"] });
  await enqueue("tenant", { limits: ["tenant:a"] });
  await enqueue("model", { limits: ["model:x"] });
  await enqueue("next", { limits: ["model:x", "tenant:a"] });
  const both = await claim("both");
  for (const thread of ["tenant", "next", "model"]) expect(await claim(thread)).toBeUndefined();
  await turns();
  await jobs.end(both!, "success");
  // The oldest that wait for the model and for the tenant.
  expect(await turns()).toEqual(["model in runs", "tenant in runs"]);
  expect(await claim("tenant")).toBeDefined();
  const model = await claim("model");
  await jobs.end(model!, "success");
  expect(await turns()).toEqual(["next in runs"]);
  await enqueue("last", { limits: ["model:x"] });
  await db.pool.query("UPDATE holdfast.jobs SET waits = 'model:x' WHERE thread = 'last'");
  await turns();
  // The tenant is busy: the model is for who comes after.
  expect(await claim("next")).toBeUndefined();
  expect(await turns()).toEqual(["last in runs"]);
});

it("only workers of a queue do its runs, and a thread keeps its order across queues", async () => {
  await enqueue("tide", { queue: "nightly" });
  await enqueue("tide");
  expect(await turns()).toEqual(["tide in nightly"]);
  // A turn that came to the wrong worker is passed on.
  expect(await claim("tide")).toBeUndefined();
  expect(await turns()).toEqual(["tide in nightly"]);
  const nightly = await claim("tide", { queues: ["nightly"] });
  expect(nightly).toMatchObject({ queue: "nightly" });
  await jobs.end(nightly!, "success");
  expect(await turns()).toEqual(["tide in runs"]);
  expect(await claim("tide", { queues: ["nightly", QUEUE] })).toMatchObject({ queue: QUEUE });
});

it("a run whose workers die one by one fails with its reason; its thread continues", async () => {
  const id = await enqueue("tide");
  await enqueue("tide");
  let worker = "one";
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    const job = await claim("tide", { worker });
    expect(job).toMatchObject({ id, attempt, worker, ...(attempt > 1 && { isTakenOver: true }) });
    await db.pool.query("UPDATE holdfast.workers SET state = 'dead' WHERE id = $1", [worker]);
    await newWorker((worker = `after ${attempt}`));
  }
  await turns();
  const reason = "It started 5 times, and each time its worker died.";
  expect(await claim("tide", { worker })).toMatchObject({ id, status: "error", reason });
  expect(await jobs.find(id)).toMatchObject({ status: "error", reason });
  expect(await turns()).toEqual(["tide in runs"]);
  expect(await claim("tide", { worker })).toMatchObject({ attempt: 1 });
});

it("a worker declared dead can neither claim, end nor put back a run", async () => {
  await enqueue("tide");
  const job = await claim("tide");
  await db.pool.query("UPDATE holdfast.workers SET state = 'dead'");
  await newWorker("two");
  expect(await claim("tide")).toBeUndefined();
  expect(await claim("tide", { worker: "two" })).toMatchObject({ attempt: 2 });
  expect(await jobs.end(job!, "success")).toBe(false);
  expect(await jobs.putBack(job!)).toBe(false);
  expect(await jobs.find(job!.id)).toMatchObject({ status: "running", worker: "two" });
});

it("a thread's second turn does not restart the run of its worker", async () => {
  await enqueue("tide");
  const job = await claim("tide");
  expect(await claim("tide")).toBeUndefined();
  await jobs.putBack(job!);
  expect(await claim("tide")).toMatchObject({ id: job!.id, attempt: 1 });
});

it("the runs after a run that waited for room continue when that run is stopped", async () => {
  await enqueue("first", { limits: ["tenant:a"] });
  await claim("first");
  const limited = await enqueue("tide", { limits: ["tenant:a"] });
  const behind = await enqueue("tide");
  expect(await claim("tide")).toBeUndefined();
  await turns();
  await jobs.stop([limited], "interrupt");
  expect(await turns()).toEqual(["tide in runs"]);
  expect(await claim("tide")).toMatchObject({ id: behind });
});

it("a run that arrives while an earlier run waits to end is not left waiting", async () => {
  await enqueue("tide");
  const first = await claim("tide");
  await turns();
  let ended: Promise<boolean> | undefined;
  await db.transaction("tide", async (tx) => {
    ended = jobs.end(first!, "success");
    const isWaiting =
      "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()";
    while ((await db.pool.query(isWaiting)).rowCount === 0);
    await tx.query(
      `INSERT INTO holdfast.jobs (id, thread, status, created, updated, attempt, request, due, priority, queue, keys)
       VALUES ('second', 'tide', 'pending', 0, 0, 1, '{}', clock_timestamp(), 0, 'runs', '{}')`,
    );
  });
  expect(await ended).toBe(true);
  expect(await turns()).toEqual(["tide in runs"]);
});

it("a turn that came to a worker declared dead is given again", async () => {
  const id = await enqueue("tide");
  await turns();
  await db.pool.query("UPDATE holdfast.workers SET state = 'dead'");
  expect(await claim("tide")).toBeUndefined();
  expect(await turns()).toEqual(["tide in runs"]);
  await newWorker("two");
  expect(await claim("tide", { worker: "two" })).toMatchObject({ id, attempt: 1 });
});

it("a turn that came too early is given again", async () => {
  const later = await enqueue("tide", { delay: 60 });
  expect(await turns()).toEqual(["tide in runs"]);
  expect(await claim("tide")).toBeUndefined();
  expect(await turns()).toEqual(["tide in runs"]);
  await db.pool.query("UPDATE holdfast.jobs SET due = now()");
  const job = await claim("tide");
  expect(job).toMatchObject({ id: later });
  await jobs.putBack(job!, { delay: 60, attempt: 2, reason: "It failed." });
  await turns();
  expect(await claim("tide")).toBeUndefined();
  expect(await turns()).toEqual(["tide in runs"]);
});

it("a run that was put back because its thread is busy keeps its place", async () => {
  const id = await enqueue("tide");
  const job = await claim("tide");
  await enqueue("tide");
  await jobs.putBack(job!, { delay: 60, reason: "The thread is in use." });
  expect(await claim("tide")).toBeUndefined();
  await expect(enqueue("tide", { strategy: "reject" })).rejects.toMatchObject({ code: "thread-busy" });
  await db.pool.query("UPDATE holdfast.jobs SET due = now()");
  expect(await claim("tide")).toMatchObject({ id, attempt: 1 });
});
