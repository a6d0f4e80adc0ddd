import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { inPipes } from "../../../../../test/helpers/terminal/piped-command.ts";
import { sqliteSaver } from "../../../../storage/index.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-rm-")));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(home, { recursive: true });
});

const holdfast = (...args: string[]) =>
  inPipes(args, {
    cwd: home,
    env: { HOME: home, HOLDFAST_STATE: join(home, "threads.db"), HOLDFAST_MODEL: "offline" },
  });

it("rm deletes threads unused for the given days, but keeps those with a schedule", async () => {
  const start = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  for (const thread of ["old", "kept"]) await holdfast("run", "--thread", thread, "Survey this directory");
  await holdfast("schedule", "0 9 * * *", "Look again", "--thread", "kept");
  vi.setSystemTime(start + 31 * DAY_MS);
  await holdfast("run", "--thread", "new", "Survey this directory");
  expect(await holdfast("rm", "--unused-for", "30")).toMatchObject({ code: 0, out: "Deleted old.\n" });
  expect((await holdfast("threads")).out).toMatch(/^new [^]*^kept /m);
});

it("deletes a thread's schedules with it, and nothing of a thread at work", async () => {
  await holdfast("run", "--thread", "t", "Survey this directory");
  await holdfast("schedule", "0 9 * * *", "Look again", "--thread", "t");
  await holdfast("schedule", "0 9 * * *", "Look anew");
  const saver = await sqliteSaver(join(home, "threads.db"));
  const release = await saver.acquireThread("t");
  expect((await holdfast("rm", "t")).code).not.toBe(0);
  await release();
  saver.close();
  expect((await holdfast("schedule")).out.trim().split("\n")).toHaveLength(2);
  expect(await holdfast("rm", "t")).toMatchObject({ code: 0, out: "Deleted t.\n" });
  expect((await holdfast("schedule")).out).toMatch(/^\S+ \(0 9 .*\): Look anew\n$/);
});
