import { describe, expect, it } from "vitest";
import { runOrder, taskOrder } from "../../bench/live/order.ts";
import { LIVE_SYSTEMS } from "../../bench/live/systems.ts";
import { assignmentOf, fingerprint, LIVE_TASKS } from "../../bench/live/tasks/index.ts";
import { changed, KINDS, type Changes, type LiveTask } from "../../bench/live/tasks/task.ts";
import { LiveWorkspace } from "../../bench/live/workspace.ts";
import { bubblewrapWorks } from "../../src/files/shell/isolation/bubblewrap.ts";

const SANDBOX = { isolation: bubblewrapWorks() ? "always" : "never" } as const;

/** What the check of a task says when the work leaves these changes. */
async function problemsAfter(task: LiveTask, seed: string, changes: Changes): Promise<string[]> {
  const { files, check } = assignmentOf(task, seed);
  const workspace = await LiveWorkspace.create(changed(files, changes), SANDBOX);
  try {
    return await check(await workspace.outcome());
  } finally {
    await workspace.remove();
  }
}

describe("the tasks for real models", () => {
  it("are at least 30, several of each kind, each with its own name", () => {
    expect(LIVE_TASKS.length).toBeGreaterThanOrEqual(30);
    expect(new Set(LIVE_TASKS.map(({ id }) => id)).size).toBe(LIVE_TASKS.length);
    for (const kind of KINDS)
      expect(LIVE_TASKS.filter((task) => task.kind === kind).length).toBeGreaterThan(2);
  });

  it.each(LIVE_TASKS.map((task) => [task.id, task] as const))(
    "%s: the right outcome is accepted; nothing done and a mistake are refused",
    async (_, task) => {
      const { solution, mistake } = assignmentOf(task, "1/1");
      const [right, untouched, wrong] = await Promise.all(
        [solution, {}, mistake].map((changes) => problemsAfter(task, "1/1", changes)),
      );
      expect(right).toEqual([]);
      expect(untouched).not.toEqual([]);
      expect(wrong).not.toEqual([]);
    },
  );

  // Those that run no code are quick: their data must be sound whatever is drawn.
  it.each(
    LIVE_TASKS.filter(({ kind }) => !["rename", "fix", "build"].includes(kind)).map(
      (task) => [task.id, task] as const,
    ),
  )("%s is as sound with other data", async (_, task) => {
    const test = (): never => expect.fail("it runs code");
    for (let seed = 2; seed < 102; seed += 1) {
      const { files, check, solution, mistake } = assignmentOf(task, `${seed}/1`);
      expect(await check({ files: changed(files, solution), test })).toEqual([]);
      expect(await check({ files: changed(files, mistake), test })).not.toEqual([]);
    }
  });

  it("need several steps: files to read, and files to change", () => {
    for (const task of LIVE_TASKS) {
      const { files, solution } = assignmentOf(task, "1/1");
      const steps = Object.keys(files).length + Object.keys(solution).length;
      expect([task.id, steps >= 5]).toEqual([task.id, true]);
    }
  });

  it("are the same for the same seed, and others for another", () => {
    expect(fingerprint("1/1")).toBe(fingerprint("1/1"));
    expect(fingerprint("2/1")).not.toBe(fingerprint("1/1"));
  });
});

describe("the order of the runs", () => {
  const tasks = taskOrder(LIVE_TASKS, 1);

  it("has every kind among the first tasks, and more tasks only add to fewer", () => {
    expect(new Set(tasks.slice(0, KINDS.length).map(({ kind }) => kind)).size).toBe(KINDS.length);
    const few = runOrder(tasks.slice(0, 3), LIVE_SYSTEMS, { seed: 1, rounds: 1 });
    const all = runOrder(tasks, LIVE_SYSTEMS, { seed: 1, rounds: 1 });
    expect(all.slice(0, few.length)).toEqual(few);
  });

  it("lets all systems do a task before the next one, not always in the same order", () => {
    const all = runOrder(tasks, LIVE_SYSTEMS, { seed: 1, rounds: 1 });
    const size = LIVE_SYSTEMS.length;
    const groups = tasks.map((_, at) => all.slice(at * size, (at + 1) * size));
    expect(groups.every((group) => new Set(group.map(({ task }) => task)).size === 1)).toBe(true);
    expect(groups.every((group) => new Set(group.map(({ system }) => system)).size === size)).toBe(true);
    expect(new Set(groups.map((group) => group[0]!.system)).size).toBe(size);
  });
});
