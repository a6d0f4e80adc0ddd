import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import Database from "libsql";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { STORES, type StorePlace } from "../../test/stores.ts";
import {
  checkStore,
  repairStore,
  sqliteSaver,
  type HostedThread,
  type RunRecord,
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

  it("a run is put with the change of its thread, and not where there is no such thread", async () => {
    const { ledger } = saver;
    expect(await ledger.changeThread("kelp", (before) => before, run("r1", "success"))).toBeUndefined();
    expect(await ledger.run("r1")).toBeUndefined();
    expect(await ledger.changeThread("kelp", () => THREAD, run("r1", "pending"))).toEqual(THREAD);
    expect(await ledger.run("r1")).toEqual(run("r1", "pending"));
  });

  it("a thread is deleted with what a server knows of it, whether it has checkpoints or not", async () => {
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

it("a damaged entry is never given out, is found by a check, and the others survive a repair", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-ledger-"));
  const file = join(folder, "threads.db");
  saver = await sqliteSaver(file);
  await fill();
  await saver.close();
  const database = new Database(file);
  database.prepare("UPDATE runs SET status = 'pending' WHERE id = 'r1'").run([]);
  database.close();
  saver = await sqliteSaver(file);
  await expect(saver.ledger.unfinished()).rejects.toThrow(/does not match its checksum/);
  await saver.close();
  expect(await checkStore(file)).toEqual([{ thread: "kelp", what: "an entry of its server is damaged" }]);
  await repairStore(file);
  saver = await sqliteSaver(file);
  expect((await saver.ledger.runs("kelp")).map(({ id }) => id)).toEqual(["r3", "r2"]);
  expect(await saver.ledger.thread("kelp")).toEqual(THREAD);
  await saver.close();
  rmSync(folder, { recursive: true });
});
