import { Client } from "pg";
import { expect, it } from "vitest";
import { ask, newDatabase } from "../../../test/postgres.ts";
import { newRecord } from "../host/records.ts";
import { ClusterDatabase } from "./database.ts";
import { Jobs, QUEUE } from "./jobs.ts";
import { Publisher } from "./publisher.ts";

it("a stream is closed when its last row is there, also where the first try to write it failed", async () => {
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
    const stream = await publisher.open(job!);
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
