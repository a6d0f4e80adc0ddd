import { expect, it } from "vitest";
import { newDatabase } from "../../../test/helpers/postgres/database.ts";
import { newRecord } from "../host/records.ts";
import { ClusterDatabase } from "./database/database.ts";
import { Jobs } from "./queue/jobs.ts";
import { sweepWorkflows } from "./registry.ts";

it("cleanup deletes only hour-old finished turns and day-old scheduled turns", async () => {
  const db = await ClusterDatabase.open(await newDatabase());
  try {
    const jobs = new Jobs(db);
    for (const thread of ["old", "new", "waiting", "scheduled-old", "scheduled-new"])
      await jobs.enqueue(newRecord(thread, { graph: "agent" }));
    const end = `UPDATE dbos.workflow_status SET status = 'SUCCESS', completed_at = extract(epoch FROM now() - $2::interval) * 1000
      WHERE workflow_uuid LIKE $1`;
    await db.pool.query(end, ["old/%", "61 minutes"]);
    await db.pool.query(end, ["new/%", "59 minutes"]);
    await db.pool.query(
      "UPDATE dbos.workflow_status SET name = 'scheduled' WHERE workflow_uuid LIKE 'scheduled-%'",
    );
    await db.pool.query(end, ["scheduled-old/%", "25 hours"]);
    await db.pool.query(end, ["scheduled-new/%", "23 hours"]);
    await sweepWorkflows(db);
    const left =
      "SELECT split_part(workflow_uuid, '/', 1) AS thread FROM dbos.workflow_status ORDER BY thread";
    expect((await db.pool.query(left)).rows).toEqual([
      { thread: "new" },
      { thread: "scheduled-new" },
      { thread: "waiting" },
    ]);
  } finally {
    await db.close();
  }
});
