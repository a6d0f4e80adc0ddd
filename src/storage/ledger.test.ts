import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import Database from "libsql";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { STORES, type StorePlace } from "../../test/helpers/postgres/stores.ts";
import {
  checkStore,
  repairStore,
  sqliteSaver,
  type HostedThread,
  type RunRecord,
  type ScheduleRecord,
  type ThreadStore,
} from "./index.ts";

let saver: ThreadStore;
let place: StorePlace;

const THREAD: HostedThread = {
  id: "kelp",
  graph: "agent",
  owner: "ann",
  createdAt: 1,
  updatedAt: 2,
  hasFailed: true,
  metadata: { topic: "kelp ✓" },
};
const run = (id: string, status: RunRecord["status"]): RunRecord => ({
  id,
  thread: "kelp",
  status,
  createdAt: 3,
  updatedAt: 4,
  attempt: 1,
  request: { graph: "agent", input: { messages: [{ content: "Grow" }] } },
});

const SCHEDULE: ScheduleRecord = { id: "s1", createdAt: 1, due: 100, content: { cron: "* * * * *" } };
const RESTING: ScheduleRecord = { id: "s2", createdAt: 2, content: { isPaused: true } };

async function fill(): Promise<void> {
  await saver.ledger.changeThread("kelp", () => THREAD);
  await saver.ledger.changeThread("urchin", () => ({ ...THREAD, id: "urchin" }));
  for (const [id, status] of [
    ["r1", "success"],
    ["r2", "running"],
    ["r3", "pending"],
  ] as const) {
    await saver.ledger.putRun(run(id, status));
  }
}

describe.each(STORES)("in $name,", ({ create }) => {
  beforeEach(async () => {
    place = await create();
    saver = await place.open();
  });
  afterEach(async () => {
    await saver.close();
    place.remove();
  });

  it("threads and runs are there again when the file is opened again", async () => {
    await fill();
    await saver.close();
    saver = await place.open();
    const { ledger } = saver;
    expect(await ledger.thread("kelp")).toEqual(THREAD);
    expect((await ledger.runs("kelp")).map(({ id }) => id)).toEqual(["r3", "r2", "r1"]);
    expect(await ledger.unfinished()).toEqual([run("r2", "running"), run("r3", "pending")]);
    await ledger.putRun({ ...run("r2", "success"), attempt: 2, base: "" });
    expect(await ledger.run("r2")).toMatchObject({ status: "success", attempt: 2, base: "" });
    const failed: RunRecord = { ...run("r1", "error"), reason: "The model is gone." };
    await ledger.putRun(failed);
    expect(await ledger.run("r1")).toEqual(failed);
    await ledger.removeRun("r3");
    expect(await ledger.unfinished()).toEqual([]);
  });

  it("the ledger stores a run with its thread's change, only if the thread exists", async () => {
    const { ledger } = saver;
    expect(await ledger.changeThread("kelp", (before) => before, run("r1", "success"))).toBeUndefined();
    expect(await ledger.run("r1")).toBeUndefined();
    expect(await ledger.changeThread("kelp", () => THREAD, run("r1", "pending"))).toEqual(THREAD);
    expect(await ledger.run("r1")).toEqual(run("r1", "pending"));
  });

  it("a run is changed in one transaction, by one of two writers", async () => {
    await fill();
    const { ledger } = saver;
    const begin = (before: RunRecord): RunRecord | undefined =>
      before.status === "pending" ? { ...before, status: "running" } : undefined;
    const begun = await Promise.all([ledger.changeRun("r3", begin), ledger.changeRun("r3", begin)]);
    expect(begun.filter((one) => one !== undefined)).toEqual([run("r3", "running")]);
    expect(await ledger.run("r3")).toEqual(run("r3", "running"));
    expect(await ledger.changeRun("nobody", begin)).toBeUndefined();
  });

  it("schedules are kept, and each due time starts one run", async () => {
    await saver.ledger.changeSchedule("s1", () => SCHEDULE);
    await saver.ledger.changeSchedule("s2", () => RESTING);
    await saver.close();
    saver = await place.open();
    const { ledger } = saver;
    expect(await ledger.schedules()).toEqual([RESTING, SCHEDULE]);
    expect(await ledger.schedules(99)).toEqual([]);
    expect(await ledger.schedules(100)).toEqual([SCHEDULE]);

    const moment = { schedule: "s1", due: 100, next: 200 };
    const take = (id: string) => ledger.changeThread("kelp", () => THREAD, run(id, "pending"), moment);
    const taken = await Promise.all([take("r1"), take("r2")]);
    expect(taken.filter((thread) => thread !== undefined)).toEqual([THREAD]);
    expect(await ledger.runs("kelp")).toHaveLength(1);
    expect(await ledger.schedules(200)).toEqual([{ ...SCHEDULE, due: 200 }]);

    const failing = ledger.changeThread(
      "kelp",
      () => {
        throw new Error("not mine");
      },
      run("r3", "pending"),
      { ...moment, due: 200, next: 300 },
    );
    await expect(failing).rejects.toThrow("not mine");
    expect(await ledger.schedules(200)).toHaveLength(1);

    await ledger.forget("kelp");
    expect(await ledger.schedules()).toHaveLength(2);
    expect(await ledger.changeSchedule("s1", () => undefined)).toBeUndefined();
    expect(await ledger.schedules()).toEqual([RESTING]);
  });

  it("a thread is deleted with its ledger rows, with or without checkpoints", async () => {
    await fill();
    const at = { configurable: { thread_id: "kelp", checkpoint_ns: "" } };
    await saver.put(at, emptyCheckpoint(), { source: "input", step: -1, parents: {} }, {});
    for (const id of ["kelp", "urchin"]) {
      await saver.deleteThread(id);
      expect(await saver.ledger.thread(id)).toBeUndefined();
      expect(await saver.ledger.runs(id)).toEqual([]);
    }
  });
});

it("no read returns a damaged row, a check finds it, and a repair keeps the rest", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-ledger-"));
  const file = join(folder, "threads.db");
  saver = await sqliteSaver(file);
  await fill();
  for (const schedule of [SCHEDULE, RESTING]) {
    await saver.ledger.changeSchedule(schedule.id, () => schedule);
  }
  await saver.close();
  const database = new Database(file);
  database.prepare("UPDATE runs SET status = 'pending' WHERE id = 'r1'").run([]);
  database.prepare("UPDATE schedules SET due = 1 WHERE id = 's1'").run([]);
  database.close();
  saver = await sqliteSaver(file);
  await expect(saver.ledger.unfinished()).rejects.toThrow(/does not match its checksum/);
  await expect(saver.ledger.schedules()).rejects.toThrow(/does not match its checksum/);
  await saver.close();
  expect(await checkStore(file)).toEqual([
    { thread: "kelp", what: "an entry of its server is damaged" },
    { what: "a schedule of its server is damaged" },
  ]);
  await repairStore(file);
  saver = await sqliteSaver(file);
  expect((await saver.ledger.runs("kelp")).map(({ id }) => id)).toEqual(["r3", "r2"]);
  expect(await saver.ledger.thread("kelp")).toEqual(THREAD);
  expect(await saver.ledger.schedules()).toEqual([RESTING]);
  await saver.close();
  rmSync(folder, { recursive: true });
});
