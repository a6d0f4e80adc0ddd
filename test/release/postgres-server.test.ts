import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { ask } from "../helpers/postgres/database.ts";

const VITEST = "node_modules/vitest/vitest.mjs";

it("a test run with the database ends with an error if a test has failed", () => {
  const args = [VITEST, "run", "--config", "test/helpers/runner/failing/vitest.config.ts"];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8", env: ownEnv() });
  expect(stdout).toMatch(/1 failed/);
  expect(status).toBe(1);
});

it("a test database ends with the process that started it, even after a kill", async () => {
  const starting = `
    import { startPostgres } from ${JSON.stringify(new URL("../helpers/postgres/server.ts", import.meta.url).href)};
    console.log((await startPostgres()).url);`;
  const args = ["--import", "tsx", "--input-type=module", "--eval", starting];
  const starter = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise<string>((resolve) => {
    starter.stdout.once("data", (text) => resolve(String(text).trim()));
  });
  const [found] = await ask(url, "SHOW data_directory");
  const folder = String(found?.["data_directory"]);
  expect(existsSync(folder)).toBe(true);

  starter.kill("SIGKILL");
  await expect.poll(() => existsSync(folder), { timeout: 120_000 }).toBe(false);
  await expect(ask(url, "SELECT 1")).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

/** Without what makes Vitest believe that it is a worker of this run. */
function ownEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VITEST|TEST)/.test(name)));
}
