import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { onPlatform } from "../../../test/helpers/terminal/platform.ts";
import { shellBackend, type ShellOptions } from "./index.ts";
import { powerShellWords } from "./windows.ts";

const decoded = (words: readonly string[]): string =>
  Buffer.from(words.at(-1)!, "base64").toString("utf16le");
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "holdfast-windows-"));
  mkdirSync(join(root, "bin"));
  vi.stubEnv("PATH", `${join(root, "bin")}:${process.env["PATH"]}`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

/** A program of Windows, played by a script. */
function program(name: string, script: string): void {
  writeFileSync(join(root, "bin", name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

it("PowerShell gets a command unchanged, with any quotes, and returns its exit code", () => {
  const words = powerShellWords(`git log "a 'b'" # "c\necho %PATH% ü`);
  expect(words.slice(0, 2)).toEqual(["powershell.exe", "-NoLogo"]);
  expect(words.at(-2)).toBe("-EncodedCommand");
  expect(words.at(-1)).toMatch(/^[A-Za-z0-9+/=]+$/);
  expect(decoded(words)).toMatch(/\ngit log "a 'b'" # "c\necho %PATH% ü\nif \(\$\?\) \{ exit 0 \}/);
});

describe("a shell backend on Windows", () => {
  it("runs commands by PowerShell with the needed variables only, and tells the model", async () => {
    vi.stubEnv("SystemRoot", String.raw`C:\Windows`);
    vi.stubEnv("OPENAI_API_KEY", "sk-secret");
    const run = vi.fn<NonNullable<ShellOptions["run"]>>(async () => {
      return { ok: true, output: "", exitCode: 0, timedOut: false, truncated: false };
    });
    await onPlatform("win32", async () => {
      const backend = shellBackend(root, { run });
      expect(backend.place?.()).toContain("win32, ");
      expect(backend.place?.()).toContain("Commands are Windows PowerShell 5.1, without &&.");
      await backend.execute!("dir");
    });
    const [words, { env }] = run.mock.calls[0]!;
    expect(decoded(words)).toContain("\ndir\n");
    expect(env).toMatchObject({ SystemRoot: String.raw`C:\Windows`, PATH: process.env["PATH"] });
    expect(env).not.toHaveProperty("OPENAI_API_KEY");
  });

  it("refuses commands that have to be isolated", async () => {
    const refused = await onPlatform("win32", () =>
      shellBackend(root, { isolation: "always" }).execute!("dir"),
    );
    expect(refused).toMatchObject({ ok: false });
  });

  it.skipIf(process.platform === "win32")(
    "reports output and exit code, and does not kill a finished command",
    async () => {
      program("powershell.exe", "echo out; exit 3");
      program("taskkill", `echo "$@" > ${join(root, "killed")}`);
      const ran = await onPlatform("win32", () => shellBackend(root).execute!("anything"));
      expect(ran).toMatchObject({ ok: true, output: "out\n", exitCode: 3, timedOut: false });
      expect(() => readFileSync(join(root, "killed"))).toThrow("ENOENT");
    },
  );

  it.skipIf(process.platform === "win32")(
    "ends a command with all that it started at the time limit",
    async () => {
      program("powershell.exe", `echo $$ > ${join(root, "pid")}; exec sleep 600`);
      program("taskkill", `echo "$@" > ${join(root, "killed")}; kill -9 $2`);
      const ran = await onPlatform("win32", () =>
        shellBackend(root).execute!("anything", { timeoutMs: 1000 }),
      );
      expect(ran).toMatchObject({ ok: true, timedOut: true });
      const pid = readFileSync(join(root, "pid"), "utf8").trim();
      expect(readFileSync(join(root, "killed"), "utf8")).toBe(`/PID ${pid} /T /F\n`);
    },
  );
});
