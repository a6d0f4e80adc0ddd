import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { run } from "../helpers/terminal/run-program.ts";

const examples = readdirSync("examples").filter((file) => /^\d\d-.*\.ts$/.test(file));
const MARK = "=== ";
const END = "=== end";
let home: string;
/** What each example printed. One that failed is missing, and so are those after it. */
const printed = new Map<string, string>();
let errors = "";

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "holdfast-home-"));
  // One process for all: loading LangChain takes longer than most examples.
  const script = `for (const file of ${JSON.stringify(examples)}) {
    console.log("${MARK}" + file);
    await import("./examples/" + file);
    console.log("${END}");
  }`;
  const args = ["--import", "tsx", "--input-type=module", "--eval", script];
  const env = { PATH: process.env["PATH"], HOME: home };
  const { stdout, stderr } = await run(process.execPath, args, { env });
  errors = stderr;
  for (const part of stdout.split(new RegExp(`^${MARK}(?=\\d)`, "m")).slice(1)) {
    const [file, ...lines] = part.split("\n");
    const end = lines.indexOf(END);
    if (end >= 0) printed.set(file!, lines.slice(0, end).join("\n"));
  }
});

afterAll(() => {
  rmSync(home, { recursive: true });
});

it("the examples folder has examples to run", () => {
  expect(examples).not.toEqual([]);
});

it("the list by difficulty has each example once, in order", () => {
  const list = [...readFileSync("examples/README.md", "utf8").matchAll(/\]\((\d\d-.*?\.ts)\)/g)];
  const names = list.map(([, name]) => name!);
  expect(names).toEqual(examples.toSorted());
});

it.each(examples)("%s runs without a model key", (file) => {
  expect(printed.get(file)?.trim() ?? errors).not.toBe("");
  expect(printed.has(file), errors).toBe(true);
});

it("the README's token figures are those that example 25 prints", () => {
  const text = printed.get("25-cost.ts") ?? errors;
  const tokens = (line: RegExp): string => line.exec(text)?.[1] ?? `none in: ${text}`;
  const [theirs, ours] = [tokens(/todoListMiddleware\s+(\d+)/), tokens(/lean\s+(\d+)/)];
  const readme = readFileSync("README.md", "utf8").replaceAll(/(?<=\d),(?=\d{3})/g, "");
  expect(readme).toContain(`| ${ours} | ${theirs} |`);
});
