import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { inPipes } from "../../../../../test/helpers/terminal/piped-command.ts";

let home: string;
let cwd: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-undo-")));
  cwd = join(home, "project");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "a.txt"), "one\n");
});
afterEach(() => rmSync(home, { recursive: true }));

const holdfast = (...args: string[]) =>
  inPipes(args, {
    cwd,
    env: { HOME: home, HOLDFAST_STATE: join(home, "threads.db"), HOLDFAST_MODEL: "offline" },
  });

it("undo takes back a run's message and its files without a question", async () => {
  expect(await holdfast("run", "--thread", "t", "Survey this directory")).toMatchObject({ code: 0 });
  const first = readFileSync(join(cwd, "survey.md"), "utf8");
  writeFileSync(join(cwd, "b.txt"), "two\n");
  expect(await holdfast("run", "--thread", "t", "Survey this directory again")).toMatchObject({ code: 0 });
  expect(readFileSync(join(cwd, "survey.md"), "utf8")).not.toBe(first);

  const undone = await holdfast("undo", "t");
  expect(undone.out).toContain("Taken back: Survey this directory again");
  expect(undone.out).toContain("Files put back: /survey.md");
  expect(readFileSync(join(cwd, "survey.md"), "utf8")).toBe(first);
  expect((await holdfast("show", "t", "--transcript")).out).not.toContain("again");

  expect((await holdfast("undo", "t")).out).toContain("It was the first message: the thread is empty now");
  expect((await holdfast("show", "t", "--transcript")).out).not.toContain("Survey");
  expect(existsSync(join(cwd, "survey.md"))).toBe(false);
  const said = await holdfast("say", "t", "Be brief");
  expect(said).toMatchObject({ err: expect.stringContaining("send the message as the next task") as string });
  expect(said.code).not.toBe(0);
});
