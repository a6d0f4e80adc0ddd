import { createHash } from "node:crypto";
import { BUILD_TASKS } from "./build.ts";
import { CONFIGURATION_TASKS } from "./configuration.ts";
import { FACTS_TASKS } from "./facts.ts";
import { FIGURES_TASKS } from "./figures.ts";
import { FIX_TASKS } from "./fix.ts";
import { FOLDERS_TASKS } from "./folders.ts";
import { RENAME_TASKS } from "./rename.ts";
import { Random, type Assignment, type LiveTask } from "./task.ts";
import { WRITING_TASKS } from "./writing.ts";

/** The shipped set. */
export const LIVE_TASKS: readonly LiveTask[] = [
  ...RENAME_TASKS,
  ...FIGURES_TASKS,
  ...FIX_TASKS,
  ...BUILD_TASKS,
  ...CONFIGURATION_TASKS,
  ...FACTS_TASKS,
  ...FOLDERS_TASKS,
  ...WRITING_TASKS,
];

/** A task with the data of a seed. */
export function assignmentOf(task: LiveTask, seed: string): Assignment {
  return task.assign(new Random(`${seed}/${task.id}`));
}

/** Stands for the whole set with the data of a seed: results of another set are not to be mixed with these. */
export function fingerprint(seed: string): string {
  const all = LIVE_TASKS.map((task) => {
    const { prompt, files, solution } = assignmentOf(task, seed);
    return [task.id, prompt, files, solution];
  });
  return createHash("sha256").update(JSON.stringify(all)).digest("hex").slice(0, 12);
}
