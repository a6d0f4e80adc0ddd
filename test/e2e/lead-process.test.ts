import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { run } from "../helpers/terminal/run-program.ts";

const PROGRAM = "test/helpers/models/lead-process.mjs";
const folder = mkdtempSync(join(tmpdir(), "holdfast-lead-process-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("a question survives a kill, and its answer in a new process repeats nothing", async () => {
  const database = join(folder, "threads.db");
  const first = spawn("node", [PROGRAM, "begin", database], { stdio: ["ignore", "pipe", "inherit"] });
  const [asked] = (await once(first.stdout, "data")) as [Buffer];
  expect(JSON.parse(asked.toString())).toEqual({
    type: "clarification",
    version: 1,
    question: "Fill it with what?",
  });
  first.kill("SIGKILL");
  await once(first, "exit");

  const { ok, stdout, stderr } = await run("node", [PROGRAM, "resume", database]);
  expect(ok, stderr).toBe(true);
  const { statuses, said, requests } = JSON.parse(stdout) as {
    statuses: string[];
    said: string[];
    requests: number;
  };
  expect(statuses).toEqual(["completed", "completed"]);
  expect(said).toContain("The user answers: sand");
  expect(said.at(-1)).toBe("Filled.");
  expect(requests).toBe(3);
  expect(readFileSync(join(folder, "effects"), "utf8")).toBe("dug\ndug\n");
});
