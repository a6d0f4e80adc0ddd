import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { canIsolate } from "../../../scripts/bubblewrap.mjs";
import { readSettings } from "../git/index.ts";
import { shellBackend } from "./index.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-planted-")));
afterAll(() => rmSync(base, { recursive: true }));
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(base, "root-"));
});
afterEach(() => void vi.unstubAllEnvs());

describe.runIf(canIsolate())("an isolated command", () => {
  it("cannot have Holdfast start a program that it puts on PATH", async () => {
    const ran = join(base, "ran");
    mkdirSync(ran);
    vi.stubEnv(
      "PATH",
      [join(root, "node_modules/.bin"), join(root, "bin"), process.env["PATH"]].join(delimiter),
    );
    const shell = shellBackend(root, { isolation: "always" });
    const plant = ["bwrap", "git", "rg", "grep", "sleep"].flatMap((name) =>
      ["node_modules/.bin", "bin"].map(
        (folder) =>
          `printf '#!/bin/sh\\ntouch ${ran}/${name}\\nexit 1\\n' > ${folder}/${name}; chmod +x ${folder}/${name}`,
      ),
    );
    await shell.execute!(`mkdir -p node_modules/.bin bin; ${plant.join("; ")}`);
    expect(existsSync(join(root, "node_modules/.bin/bwrap"))).toBe(true);
    expect(await shell.grep({ pattern: "touch" })).toMatchObject({ ok: true });
    expect(readSettings(["--file", "-"], undefined, Buffer.from("[a]\nb=c\n"))).toEqual([["a.b", "c"]]);
    expect(await shell.execute!("echo hi")).toMatchObject({ ok: true, output: "hi\n" });
    expect(readdirSync(ran)).toEqual([]);
  });
});
