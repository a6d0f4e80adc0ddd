import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { run } from "./run.ts";

const examples = readdirSync("examples").filter((file) => /^\d\d-.*\.ts$/.test(file));
let home: string;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-home-"));
});

afterAll(() => {
  rmSync(home, { recursive: true });
});

it("there are examples to run", () => {
  expect(examples).not.toEqual([]);
});

it.each(examples)("%s runs without a model key", { timeout: 60_000 }, async (file) => {
  const env = { PATH: process.env["PATH"], HOME: home };
  const { ok, stdout, stderr } = await run(process.execPath, ["--import", "tsx", `examples/${file}`], {
    env,
  });
  expect(ok, stderr).toBe(true);
  expect(stdout.trim()).not.toBe("");
});
