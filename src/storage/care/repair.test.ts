import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { say, textsOf, writeTwoThreads } from "../../../test/helpers/postgres/stored-threads.ts";
import { backupStore, checkStore, repairStore, sqliteSaver } from "../index.ts";
import { Connection } from "../sqlite/database/connection.ts";
import { openFile } from "../sqlite/file/open.ts";
import { SqliteSaver as Saver } from "../sqlite/saver.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-repair-"));
  file = join(folder, "threads.db");
  await writeTwoThreads(file);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a file in which something was changed", () => {
  it.each([
    [
      "a blob",
      "UPDATE blobs SET body = 'x' WHERE id = (SELECT max(id) FROM blobs WHERE thread = 1)",
      /blob \d+ is damaged/,
    ],
    [
      "a checkpoint",
      "UPDATE checkpoints SET parent = 'x' WHERE seq = (SELECT max(seq) FROM checkpoints WHERE thread = 1)",
      /checkpoint .* is damaged/,
    ],
    [
      "a write",
      "UPDATE writes SET value = '1' WHERE thread = 1",
      /of \d+ writes to checkpoint .* 0 are whole/,
    ],
    [
      "what is newest",
      "DELETE FROM heads WHERE thread = 1",
      /the record of the newest checkpoint is damaged/,
    ],
    [
      "the list of threads",
      "UPDATE threads SET title = 'x' WHERE key = 1",
      /its entry in the list of threads is damaged/,
    ],
  ])(
    "%s: the check says so, the other thread can be used, and a repair saves the rest",
    async (_, sql, what) => {
      await change(sql);
      const before = readFileSync(file);
      const problems = await checkStore(file);
      expect(problems.map((problem) => problem.thread)).toEqual(problems.map(() => "a"));
      expect(problems.map((problem) => problem.what).join("\n")).toMatch(what);
      expect(readFileSync(file).equals(before)).toBe(true);

      const { kept, saved, lost } = await repairStore(file);
      expect({ saved, lost }).toEqual({ saved: 2, lost: [] });
      expect(readFileSync(kept!).equals(before)).toBe(true);
      expect(await checkStore(file)).toEqual([]);
      const saver = await sqliteSaver(file);
      expect(await textsOf(saver, "b")).toEqual(["first", "answer to first", "second", "answer to second"]);
      await say(saver, "a", "third");
      expect((await textsOf(saver, "a")).slice(-2)).toEqual(["third", "answer to third"]);
      expect((await saver.listThreads()).map(({ id }) => id)).toEqual(["a", "b"]);
      saver.close();
      expect(readdirSync(folder).filter((name) => name.endsWith(".new"))).toEqual([]);
    },
  );

  it("readers get an error that names the thread and the remedy", async () => {
    await change("UPDATE blobs SET body = 'x' WHERE thread = 1");
    const saver = await sqliteSaver(file);
    await expect(saver.getTuple(thread("a"))).rejects.toMatchObject({
      code: "storage-corrupt",
      message: expect.stringMatching(
        /^Thread "a" cannot be used\. .*threads\.db.*holdfast check.*holdfast repair/,
      ) as string,
    });
    expect(await textsOf(saver, "b")).toHaveLength(4);
    saver.close();
  });
});

it("a lost thread is named, and an intact file is left alone", async () => {
  expect(await repairStore(file)).toEqual({ problems: [], saved: 2, lost: [] });
  expect(readdirSync(folder).filter((name) => /new|damaged/.test(name))).toEqual([]);
  await change("DELETE FROM checkpoints WHERE thread = 2");
  expect(await repairStore(file)).toMatchObject({ saved: 1, lost: ["b"] });
});

it("unreadable pages are skipped", async () => {
  const whole = readFileSync(file);
  writeFileSync(file, Buffer.from(whole).fill(0xff, whole.length - 3 * 4096, whole.length - 2 * 4096));
  expect(await checkStore(file)).not.toEqual([]);
  await repairStore(file);
  expect(await checkStore(file)).toEqual([]);
});

describe("a backup", () => {
  it("is a snapshot without leases, and overwrites nothing", async () => {
    const saver = await sqliteSaver(file);
    await saver.acquireThread("a");
    const copy = join(folder, "copy.db");
    await backupStore(file, copy);
    await say(saver, "a", "later");
    await expect(backupStore(file, copy)).rejects.toMatchObject({ code: "invalid-options" });
    const copied = await sqliteSaver(copy);
    expect(await textsOf(copied, "a")).toHaveLength(4);
    await copied.acquireThread("a");
    copied.close();
    saver.close();
  });

  it("is refused for a damaged file, and leaves no new file", async () => {
    await change("UPDATE blobs SET body = 'x' WHERE thread = 1");
    await expect(backupStore(file, join(folder, "copy.db"))).rejects.toMatchObject({
      code: "storage-corrupt",
    });
    expect(readdirSync(folder)).toEqual(["threads.db"]);
  });
});

describe("a file that may only be read", () => {
  it.each(["read", "frozen"] as const)("is listed and read, and not written to (%s)", async (access) => {
    const connection = await Connection.open(file, { access });
    const saver = new Saver(connection);
    expect(await saver.listThreads()).toHaveLength(2);
    expect(await textsOf(saver, "a")).toHaveLength(4);
    await expect(say(saver, "a", "third")).rejects.toThrow("You may read it, not write to it");
    saver.close();
  });

  it("is opened read-only by itself, and its log is never left out", async () => {
    const writer = await sqliteSaver(file);
    await say(writer, "a", "third");
    const reader = new Saver(await openFile(file, "read"));
    expect(await textsOf(reader, "a")).toHaveLength(6);
    reader.close();
    writer.close();
    copyFileSync(file, join(folder, "copy.db"));
    expect(await checkStore(join(folder, "copy.db"))).toEqual([]);
  });
});

const thread = (id: string) => ({ configurable: { thread_id: id } });

async function change(sql: string): Promise<void> {
  const connection = await Connection.open(file);
  connection.exec(sql);
  connection.all("PRAGMA store.wal_checkpoint(TRUNCATE)");
  connection.close();
}
