import { Client } from "pg";
import { expect, it } from "vitest";
import { ask, newDatabase } from "../../../../test/helpers/postgres/database.ts";
import { newRecord } from "../../host/records.ts";
import { ClusterDatabase } from "../database/database.ts";
import { Jobs, QUEUE } from "../queue/jobs.ts";
import { Publisher } from "./publisher.ts";

it("the publisher closes a stream with its last row, also after a failed first write", async () => {
  const url = await newDatabase();
  const db = await ClusterDatabase.open(url);
  const blocker = new Client({ connectionString: url });
  await blocker.connect();
  try {
    await db.pool.query(
      `INSERT INTO holdfast.workers (id, state, host, pid, version, slots, queues) VALUES ('one', 'working', '', 1, '1', 9, '{}')`,
    );
    const jobs = new Jobs(db);
    await jobs.enqueue(newRecord("tide", { graph: "agent" }));
    const job = await jobs.claim("tide", { worker: "one", queues: [QUEUE], limits: {} });
    const publisher = new Publisher(db, "one");
    const stream = await publisher.open(job!, () => {});
    await blocker.query("BEGIN; LOCK TABLE holdfast.events");
    stream.push({ kind: "end", status: "success", result: undefined });
    const writer = "FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%holdfast.events%'";
    while ((await ask(url, `SELECT 1 ${writer}`)).length === 0);

    const steps: string[] = [];
    const closed = publisher.close(stream).then(() => steps.push("closed"));
    await ask(url, `SELECT pg_terminate_backend(pid) ${writer}`);
    steps.push("the table is free");
    await blocker.query("COMMIT");
    await closed;
    expect(steps).toEqual(["the table is free", "closed"]);
    expect(await ask(url, "SELECT thread FROM holdfast.events")).toEqual([{ thread: "tide" }]);
  } finally {
    await blocker.end();
    await db.close();
  }
});

it("a row that can never be written fails with its reason; its batch is written", async () => {
  const url = await newDatabase();
  const db = await ClusterDatabase.open(url);
  try {
    await db.pool.query(
      `ALTER TABLE holdfast.events ADD CONSTRAINT calm CHECK (thread <> 'storm');
       INSERT INTO holdfast.workers (id, state, host, pid, version, slots, queues) VALUES ('one', 'working', '', 1, '1', 9, '{}')`,
    );
    const jobs = new Jobs(db);
    const publisher = new Publisher(db, "one");
    const failed: string[] = [];
    const open = async (thread: string) => {
      await jobs.enqueue(newRecord(thread, { graph: "agent" }));
      const job = await jobs.claim(thread, { worker: "one", queues: [QUEUE], limits: {} });
      return publisher.open(job!, () => failed.push(thread));
    };
    const [tide, storm] = [await open("tide"), await open("storm")];
    for (const stream of [tide, storm]) stream.push({ kind: "begin", head: undefined });
    await Promise.all([publisher.close(tide), publisher.close(storm)]);
    expect(await ask(url, "SELECT thread FROM holdfast.events")).toEqual([{ thread: "tide" }]);
    expect(failed).toEqual(["storm"]);
    expect(storm.failure?.message).toMatch(/^What the run says cannot be written: .*"calm"/);
    expect(tide.failure).toBeUndefined();
  } finally {
    await db.close();
  }
});
