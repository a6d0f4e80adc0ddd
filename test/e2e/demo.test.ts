import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BROKEN_LINE, MENDED_LINE } from "../../src/models/offline/demo/scratch.ts";
import { inPipes } from "../helpers/terminal/piped-command.ts";

let home: string;
let project: string;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "holdfast-home-"));
  mkdirSync(join(home, ".config/holdfast"), { recursive: true });
  writeFileSync(join(home, ".config/holdfast/config.json"), '{"allow":["execute"]}');
  const { out } = await holdfast("demo", "--make");
  project = /Scratch project: (.+)/.exec(out)![1]!;
});
afterEach(() => {
  for (const folder of [home, project]) rmSync(folder, { recursive: true, force: true });
});

const holdfast = (...args: string[]) =>
  inPipes(args, {
    cwd: home,
    env: { PATH: process.env["PATH"], HOME: home, HOLDFAST_STATE: join(home, "threads.db") },
  });

const start = (...flags: string[]) =>
  holdfast("run", "--model", "demo", "--dir", project, "--shell", "--thread", "t", ...flags, "Go");

/** Starts the demo with consent for these tools, and answers each question in a run of its own. */
async function answered(tools: readonly string[], ...answers: string[]) {
  const runs = [await start(...tools.flatMap((name) => ["--ask", name]))];
  for (const answer of answers) {
    expect(runs.at(-1)).toMatchObject({ code: 3, err: "" });
    runs.push(await holdfast("resume", "t", "--answer", answer));
  }
  return { code: runs.at(-1)!.code, out: runs.map(({ out }) => out).join("") };
}

const source = (): string => readFileSync(join(project, "src/total.js"), "utf8");
const YES = "approve";

describe("the demo", () => {
  it("fixes the test, asks, and adds a discount with a skill, a server and a sub-agent", async () => {
    const { code, out } = await answered(["edit_file", "write_file"], YES, "Up, for the shop", YES, YES);
    expect(out).toContain("✗ $ node --test --test-reporter=tap exit 1");
    expect(out).toContain("10 percent off, as the MCP server till says; rounded up, as you said.");
    expect(out).toContain("Its test is named as the skill till-tests asks.");
    expect(out).toContain(
      "Review by a sub-agent: 2 functions in src/total.js, 3 tests; a test calls each of them.",
    );
    expect(out).toContain(
      "1 of 2 fail (till: an empty order costs nothing), then all 2 pass, then all 3 pass",
    );
    expect(code).toBe(0);
    expect(source()).toContain(MENDED_LINE);
    expect(source()).toContain("Math.ceil(");
    expect(readFileSync(join(project, "test/discount.test.js"), "utf8")).toContain('test("till: a discount');
    const after = await holdfast("run", "--thread", "t", "And now?");
    expect(after.out).toContain("My one task is done here, and I am a program");
  });

  it("leaves the line of a refused edit, says why, and reports the tests as they are", async () => {
    const { out } = await answered(["edit_file"], "reject: it is meant so", "Down, for the customer", YES);
    expect(out).toContain(
      "Mend the failing test: The user does not allow this edit_file call: it is meant so",
    );
    expect(out).toContain("then 1 of 3 fail (till: an empty order costs nothing).");
    expect(source()).toContain(BROKEN_LINE);
    expect(source()).toContain("Math.floor(");
  });

  it("writes no test for a refused discount", async () => {
    const { out } = await answered(["edit_file"], YES, "Up", "reject: too generous");
    expect(out).toContain(
      "Add the discount, with a test: The user does not allow this edit_file call: too generous",
    );
    expect(existsSync(join(project, "test/discount.test.js"))).toBe(false);
    expect(source()).not.toContain("discounted");
  });

  it("continues without refused commands, and does not claim that tests ran", async () => {
    const { out } = await answered(["execute"], "reject: no commands", "down");
    expect(out).toContain("Tests: not run (The user does not allow this execute call: no commands");
    expect(source()).toContain(MENDED_LINE);
  });

  it("reports an answer that it could not read, and its own choice", async () => {
    const { out } = await answered([], "as the law says");
    expect(out).toContain('rounded down, as a program could not read "as the law says" as up or down.');
    expect(source()).toContain("Math.floor(");
  });

  it("continues after a stop", async () => {
    expect(await start("--yes", "--max-turns", "5")).toMatchObject({ code: 3 });
    const { code, out } = await holdfast("resume", "t", "--max-turns", "60");
    expect(code).toBe(0);
    expect(out).toContain("then all 3 pass");
    expect(source().split("function discounted").length).toBe(2);
  });

  it("declines in one line in any other folder", async () => {
    writeFileSync(join(home, "README.md"), "# Another project\n");
    const { code, out } = await holdfast("run", "--model", "demo", "--dir", home, "Go");
    expect(code).toBe(1);
    expect(out).toContain(
      "I am `demo`, a program and not a language model, and know only the scratch project that `holdfast demo` makes: start me with `holdfast demo`.\n",
    );
  });
});
