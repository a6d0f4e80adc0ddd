import { accessSync, constants, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { attempt } from "../../errors.ts";

/** The largest number of links from a name to a program. */
const MAX_LINKS = 40;

/** Real paths of folders that agents write to. */
const written = new Set<string>();

/** Records a folder that an agent writes to. Holdfast starts no program in it. The root of the disk does not count. */
export function distrustPrograms(folder: string): void {
  const path = attempt(() => realpathSync(folder)) ?? resolve(folder);
  if (path !== dirname(path) && !isBelowWritten(path)) written.add(path);
}

distrustPrograms(process.cwd());

/**
 * The absolute path of a program that Holdfast starts outside of isolation. Skips relative entries of `PATH`, packages
 * of a project (`npx` puts `node_modules/.bin` on `PATH`) and everything that agents write: a command may have put a
 * program there. Undefined if no other entry has the program.
 */
export function hostProgram(name: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const file = process.platform === "win32" ? `${name}.exe` : name;
  return trustedFolders(env)
    .map((folder) => join(folder, file))
    .find((path) => isProgram(path) && isTrusted(path));
}

/** A `PATH` without the entries that `hostProgram` skips, for programs that start other programs. */
export function hostPath(env: NodeJS.ProcessEnv = process.env): string {
  return trustedFolders(env).join(delimiter);
}

function trustedFolders(env: NodeJS.ProcessEnv): string[] {
  return (env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .flatMap((folder) => attempt(() => realpathSync(folder)) ?? [])
    .filter((folder) => !isWritten(folder));
}

function isWritten(path: string): boolean {
  return path.split(/[\\/]/).includes("node_modules") || isBelowWritten(path);
}

function isBelowWritten(path: string): boolean {
  for (let at = path; at !== dirname(at); at = dirname(at)) if (written.has(at)) return true;
  return false;
}

function isProgram(path: string): boolean {
  const canRun = attempt(() => (accessSync(path, constants.X_OK), true));
  return canRun === true && statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Whether an agent can neither write a program nor change a link that leads to it. */
function isTrusted(path: string): boolean {
  let at = path;
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const place = join(realpathSync(dirname(at)), basename(at));
    if (isWritten(place)) return false;
    if (!lstatSync(place).isSymbolicLink()) return true;
    at = resolve(dirname(place), readlinkSync(place));
  }
  return false;
}
