import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { newDatabase } from "../../../test/postgres.ts";
import type { HostedGraph } from "../host/graphs.ts";
import { Schedules, type Schedule } from "../host/schedules/schedule.ts";
import { openCluster, type Cluster } from "./index.ts";
import { Jobs } from "./queue/jobs.ts";
import { ScheduleClock } from "./schedules.ts";

let cluster: Cluster;
let schedules: Schedules;
let clocks: ScheduleClock[];
beforeAll(async () => {
  cluster = await openCluster(await newDatabase());
  schedules = new Schedules(cluster.store.ledger);
});
afterAll(() => cluster.close());

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2030, 0, 1, 12, 0, 0, 500) });
  const graphs = new Map([["agent", {} as HostedGraph]]);
  clocks = [1, 2].map(() => new ScheduleClock({ ...cluster, graphs }));
});
afterEach(async () => {
  for (const clock of clocks) await clock.stop();
  for (const { id } of await schedules.all()) await schedules.remove(id);
  vi.useRealTimers();
});

async function add(schedule: Pick<Schedule, "thread" | "owner" | "threadOwner" | "endsAt">): Promise<void> {
  await schedules.add({ cron: "* * * * * *", request: { graph: "agent" }, ...schedule });
}

/** Moves the clock on by a second, and lets every worker look. */
async function pass(): Promise<void> {
  vi.setSystemTime(Date.now() + 1000);
  await Promise.all(clocks.map((clock) => clock.look()));
}

const known = { graph: "agent", createdAt: 1, updatedAt: 1, hasFailed: false, metadata: {} };
const ownerOf = async (thread: string) => (await cluster.store.ledger.thread(thread))?.owner;
const runsOf = async (thread: string) => (await new Jobs(cluster.db).ofThread(thread)).length;

it("a schedule starts one run at each of its moments, by one of two workers", async () => {
  await add({ thread: "often" });
  for (let n = 1; n <= 3; n += 1) {
    await pass();
    expect(await runsOf("often")).toBe(n);
  }
});

it("a schedule runs a thread of another owner that it was made for, and leaves it to them", async () => {
  await cluster.store.ledger.changeThread("shared", () => ({ ...known, id: "shared", owner: "ann" }));
  await add({ thread: "shared", owner: "ben", threadOwner: "ann" });
  await pass();
  expect([await ownerOf("shared"), await runsOf("shared")]).toEqual(["ann", 1]);
});

it("a schedule does not run a thread whose name somebody else has now", async () => {
  await cluster.store.ledger.changeThread("taken", () => ({ ...known, id: "taken", owner: "ben" }));
  await add({ thread: "taken", owner: "ann", threadOwner: "ann" });
  await pass();
  expect([await ownerOf("taken"), await runsOf("taken")]).toEqual(["ben", 0]);
});

it("a schedule starts nothing after its end", async () => {
  await add({ thread: "over", endsAt: Date.now() + 1600 });
  for (let n = 0; n < 3; n += 1) await pass();
  expect(await runsOf("over")).toBe(2);
});

it("a schedule goes by the clock of its time zone, also when that is changed, and refuses one that is none", async () => {
  const given = { cron: "0 9 * * *", request: { graph: "agent" } };
  const hourOf = async (id: string): Promise<number> => {
    const record = (await cluster.store.ledger.schedules()).find((one) => one.id === id);
    return new Date(record!.due!).getUTCHours();
  };
  const { id } = await schedules.add({ ...given, timezone: "Asia/Tokyo" });
  expect(await hourOf(id)).toBe(0);
  await schedules.change(id, () => ({ cron: "0 10 * * *" }));
  expect(await hourOf(id)).toBe(1);
  await schedules.change(id, () => ({ timezone: "Europe/Paris" }));
  expect(await hourOf(id)).toBe(9);
  await expect(schedules.add({ ...given, timezone: "Mars/Olympus" })).rejects.toMatchObject({
    code: "invalid-request",
  });
  expect(await hourOf((await schedules.add(given)).id)).toBe(9);
});
