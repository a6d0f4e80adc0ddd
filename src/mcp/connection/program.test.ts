import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { run } from "../../../test/helpers/terminal/run-program.ts";

it.skipIf(process.platform === "win32")(
  "npx of .mcp.json is started by cmd on Windows, and ended with its tree",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-npx-"));
    const put = (name: string, text: string): void =>
      writeFileSync(join(folder, name), text, { mode: 0o755 });
    // It ignores that its input ends, as servers do that were started by a script.
    put("cmd", `#!/bin/sh\necho "$@" > ${folder}/started\ntrap "" TERM\nwhile :; do sleep 0.1; done`);
    put("taskkill", `#!/bin/sh\necho "$1 $3 $4" > ${folder}/killed\nkill -9 $2`);
    const script = `
    Object.defineProperty(process, "platform", { value: "win32" });
    const { Program } = await import("./src/mcp/connection/program.ts");
    const program = new Program({ command: "npx", args: ["-y", "a b", "50%"] }, ${JSON.stringify(folder)});
    await program.start();
    const { existsSync } = await import("node:fs");
    while (!existsSync(${JSON.stringify(join(folder, "started"))})) await new Promise((next) => setTimeout(next, 10));
    await program.close();
  `;
    const env = { PATH: `${folder}:${process.env["PATH"]}`, comspec: join(folder, "cmd") };
    try {
      const args = ["--import", "tsx", "--input-type=module", "--eval", script];
      const ran = await run(process.execPath, args, { env });
      expect(ran).toMatchObject({ ok: true, stderr: "" });
      expect(readFileSync(join(folder, "started"), "utf8")).toBe('/d /s /c "npx ^"-y^" ^"a^ b^" ^"50^%^""\n');
      expect(readFileSync(join(folder, "killed"), "utf8")).toBe("/PID /T /F\n");
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
