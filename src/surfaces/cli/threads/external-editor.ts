import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../../../models/index.ts";
import { refuse } from "../wording.ts";

/** Lets the user edit a text in `$VISUAL` or `$EDITOR`. Throws `invalid-options` if the editor fails. */
export async function editInEditor(text: string, env: Environment): Promise<string> {
  const { command: editor } = editorOf(env);
  const folder = await mkdtemp(join(tmpdir(), "holdfast-"));
  const file = join(folder, "plan.md");
  try {
    await writeFile(file, text);
    await run(editor, file);
    return await readFile(file, "utf8");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs an editor. `$EDITOR` is a command line, such as `code --wait`, so a shell parses it. */
async function run(editor: string, file: string): Promise<void> {
  const isWindows = process.platform === "win32";
  const child = isWindows
    ? spawn(`${editor} "${file}"`, { stdio: "inherit", shell: true })
    : spawn("/bin/sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit" });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
  if (code !== 0) {
    refuse(`The editor "${editor}" ended with ${code ?? "a signal"}; set EDITOR to one that works.`);
  }
}

/** The editor's command line, and the variable that names it. */
export function editorOf(env: Environment): { command: string; source: string } {
  const source = ["VISUAL", "EDITOR"].find((name) => env[name]?.trim());
  if (source !== undefined) return { command: env[source]!.trim(), source };
  return { command: process.platform === "win32" ? "notepad" : "vi", source: "default" };
}
