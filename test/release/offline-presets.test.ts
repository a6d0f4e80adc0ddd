import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, it } from "vitest";
import { PRESET_NAMES, type Status } from "../../src/plan/index.ts";
import type { RunEvent } from "../../src/threads/events/events.ts";
import { inPipes } from "../in-pipes.ts";

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

const inHome = () => ({
  cwd: home,
  env: { PATH: process.env["PATH"], HOME: home, HOLDFAST_STATE: join(home, "threads.db") },
});

/** The main plan that a line of the output shows, if it shows one. */
function planIn(line: string): readonly Item[] | undefined {
  const event = JSON.parse(line) as RunEvent;
  return event.type === "plan-change" && event.owner === "main" ? event.todos : undefined;
}

/** Runs a command to its end in this process. Returns its exit code and how its plan ended. */
async function holdfast(args: readonly string[]) {
  const { code, out, err } = await inPipes([...args, "--json"], inHome());
  const plans = out.trimEnd().split("\n").map(planIn);
  return { code, statuses: plans.findLast(Boolean)?.map(({ status }) => status), err };
}

/** Runs a command in a process of its own, and kills it in the middle of its plan. Returns its exit code. */
async function killed(args: readonly string[]): Promise<number | null> {
  const child = spawn(process.execPath, [MAIN, ...args, "--json"], {
    ...inHome(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
  for await (const line of createInterface({ input: child.stdout })) {
    const done = planIn(line)?.filter(({ status }) => status === "completed") ?? [];
    if (done.length > 1) child.kill("SIGKILL");
  }
  return exit;
}

const survey = (preset: string) =>
  ["run", "--preset", preset, "--dir", "project", "--thread", "t", "Survey this directory"] as const;
const COMPLETED = Array<string>(8).fill("completed");

it.each(PRESET_NAMES)(
  "the offline model completes its plan in the preset %s",
  async (preset) => {
    expect(await holdfast(survey(preset))).toEqual({ code: 0, statuses: COMPLETED, err: "" });
  },
  60_000,
);

it.each(["deerflow", "checklist"])(
  "goes on where it was killed in the middle, in the preset %s",
  async (preset) => {
    expect(await killed(survey(preset))).toBeNull();
    expect(await holdfast(["resume", "t"])).toEqual({ code: 0, statuses: COMPLETED, err: "" });
  },
  60_000,
);
