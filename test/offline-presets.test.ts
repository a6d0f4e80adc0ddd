import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, it } from "vitest";
import { PRESET_NAMES, type Status } from "../src/plan/index.ts";
import type { RunEvent } from "../src/runs/events.ts";

const MAIN = join(process.cwd(), "dist/surfaces/cli/main.js");
let home: string;

interface Item {
  status: Status;
}

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-presets-"));
  for (const folder of ["a", "b", "c"]) {
    mkdirSync(join(home, "project", folder), { recursive: true });
    writeFileSync(join(home, "project", folder, "same.ts"), "// TODO the same\n");
  }
});
afterEach(() => {
  rmSync(home, { recursive: true });
});

/** Runs the command line to its end, or until an event for which it is killed. Returns its exit code and its plans. */
async function holdfast(args: readonly string[], isEnd: (plan: readonly Item[]) => boolean = () => false) {
  const child = spawn(process.execPath, [MAIN, ...args, "--json"], {
    cwd: home,
    env: { PATH: process.env["PATH"], HOME: home, HOLDFAST_STATE: join(home, "threads.db") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
  let plan: readonly Item[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line) as RunEvent;
    if (event.type !== "plan-change" || event.owner !== "main") continue;
    plan = event.todos;
    if (isEnd(plan)) child.kill("SIGKILL");
  }
  return { code: await exit, statuses: plan.map(({ status }) => status) };
}

const survey = (preset: string) =>
  ["run", "--preset", preset, "--dir", "project", "--thread", "t", "Survey this directory"] as const;
const COMPLETED = Array<string>(8).fill("completed");

it.each(PRESET_NAMES)(
  "the offline model completes its plan in the preset %s",
  async (preset) => {
    expect(await holdfast(survey(preset))).toEqual({ code: 0, statuses: COMPLETED });
  },
  60_000,
);

it.each(["deerflow", "checklist"])(
  "goes on where it was killed in the middle, in the preset %s",
  async (preset) => {
    const isHalfDone = (plan: readonly Item[]): boolean =>
      plan.filter(({ status }) => status === "completed").length > 1;
    expect(await holdfast(survey(preset), isHalfDone)).toMatchObject({ code: null });
    expect(await holdfast(["resume", "t"])).toEqual({ code: 0, statuses: COMPLETED });
  },
  60_000,
);
