import {
  lines,
  problemIn,
  type Assignment,
  type Changes,
  type Files,
  type LiveTask,
  type Random,
} from "./task.ts";

/** A module of a task: how it is given, how it is right, and what its tests say. */
export interface TaskModule {
  name: string;
  /** What it has to do, in a sentence or two. */
  does: string;
  /** Absent where it has to be written. */
  given?: string;
  right: string;
  /** Nearly right. Default: as it was given. */
  nearly?: string;
  /** Expressions and their values. The last of them is not shown to the model. */
  examples: readonly (readonly [expression: string, value: unknown])[];
}

/** A task about modules that have to pass tests. */
export function codeTask({
  id,
  kind,
  prompt,
  modules,
}: Pick<LiveTask, "id" | "kind"> & {
  prompt: (names: string) => string;
  modules: (random: Random) => readonly TaskModule[];
}): LiveTask {
  return {
    id,
    kind,
    assign: (random): Assignment => {
      const all = modules(random);
      const spoiled = random.pick(all);
      const files: Files = {
        "SPEC.md": lines(
          "# Modules",
          ...all.flatMap(({ name, does }) => ["", `## src/${name}.mjs`, "", does]),
        ),
        ...Object.fromEntries(
          all.flatMap(({ name, given }) => (given === undefined ? [] : [[`src/${name}.mjs`, given]])),
        ),
        ...Object.fromEntries(
          all.map((module) => [testPath(module), testFile(module, module.examples.slice(0, -1))]),
        ),
      };
      const solution: Changes = Object.fromEntries(all.map(({ name, right }) => [`src/${name}.mjs`, right]));
      return {
        prompt: prompt(all.map(({ name }) => `src/${name}.mjs`).join(", ")),
        files,
        check: async ({ test }) =>
          problemIn(
            await test(
              Object.fromEntries(all.map((module) => [testPath(module), testFile(module, module.examples)])),
            ),
          ),
        solution,
        mistake: { ...solution, [`src/${spoiled.name}.mjs`]: spoiled.nearly ?? spoiled.given },
      };
    },
  };
}

function testPath({ name }: TaskModule): string {
  return `test/${name}.test.mjs`;
}

function testFile({ name }: TaskModule, examples: TaskModule["examples"]): string {
  return lines(
    'import { deepStrictEqual } from "node:assert";',
    'import { test } from "node:test";',
    `import * as ${name} from "../src/${name}.mjs";`,
    ...examples.flatMap(([expression, value], at) => [
      "",
      `test("${name} ${at + 1}", () => {`,
      `  deepStrictEqual(${expression}, ${JSON.stringify(value)});`,
      "});",
    ]),
  );
}
