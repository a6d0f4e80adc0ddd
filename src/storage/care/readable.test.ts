import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { say, textsOf, writeTwoThreads } from "../../../test/helpers/postgres/stored-threads.ts";
import { backupStore, checkStore, repairStore, sqliteSaver } from "../index.ts";
import { Connection } from "../sqlite/database/connection.ts";

const PAGE = 4096;
const HEADER = 100;
const ALL = ["first", "answer to first", "second", "answer to second"];

/** A store that every test has a copy of. */
let made: string;
beforeAll(async () => {
  made = mkdtempSync(join(tmpdir(), "holdfast-readable-made-"));
  await writeTwoThreads(join(made, "threads.db"));
});
afterAll(() => rmSync(made, { recursive: true, force: true }));

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-readable-test-"));
  file = join(folder, "threads.db");
  cpSync(join(made, "threads.db"), file);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Change = (whole: Buffer) => Buffer;
const overwritten =
  (value: number, from: number, to: number): Change =>
  (whole) =>
    Buffer.from(whole).fill(value, from, to);

describe("a file whose beginning is damaged", () => {
  const changes: [string, Change, RegExp][] = [
    ["a header of zeros", overwritten(0, 0, HEADER), /^it is not a SQLite database$/],
    ["a header of ones", overwritten(0xff, 0, HEADER), /^it is not a SQLite database$/],
    [
      "a header that says it is another program's",
      overwritten(1, 68, 72),
      /^it is the SQLite database of another program$/,
    ],
    ["a header with the number of an earlier format", overwritten(2, 63, 64), /^its header is damaged$/],
    ["a header that counts too few pages", overwritten(5, 31, 32), /^its header is damaged$/],
    ["a first page of zeros", overwritten(0, 0, PAGE), /^it is not a SQLite database$/],
    ["a list of tables of zeros", overwritten(0, HEADER, PAGE), /^its list of tables is damaged$/],
    ["half a list of tables", overwritten(0xff, PAGE / 2, PAGE), /^its list of tables is damaged$/],
  ];

  it.each(changes)("is reported, and a repair loses nothing: %s", async (_, change, what) => {
    writeFileSync(file, change(readFileSync(file)));
    expect(await repaired()).toEqual({ said: expect.stringMatching(what) as string, texts: [ALL, ALL] });
  });

  it("loses nothing in a repair when it is a backup, whose tables are in another order", async () => {
    const copy = join(folder, "copy.db");
    await backupStore(file, copy);
    writeFileSync(file, readFileSync(copy).fill(0, 0, PAGE));
    rmSync(copy);
    expect(await repaired()).toEqual({ said: "it is not a SQLite database", texts: [ALL, ALL] });
  });

  it("keeps the content of its log", async () => {
    const saver = await sqliteSaver(file);
    await say(saver, "a", "third");
    // As a killed process leaves it.
    for (const suffix of ["", "-wal"]) cpSync(file + suffix, join(folder, `killed.db${suffix}`));
    saver.close();
    file = join(folder, "killed.db");
    writeFileSync(file, readFileSync(file).fill(0, 0, HEADER));
    await repairStore(file);
    const after = await sqliteSaver(file);
    expect((await textsOf(after, "a")).slice(-2)).toEqual(["third", "answer to third"]);
    after.close();
  });

  it("is never misread, whichever bit of its header is flipped", async () => {
    const whole = readFileSync(file);
    const refused: { byte: number; error: unknown }[] = [];
    for (let bit = 0; bit < HEADER * 8; bit += 29) {
      const changed = Buffer.from(whole);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      writeFileSync(file, changed);
      const problems = await checkStore(file).catch(
        (error: unknown) => void refused.push({ byte: bit >> 3, error }),
      );
      if (problems === undefined) continue;
      await repairStore(file);
      const saver = await sqliteSaver(file);
      expect([bit, (await textsOf(saver, "a")).length]).toEqual([bit, 4]);
      saver.close();
      for (const name of readdirSync(folder)) if (name !== "threads.db") rmSync(join(folder, name));
    }
    // Which format it is, newer ones too: what may come from a newer version is left alone.
    expect(refused.filter(({ byte }) => byte < 60 || byte > 63)).toEqual([]);
    for (const { error } of refused) expect(error).toMatchObject({ code: "storage-version" });
  });
});

describe("the log of a killed process", () => {
  /** The bytes of a log with some commits in it. */
  async function killed(): Promise<Buffer> {
    const saver = await sqliteSaver(file);
    for (const text of ["third", "fourth", "fifth"]) await say(saver, "a", text);
    for (const suffix of ["", "-wal"]) cpSync(file + suffix, join(folder, `killed.db${suffix}`));
    saver.close();
    file = join(folder, "killed.db");
    return readFileSync(`${file}-wal`);
  }

  it("passes the check, even when its last commit is incomplete and the index is gone", async () => {
    const log = await killed();
    expect(await checkStore(file)).toEqual([]);
    rmSync(`${file}-shm`, { force: true });
    writeFileSync(`${file}-wal`, log.subarray(0, log.length - PAGE));
    expect(await checkStore(file)).toEqual([]);
  });

  it.each([
    ["a frame", 10],
    ["its head", 0],
  ])("is reported as damaged in %s, because SQLite drops the later commits", async (_, frame) => {
    const log = await killed();
    const at = frame === 0 ? 20 : 32 + frame * (PAGE + 24) + 100;
    log[at]! ^= 1;
    writeFileSync(`${file}-wal`, log);
    const [problem] = await checkStore(file);
    expect(problem?.what).toMatch(/^its log is damaged: of the newest commits \d+ are lost$/);
    expect(await repairStore(file)).toMatchObject({ saved: 2, lost: [] });
    expect(await checkStore(file)).toEqual([]);
    const saver = await sqliteSaver(file);
    expect((await textsOf(saver, "a")).slice(0, 4)).toEqual(ALL);
    saver.close();
  });
});

it("a repair saves the rest of a truncated file", async () => {
  const whole = readFileSync(file);
  writeFileSync(file, whole.subarray(0, whole.length - PAGE - 100));
  expect((await checkStore(file))[0]).toEqual({ what: expect.stringMatching(/^it is cut short/) as string });
  const { saved, lost } = await repairStore(file);
  expect(saved + lost.length).toBe(2);
  expect(await checkStore(file)).toEqual([]);
});

it("Holdfast refuses a foreign file and leaves no new file in its folder", async () => {
  const other = join(folder, "other.db");
  const connection = await Connection.open(other);
  connection.exec("CREATE TABLE store.threads (id TEXT); INSERT INTO threads VALUES ('x')");
  connection.close();
  const text = join(folder, "text.db");
  writeFileSync(text, "not a database\n".repeat(5000));
  const before = readdirSync(folder);
  for (const path of [other, text]) {
    for (const look of [checkStore, repairStore]) {
      await expect(look(path)).rejects.toMatchObject({
        code: "storage-corrupt",
        message: expect.stringMatching(/is no Holdfast thread store.*It was left as it is\.$/) as string,
      });
    }
  }
  expect(readdirSync(folder)).toEqual(before);
});

it("a file of an earlier format is refused by that name, and stays the same", async () => {
  const connection = await Connection.open(file);
  connection.exec("DROP TABLE schedules; PRAGMA store.user_version = 5;");
  connection.all("PRAGMA store.wal_checkpoint(TRUNCATE)");
  connection.close();
  const before = readFileSync(file);
  for (const use of [sqliteSaver, checkStore, repairStore]) {
    await expect(use(file)).rejects.toMatchObject({
      code: "storage-version",
      message: expect.stringMatching(/an earlier Holdfast \(format 5; this one reads 6\)/) as string,
    });
  }
  expect(readFileSync(file).equals(before)).toBe(true);
});

/** What the check says first, and the messages of both threads after a repair. */
async function repaired(): Promise<{ said: string | undefined; texts: string[][] }> {
  const before = readFileSync(file);
  const [problem] = await checkStore(file);
  expect(readFileSync(file).equals(before)).toBe(true);
  const { kept, saved, lost } = await repairStore(file);
  expect({ saved, lost }).toEqual({ saved: 2, lost: [] });
  expect(readFileSync(kept!).equals(before)).toBe(true);
  expect(await checkStore(file)).toEqual([]);
  const saver = await sqliteSaver(file);
  const texts = [await textsOf(saver, "a"), await textsOf(saver, "b")];
  saver.close();
  return { said: problem?.what, texts };
}
