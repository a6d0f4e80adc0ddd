import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { inPipes } from "../../../../test/helpers/terminal/piped-command.ts";
import { startProvider } from "../../../testing/index.ts";

const home = mkdtempSync(join(tmpdir(), "holdfast-effort-"));
afterEach(() => rmSync(home, { recursive: true, force: true }));

it("an effort comes from flag, thread or settings; an impossible one is reported", async () => {
  const server = await startProvider(
    "ollama",
    Array.from({ length: 4 }, () => ({ text: "Done." })),
  );
  const env = {
    HOME: home,
    HOLDFAST_STATE: join(home, "threads.db"),
    HOLDFAST_MODEL: "ollama:gpt-oss:20b",
    OLLAMA_BASE_URL: server.url,
  };
  const run = async (...args: string[]) => inPipes(["run", "--no-dir", ...args, "Hello"], { cwd: home, env });
  try {
    expect((await run("--thread", "one", "--effort", "high")).code).toBe(0);
    expect((await run("--thread", "one")).code).toBe(0);
    mkdirSync(join(home, ".config/holdfast"), { recursive: true });
    writeFileSync(join(home, ".config/holdfast/config.json"), JSON.stringify({ effort: "low" }));
    expect((await run()).code).toBe(0);
    expect(server.requests.map(({ think }) => think as unknown)).toEqual(["high", "high", "low"]);
    const { out } = await run("--effort", "off");
    expect(out).toContain("gpt-oss:20b cannot be kept from thinking");
  } finally {
    await server.stop();
  }
});
