import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { exportsOf, modules, sourceOf } from "../helpers/measure/exported-names.ts";
import { typeCheck, type CodeBlock, type CompilerError } from "../helpers/measure/type-check.ts";
import { isRelease } from "../helpers/runner/rounds.ts";

/** Functions whose name and types say how to call them. */
const NEED_NONE: readonly string[] = ["isClosed", "isFinished", "isOpen"];

/** The most lines of an example. */
const MOST_LINES = 8;

const examples = sourceFiles().flatMap((file) => examplesIn(file, readFileSync(file, "utf8")));

it.each(modules)(
  "each function and class of the export %s has an example in its comment",
  async (subpath) => {
    const built = (await import(subpath.replace(".", manifest.name))) as Record<string, unknown>;
    const functions = exportsOf(sourceOf(subpath)).filter(
      ({ name }) => typeof built[name] === "function" && needsExample(subpath, name),
    );
    const names = functions.map(({ name }) => name);
    const shown = functions.filter(({ comment }) => comment?.includes("@example")).map(({ name }) => name);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !shown.includes(name))).toEqual([]);
  },
);

it("each example is a short block of code that imports the package by its name", () => {
  expect(examples.length).toBeGreaterThan(70);
  const lines = ({ code }: CodeBlock): number => code.trimEnd().split("\n").length;
  const unfit = examples.filter(
    (example) => lines(example) > MOST_LINES || !/from "holdfast(?:\/\w+)?";/.test(example.code),
  );
  expect(unfit.map(({ file, line }) => `${file}:${line}`)).toEqual([]);
});

it("each @example has code", () => {
  const tags = sourceFiles().flatMap((file) => readFileSync(file, "utf8").match(/^ *\* @example/gm) ?? []);
  expect(examples).toHaveLength(tags.length);
});

// The types of the package are built for a release run.
describe.runIf(isRelease)("the examples in comments compile against the built package", () => {
  let errors: CompilerError[];

  beforeAll(async () => {
    errors = await typeCheck(examples);
  });

  it.each(examples.map((example, index) => ({ ...example, index })))("$file:$line", ({ file, index }) => {
    const found = errors.filter((error) => error.block === index);
    expect(found.map(({ line, message }) => `${file}:${line} ${message}`)).toEqual([]);
  });
});

/** Of the names of DeepAgents only those that create something need an example: DeepAgents documents the others. */
function needsExample(subpath: string, name: string): boolean {
  if (subpath === "./deepagents") return name.startsWith("create");
  return !NEED_NONE.includes(name);
}

/** The blocks of code below `@example` in the comments of a file. */
function examplesIn(file: string, source: string): (CodeBlock & { file: string })[] {
  return [...source.matchAll(/^( *\*) @example\n *\* ```ts\n([^]*?)^ *\* ```$/gm)].map((match) => {
    const [, star = "", block = ""] = match;
    const lines = block.trimEnd().split("\n");
    const code = lines.map((line) => line.slice(star.length + 1)).join("\n");
    return { file, line: source.slice(0, match.index).split("\n").length + 1, code: `${code}\n` };
  });
}

function sourceFiles(): string[] {
  const names = readdirSync("src", { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(".ts") && !/\.test(-d)?\.ts$/.test(name))
    .map((name) => join("src", name));
}
