import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { inPipes } from "../../../../../test/in-pipes.ts";

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

it("deletes threads that nobody used for so many days, with the schedules that continue them", async () => {
  const start = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  await holdfast("run", "--thread", "old", "Survey this directory");
  await holdfast("schedule", "0 9 * * *", "Look again", "--thread", "old");
  await holdfast("schedule", "0 9 * * *", "Look anew");
  vi.setSystemTime(start + 31 * DAY_MS);
  await holdfast("run", "--thread", "new", "Survey this directory");
  expect(await holdfast("rm", "--unused-for", "30")).toMatchObject({ code: 0, out: "Deleted old.\n" });
  expect((await holdfast("threads")).out).toMatch(/^new /m);
  expect((await holdfast("schedule")).out).toMatch(/^\S+ \(0 9 .*\): Look anew\n$/);
});
