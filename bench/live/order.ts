import { draw } from "../worth/draw.ts";
import type { RunKey } from "./results.ts";
import type { LiveSystem } from "./systems.ts";
import { KINDS, type LiveTask } from "./tasks/task.ts";

/** The tasks in an order of the seed's that takes one of each kind in turn: a few of them are a fair sample. */
export function taskOrder(tasks: readonly LiveTask[], seed: number): LiveTask[] {
  const mixed = (list: readonly LiveTask[], key: string): LiveTask[] =>
    list.toSorted((a, b) => draw(seed, key, a.id) - draw(seed, key, b.id));
  const groups = KINDS.map((kind) =>
    mixed(
      tasks.filter((task) => task.kind === kind),
      "task",
    ),
  );
  const longest = Math.max(...groups.map((group) => group.length));
  return Array.from({ length: longest }, (_, at) =>
    mixed(
      groups.flatMap((group) => group[at] ?? []),
      `turn ${at}`,
    ),
  ).flat();
}

/**
 * Every run, task by task: all systems do a task one after the other, in an order that changes from task to task, so
 * that a provider that is slow, changed or failing for an hour is so for all of them.
 */
export function runOrder(
  tasks: readonly LiveTask[],
  systems: readonly LiveSystem[],
  { seed, rounds }: { seed: number; rounds: number },
): RunKey[] {
  return Array.from({ length: rounds }, (_, at) => at + 1).flatMap((round) =>
    tasks.flatMap(({ id }) =>
      systems
        .toSorted((a, b) => draw(seed, round, id, a.name) - draw(seed, round, id, b.name))
        .map(({ name }) => ({ round, task: id, system: name })),
    ),
  );
}
