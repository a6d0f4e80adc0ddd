import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { run } from "./run.ts";

it("the README's token figures are those that example 09 prints", async () => {
  const { stdout, stderr } = await run("node", ["--import", "tsx", "examples/09-cost.ts"]);
  const tokens = (line: RegExp): string => line.exec(stdout)?.[1] ?? `none in: ${stdout}${stderr}`;
  const [theirs, ours] = [tokens(/todoListMiddleware\s+(\d+)/), tokens(/lean\s+(\d+)/)];
  expect(readFileSync("README.md", "utf8")).toContain(`| ${theirs} | ${ours} |`);
});
