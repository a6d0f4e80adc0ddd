import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { Connection } from "../../src/storage/sqlite/database/connection.ts";
import { inPipes } from "../helpers/terminal/piped-command.ts";
import { inOneProcess } from "../helpers/terminal/shared-process.ts";

/** Somebody who may read what others may read, and write nothing: root may write whatever the mode says. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** Two surveys, which each test gets a copy of. */
let surveyed: string;
let home: string;
let state: string;
beforeAll(async () => {
  surveyed = mkdtempSync(join(tmpdir(), "holdfast-surveyed-"));
  mkdirSync(join(surveyed, "project"));
  writeFileSync(join(surveyed, "project/a.ts"), "export const a = 1;\n");
  [home, state] = [surveyed, join(surveyed, "threads.db")];
  for (const thread of ["one", "two"]) {
    const { code, err } = await holdfast(...SURVEY, thread);
    if (code !== 0) throw new Error(err);
  }
  // The last connection takes its files with it.
  await vi.waitUntil(() => !readdirSync(surveyed).some((name) => /-(shm|wal)$/.test(name)), {
    timeout: 120_000,
  });
});
afterAll(() => rmSync(surveyed, { recursive: true }));
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-state-"));
  state = join(home, "threads.db");
  cpSync(surveyed, home, { recursive: true });
});
afterEach(() => {
  chmodSync(home, 0o700);
  rmSync(home, { recursive: true });
});

const SURVEY = ["run", "--dir", "project", "Survey this directory", "--thread"];

it("check reports damage by thread; repair saves the rest and keeps the old file", async () => {
  expect(await holdfast("check")).toMatchObject({ code: 0, out: `${state} is whole.\n` });
  await damage("one");
  const check = await holdfast("check");
  expect(check).toMatchObject({ code: 1, err: "" });
  expect(check.out).toMatch(/^one:\n {2}blob \d+ is damaged\n/);
  const show = await holdfast("show", "one");
  expect(show.code).toBe(1);
  expect(show.err).toMatch(
    /^holdfast: Thread "one" cannot be used\. .*holdfast check .*holdfast repair .*\n$/,
  );
  expect(await holdfast("show", "two")).toMatchObject({ code: 0 });

  const repair = await holdfast("repair");
  expect(repair).toMatchObject({ code: 0, err: "" });
  expect(repair.out).toContain("2 threads are in");
  expect(readdirSync(home).some((name) => name.startsWith("threads.db.damaged-"))).toBe(true);
  expect(await holdfast("check")).toMatchObject({ code: 0 });
  expect(await holdfast("show", "one")).toMatchObject({ code: 0 });
  expect(await holdfast("repair")).toMatchObject({
    code: 0,
    out: `${state} is whole; nothing was done.\n`,
  });
});

it("a backup is a separate file with the same threads", async () => {
  const { code, out } = await holdfast("backup", "copy.db");
  expect([code, out]).toEqual([0, `All threads are in ${join(home, "copy.db")}, checked from end to end.\n`]);
  const listed = await holdfast("threads", "--json");
  expect((await holdfast("threads", "--json", "--state", "copy.db")).out).toBe(listed.out);
  expect(await holdfast("backup", "copy.db")).toMatchObject({ code: 2 });
  expect((await holdfast("backup")).out).toMatch(/threads\.backup-\d{4}-.*\.db/);
  expect(await holdfast("backup", "--state", "nowhere.db")).toMatchObject({ code: 2 });
});

it("a user with a read-only file lists and shows threads, and gets an error for more", async () => {
  chmodSync(state, 0o444);
  chmodSync(home, 0o555);
  const before = readFileSync(state);
  const [listed, shown, checked, written] = await reader(
    ["threads"],
    ["show", "one"],
    ["check"],
    [...SURVEY, "one"],
  );
  expect(listed!.out).toMatch(/^two +done/m);
  expect(shown).toMatchObject({ code: 0, err: "" });
  expect(checked).toMatchObject({ code: 0 });
  expect(written!.code).toBe(1);
  expect(written!.err).toContain("You may read it, not write to it");
  expect(readFileSync(state).equals(before)).toBe(true);
});

const environment = () => ({
  PATH: process.env["PATH"],
  HOME: home,
  HOLDFAST_STATE: state,
  HOLDFAST_MODEL: "offline",
});

const holdfast = (...args: string[]) => inPipes(args, { cwd: home, env: environment() });

/** The same in a process of somebody else. */
const reader = (...commands: string[][]) =>
  inOneProcess(
    commands.map((args) => ({ args })),
    { cwd: home, env: environment(), ...NOBODY },
  );

/** Changes a byte of the newest message of a thread, behind SQLite's back. */
async function damage(thread: string): Promise<void> {
  const connection = await Connection.open(state);
  connection.run(
    "UPDATE blobs SET body = substr(body, 1, 20) || x'ff' || substr(body, 22) WHERE id = (SELECT max(b.id) FROM blobs b JOIN threads t ON t.key = b.thread WHERE t.id = ? AND b.kind = 'json')",
    [thread],
  );
  connection.all("PRAGMA store.wal_checkpoint(TRUNCATE)");
  connection.close();
}
