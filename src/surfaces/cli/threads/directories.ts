import { realpathSync } from "node:fs";
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { relative, resolve, sep } from "node:path";
import { attempt } from "../../../errors.ts";
import type { RunSettings } from "../../../threads/prepare/index.ts";
import type { Terminal } from "../terminal.ts";
import { refuse } from "../wording.ts";

type Directories = Pick<RunSettings, "dir" | "startedIn">;

/** Whether a thread belongs to the current directory: it works on its files, or was started in it. */
export function isHere({ dir, startedIn }: Directories, { cwd }: Pick<Terminal, "cwd">): boolean {
  const here = real(cwd);
  return [dir, startedIn].some((one) => one !== undefined && real(one) === here);
}

/** The directory of a thread, abbreviated: `.` for the current one, `~` for the home directory. */
export function directoryName(
  { dir, startedIn }: Directories,
  { cwd, env }: Pick<Terminal, "cwd" | "env">,
): string {
  const directory = dir ?? startedIn;
  if (directory === undefined) return "-";
  if (real(directory) === real(cwd)) return ".";
  const inside = relative(env["HOME"] || homedir(), directory);
  if (inside === "") return "~";
  return inside.startsWith("..") || inside === directory ? directory : `~${sep}${inside}`;
}

/** Resolves the directory to work in. Throws `invalid-options` if it does not exist. */
export async function existingFolder(dir: string, cwd: string): Promise<string> {
  if (dir.trim() === "") refuse("--dir is empty; use --dir . for this one.");
  const folder = resolve(cwd, dir);
  const stats = await stat(folder).catch(() => undefined);
  if (!stats?.isDirectory()) refuse(`--dir: ${folder} is ${stats ? "not a directory" : "not there"}.`);
  return folder;
}

/** The real path, as directories may be named through links; the path itself if it does not exist. */
function real(path: string): string {
  return attempt(() => realpathSync(path)) ?? path;
}
