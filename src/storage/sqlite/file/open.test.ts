import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { run } from "../../../../test/helpers/terminal/run-program.ts";
import { HarnessError } from "../../../errors.ts";
import { checkStore } from "../../care/check.ts";
import { sqliteSaver } from "../../sqlite.ts";
import { Connection } from "../database/connection.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-files-"));
  file = join(folder, "threads.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a file that cannot be used is refused and left as it is:", () => {
  it.each([
    ["a text", () => Buffer.from("not a database\n".repeat(500)), "storage-corrupt", /not a SQLite database/],
    ["a few bytes", () => Buffer.from("SQLite"), "storage-corrupt", /not a SQLite database/],
    [
      "one cut in half",
      (whole: Buffer) => whole.subarray(0, whole.length / 2),
      "storage-corrupt",
      /cut short/,
    ],
    [
      "one cut inside its last page",
      (whole: Buffer) => whole.subarray(0, -100),
      "storage-corrupt",
      /cut short/,
    ],
    ["one with a damaged page", (whole: Buffer) => damaged(whole), "storage-corrupt", /damaged|malformed/],
    [
      "one of a newer version",
      (whole: Buffer) => newer(whole),
      "storage-version",
      /newer Holdfast \(format 99/,
    ],
  ])("%s", async (_, change, code, message) => {
    writeFileSync(file, change(await filled()));
    const before = readFileSync(file);
    const error = await refusal(file);
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
    expect(error.message).toContain(file);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it("the database of another program, with no new file next to the database", async () => {
    const other = await Connection.open(file);
    other.exec("CREATE TABLE store.threads (id TEXT)");
    other.close();
    const error = await refusal(file);
    expect([error.code, readdirSync(folder)]).toEqual(["storage-corrupt", ["threads.db"]]);
    expect(error.message).toContain("the SQLite database of another program");
  });

  it("a file of a newer version, which only its log tells", async () => {
    (await sqliteSaver(file)).close();
    const other = await Connection.open(file);
    other.exec("PRAGMA store.user_version = 99");
    expect((await refusal(file)).code).toBe("storage-version");
    expect(other.get("PRAGMA store.user_version")).toMatchObject({ user_version: 99 });
    other.close();
  });

  it("a folder", async () => {
    expect((await refusal(folder)).code).toBe("storage-failed");
  });
});

describe("a new file", () => {
  it("is created with its folders", async () => {
    const deep = join(folder, "a", "b", "threads.db");
    const saver = await sqliteSaver(deep);
    saver.close();
    expect(readdirSync(join(folder, "a", "b")).filter((name) => name.endsWith(".new"))).toEqual([]);
  });

  it.skipIf(process.platform === "win32")("is for its owner alone", async () => {
    const saver = await sqliteSaver(file);
    saver.close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("may exist already, empty", async () => {
    writeFileSync(file, "");
    const saver = await sqliteSaver(file);
    expect(await saver.listThreads()).toEqual([]);
    saver.close();
  });

  it("is one file for all processes that open it at once", async () => {
    const savers = await Promise.all(Array.from({ length: 5 }, () => sqliteSaver(file)));
    for (const [at, saver] of savers.entries()) await save(saver, `thread-${at}`);
    expect(await savers[0]!.listThreads()).toHaveLength(5);
    for (const saver of savers) saver.close();
  });
});

it.skipIf(process.platform === "win32").each([
  ["that is new", () => {}],
  ["that is empty", () => writeFileSync(file, "")],
])("a file %s is not called damaged on a full disk, and leaves no new files", async (_, prepare) => {
  prepare();
  const before = readdirSync(folder);
  const storage = new URL("../../../../dist/storage/index.js", import.meta.url).href;
  const program = `const { sqliteSaver } = await import(${JSON.stringify(storage)});
    await sqliteSaver(${JSON.stringify(file)}).catch(({ code, message }) => console.log(JSON.stringify([code, message])));`;
  // At most 32 or 64 kB in a file, by what the shell counts in: less than an empty store takes.
  const limited = [
    "-c",
    'ulimit -f 64; exec "$0" "$@"',
    process.execPath,
    "--input-type=module",
    "-e",
    program,
  ];
  const { stdout, stderr } = spawnSync("sh", limited, { encoding: "utf8" });
  expect(stdout, stderr).not.toBe("");
  const [code, message] = JSON.parse(stdout) as [string, string];
  expect([code, message]).toEqual(["storage-failed", expect.stringContaining(`${file} could not be used: `)]);
  expect(readdirSync(folder)).toEqual(before);
  const saver = await sqliteSaver(file);
  expect(await saver.listThreads()).toEqual([]);
  saver.close();
});

it("the error for a missing database package names the command that installs it", async () => {
  vi.doMock("libsql", () => {
    throw new Error("Cannot find package 'libsql'");
  });
  const error = await refusal(file);
  vi.doUnmock("libsql");
  expect([error.code, error.message]).toEqual([
    "missing-package",
    "Storing threads in SQLite needs the package libsql. Install it with: npm install libsql",
  ]);
  expect(readdirSync(folder)).toEqual([]);
});

it.runIf(process.platform === "linux")("a closed saver keeps no file open", async () => {
  for (let at = 0; at < 20; at++) {
    const saver = await sqliteSaver(file);
    await save(saver, "t");
    await saver.getTuple({ configurable: { thread_id: "t" } });
    saver.close();
  }
  const open = readdirSync("/proc/self/fd").flatMap((name) => {
    const link = join("/proc/self/fd", name);
    return existsSync(link) ? [readlinkSync(link)] : [];
  });
  expect(open.filter((path) => path.startsWith(folder))).toEqual([]);
});

it("a process keeps its locks on a file when it opens, checks or closes it again", async () => {
  const early = await sqliteSaver(file);
  await (
    await early.acquireThread("t")
  )();
  const late = await sqliteSaver(file);
  early.close();
  await save(late, "t");
  const again = await sqliteSaver(file);
  expect(await checkStore(file)).toEqual([]);
  again.close();
  // Who is the last to close a file deletes its log.
  const log = statSync(`${file}-wal`).ino;
  const program = `
    import { sqliteSaver } from "holdfast/storage";
    const saver = await sqliteSaver(${JSON.stringify(file)});
    await saver.noteProgress("t", { done: 1, total: 1 });
    saver.close();`;
  expect(await run(process.execPath, ["--input-type=module", "-e", program])).toMatchObject({ stderr: "" });
  expect(statSync(`${file}-wal`).ino).toBe(log);
  expect(await late.getThread("t")).toMatchObject({ todos: { done: 1, total: 1 } });
  late.close();
});

it("a closed saver throws an error that says so", async () => {
  const saver = await sqliteSaver(file);
  saver.close();
  await expect(save(saver, "t")).rejects.toThrow(`${file} was closed.`);
});

/** The bytes of a store with some threads in it. */
async function filled(): Promise<Buffer> {
  const saver = await sqliteSaver(file);
  for (let at = 0; at < 40; at++) await save(saver, `thread-${at}`);
  saver.close();
  const whole = readFileSync(file);
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  return whole;
}

async function save(saver: Awaited<ReturnType<typeof sqliteSaver>>, thread: string): Promise<void> {
  const checkpoint = { ...emptyCheckpoint(), channel_values: { text: `${thread} `.repeat(300) } };
  const config = { configurable: { thread_id: thread } };
  await saver.put(config, checkpoint, { source: "loop", step: 0, parents: {} }, { text: 1 });
}

function damaged(whole: Buffer): Buffer {
  return Buffer.from(whole).fill(0xff, 4096 * 8, 4096 * 12);
}

function newer(whole: Buffer): Buffer {
  const copy = Buffer.from(whole);
  copy.writeUInt32BE(99, 60);
  return copy;
}

async function refusal(path: string): Promise<HarnessError> {
  const error: unknown = await sqliteSaver(path).catch((reason: unknown) => reason);
  if (!(error instanceof HarnessError)) throw new Error("expected a HarnessError", { cause: error });
  return error;
}
