import { existsSync } from "node:fs";
import { lstat, readdir, readFile, realpath, rename, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { readIndex, readSettings, submodulesIn } from "../../git/index.ts";
import { isWithin } from "../../paths/index.ts";
import { HARMLESS } from "./git-settings.ts";

/** The maximum number of folders to search, those near the root first. */
const MOST_FOLDERS = 4000;
/** Tolerance: clocks of file systems are coarser than the machine's. */
const TICK_MS = 10;

/** Settings of a repository that make git run no program, in addition to the harmless ones of users. */
const PLAIN =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|symlinks|worktree|sparsecheckout|sparsecheckoutcone)|extensions\.[a-z]+|remote\..+\.(?:url|pushurl|fetch|tagopt|promisor|partialclonefilter|prune)|branch\..+\.(?:remote|merge|rebase)|submodule\..+\.(?:url|active|branch|path)|submodule\.active|(?:commit|tag)\.gpgsign|gc\.auto|maintenance\.auto|receive\.denycurrentbranch)$/;

/** The repositories of a root when no command was running, shared by its running commands. */
interface Look {
  commands: number;
  /** Real paths of git's folders. */
  folders: Promise<string[]>;
  wasSparse: boolean;
}

const looks = new Map<string, Look>();

/**
 * Watches for new settings and hooks in nested repositories that make git run programs outside of the sandbox: git in
 * the root enters submodules, and shell prompts enter the others. The returned function moves aside what a command has
 * created, and returns the paths.
 */
export async function watchRepositories(root: string): Promise<() => Promise<string[]>> {
  const look = looks.get(root) ?? { commands: 0, folders: repositories(root), wasSparse: isSparse(root) };
  looks.set(root, look);
  look.commands += 1;
  const earlier = new Set(await look.folders);
  const times = new Map<string, number>();
  for (const path of [...earlier].flatMap((folder) => programFiles(root, folder)))
    times.set(path, await changed(path));
  const start = Date.now() - TICK_MS;
  return async () => {
    const suspects: string[] = [];
    for (const folder of await repositories(root)) {
      // A folder that was moved here keeps its times: its path is new, so all of it counts as new.
      const isNew = !earlier.has(folder);
      for (const path of programFiles(root, folder)) {
        const time = await changed(path);
        const isChanged = isNew || (times.has(path) ? time !== times.get(path) : time >= start);
        if (isChanged && (await runsPrograms(path))) suspects.push(path);
      }
    }
    // A sparse index hides submodules from us, but not from git. Making one takes settings that are frozen.
    if (!look.wasSparse && isSparse(root)) suspects.push(join(root, ".git/index"));
    look.commands -= 1;
    if (look.commands === 0) looks.delete(root);
    const takenBack: string[] = [];
    for (const path of suspects) {
      // Another command may have moved it aside.
      if (!existsSync(path)) continue;
      await rename(path, `${path}.taken-back-${Date.now()}`);
      takenBack.push(relative(root, path));
    }
    return takenBack;
  };
}

/** Whether the root has an index that only git can read to the end. */
function isSparse(root: string): boolean {
  return readIndex(join(root, ".git")).isSparse;
}

/** The files that can make git run programs. Those of the root are frozen anyway, except `config.worktree`. */
function programFiles(root: string, folder: string): string[] {
  const names = folder === join(root, ".git") ? [] : ["config", "hooks"];
  return [...names, "config.worktree"].map((name) => join(folder, name));
}

/** The last change time of a file or its link target. Programs cannot set a ctime. */
async function changed(path: string): Promise<number> {
  const all = await Promise.all([lstat(path), stat(path)].map((stats) => stats.catch(() => undefined)));
  return Math.max(...all.map((stats) => stats?.ctimeMs ?? 0));
}

async function runsPrograms(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  if (!stats) return false;
  if (stats.isDirectory()) return (await readdir(path)).some((name) => !name.endsWith(".sample"));
  const settings = readSettings(["--file", path, "--no-includes"]);
  // Another version of git may be able to read the file.
  return settings?.some(([name]) => !PLAIN.test(name) && !HARMLESS.test(name)) ?? true;
}

/** The real paths of git's folders of all repositories in and below a root. */
async function repositories(root: string): Promise<string[]> {
  const folders = new Set<string>();
  const add = async (path: string): Promise<void> => {
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined || !isWithin(real, root) || folders.has(real)) return;
    folders.add(real);
    const common = await readFile(join(real, "commondir"), "utf8").catch(() => undefined);
    if (common !== undefined) await add(resolve(real, common.trim()));
  };
  for (const folder of [...linkedFolders(root), ...(await nestedFolders(root))]) {
    const git = join(folder, ".git");
    const stats = await stat(git).catch(() => undefined);
    if (!stats) await add(folder);
    else if (stats.isDirectory()) await add(git);
    else {
      const target = /^gitdir: (.+)$/m.exec(await readFile(git, "utf8").catch(() => ""))?.[1];
      if (target !== undefined) await add(resolve(dirname(git), target.trim()));
    }
  }
  return [...folders];
}

/** The submodule folders in the root's index. */
function linkedFolders(root: string): string[] {
  return submodulesIn(readIndex(join(root, ".git"))).map((path) => join(root, path));
}

/** Folders that contain `.git`, and bare repositories. */
async function nestedFolders(root: string): Promise<string[]> {
  const nested: string[] = [];
  const queue = [root];
  for (let at = 0; at < queue.length && at < MOST_FOLDERS; at += 1) {
    const folder = queue[at]!;
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    const names = new Set(entries.map(({ name }) => name));
    const isBare = ["HEAD", "objects", "refs"].every((name) => names.has(name));
    if (isBare || names.has(".git")) nested.push(folder);
    for (const entry of entries) {
      if (entry.isDirectory() && !PASSED_OVER.has(entry.name)) queue.push(join(folder, entry.name));
    }
  }
  return nested;
}

const PASSED_OVER: ReadonlySet<string> = new Set([".git", "node_modules"]);
