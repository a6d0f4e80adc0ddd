import { expect, it } from "vitest";
import { inPipes } from "../../../../test/helpers/terminal/piped-command.ts";

const holdfast = (...args: string[]) => inPipes(args, { cwd: "/", env: { HOME: "/" } });

it.each(["worker", "status", "migrate"])("%s takes a database, and no file", async (command) => {
  const { out } = await holdfast(command, "--help");
  expect(out).toContain("--database");
  expect(out).not.toContain("--state");
  expect(await holdfast(command, "--state", "threads.db")).toMatchObject({
    code: 2,
    err: expect.stringContaining("Unknown flag --state") as string,
  });
});

it("schedule takes the flags that a thread keeps, and no others of a run", async () => {
  const { out } = await holdfast("schedule", "--help");
  expect(out).toContain("--budget");
  expect(out).not.toMatch(/--timeout|--trust-project/);
});
