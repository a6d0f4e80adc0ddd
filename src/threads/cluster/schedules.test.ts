import { afterAll, beforeAll, expect, it } from "vitest";
import { newDatabase } from "../../../test/helpers/postgres/database.ts";
import type { Schedule } from "../host/schedules/schedule.ts";
import { openCluster, type Cluster } from "./index.ts";
import { Jobs } from "./queue/jobs.ts";
import { ClusterSchedules, startScheduled } from "./schedules.ts";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await openCluster(await newDatabase());
});
afterAll(() => cluster.close());

async function start(schedule: Pick<Schedule, "thread" | "owner" | "threadOwner" | "endsAt">): Promise<void> {
  const common = { id: "one", cron: "* * * * *", request: { graph: "agent" }, createdAt: 0 };
  await startScheduled({ ...cluster, graphs: new Map() }, new Date(), { ...common, ...schedule });
}

const known = { graph: "agent", createdAt: 1, updatedAt: 1, hasFailed: false, metadata: {} };
const ownerOf = async (thread: string) => (await cluster.store.ledger.thread(thread))?.owner;
const runsOf = async (thread: string) => (await new Jobs(cluster.db).ofThread(thread)).length;

it("a schedule runs another owner's thread that it was made for, and keeps the owner", async () => {
  await cluster.store.ledger.changeThread("shared", () => ({ ...known, id: "shared", owner: "ann" }));
  await start({ thread: "shared", owner: "ben", threadOwner: "ann" });
  expect([await ownerOf("shared"), await runsOf("shared")]).toEqual(["ann", 1]);
});

it("a schedule does not run a thread whose name now belongs to another owner", async () => {
  await cluster.store.ledger.changeThread("taken", () => ({ ...known, id: "taken", owner: "ben" }));
  await expect(start({ thread: "taken", owner: "ann", threadOwner: "ann" })).rejects.toMatchObject({
    code: "not-found",
  });
  expect([await ownerOf("taken"), await runsOf("taken")]).toEqual(["ben", 0]);
});

it("a schedule starts nothing after its end", async () => {
  await start({ thread: "over", endsAt: Date.now() - 1000 });
  expect(await runsOf("over")).toBe(0);
  await start({ thread: "over", endsAt: Date.now() + 60_000 });
  expect(await runsOf("over")).toBe(1);
});

it("a schedule follows its time zone, also when changed, and refuses an invalid zone", async () => {
  const schedules = new ClusterSchedules(cluster.db);
  const given = { cron: "0 9 * * *", request: { graph: "agent" } };
  const zoneOf = async (id: string) => (await cluster.db.client.getSchedule(id))?.cronTimezone;
  const { id } = await schedules.add({ ...given, timezone: "Asia/Tokyo", isPaused: true });
  expect(await zoneOf(id)).toBe("Asia/Tokyo");
  await schedules.change(id, () => ({ cron: "0 10 * * *" }));
  expect(await zoneOf(id)).toBe("Asia/Tokyo");
  await schedules.change(id, () => ({ timezone: "Europe/Paris" }));
  expect(await zoneOf(id)).toBe("Europe/Paris");
  expect(await schedules.all()).toMatchObject([{ id, cron: "0 10 * * *", timezone: "Europe/Paris" }]);
  await expect(schedules.add({ ...given, timezone: "Mars/Olympus" })).rejects.toMatchObject({
    code: "invalid-request",
  });
  expect(await zoneOf((await schedules.add(given)).id)).toBe("UTC");
});
