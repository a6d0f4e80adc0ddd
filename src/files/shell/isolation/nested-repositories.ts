import { execFile } from "node:child_process";
import { lstat, readdir, readFile, realpath, rename, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { isWithin } from "../../paths/index.ts";
import { HARMLESS } from "./git-settings.ts";

/** The maximum number of folders to search, those near the root first. */
const MOST_FOLDERS = 4000;
/** Tolerance: clocks of file systems are coarser than the machine's. */
const TICK_MS = 10;

/** Settings of a repository that make git run no program, in addition to the harmless ones of users. */
const PLAIN =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|symlinks|worktree|sparsecheckout|sparsecheckoutcone)|extensions\.[a-z]+|remote\..+\.(?:url|pushurl|fetch|tagopt|promisor|partialclonefilter|prune)|branch\..+\.(?:remote|merge|rebase)|submodule\..+\.(?:url|active|branch|path)|submodule\.active|(?:commit|tag)\.gpgsign|gc\.auto|maintenance\.auto|receive\.denycurrentbranch)$/;

const run = promisify(execFile);

/** Repositories below a root that existed before a command, as real paths of git's folders. */
const before = new Map<string, Set<string>>();

/**
 * Watches for new settings and hooks in nested repositories that make git run programs outside of the sandbox: git in
 * the root enters submodules, and shell prompts enter the others. The returned function moves aside what a command has
 * created, and returns the paths.
 */
export async function watchRepositories(root: string): Promise<() => Promise<string[]>> {
  const earlier = before.get(root) ?? new Set(await repositories(root));
  before.set(root, earlier);
  const times = new Map<string, number>();
  for (const path of [...earlier].flatMap((folder) => programFiles(root, folder)))
    times.set(path, await changed(path));
  const start = Date.now() - TICK_MS;
  return async () => {
    const takenBack: string[] = [];
    for (const folder of await repositories(root)) {
      const isNew = !earlier.has(folder) && (await changed(folder)) >= start;
      earlier.add(folder);
      for (const path of programFiles(root, folder)) {
        const time = await changed(path);
        const isChanged = isNew || (times.has(path) ? time !== times.get(path) : time >= start);
        if (!isChanged || !(await runsPrograms(path))) continue;
        await rename(path, `${path}.taken-back-${Date.now()}`);
        takenBack.push(relative(root, path));
      }
    }
    return takenBack;
  };
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
  try {
    const { stdout } = await run("git", ["config", "--file", path, "--no-includes", "--list", "-z"], GIT);
    return stdout
      .split("\0")
      .map((entry) => entry.split("\n")[0]!)
      .some((name) => name !== "" && !PLAIN.test(name) && !HARMLESS.test(name));
  } catch {
    // Another version of git may be able to read the file.
    return true;
  }
}

const GIT = { encoding: "utf8", timeout: 10_000, maxBuffer: 2 ** 28 } as const;

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
  for (const folder of [...(await linkedFolders(root)), ...(await nestedFolders(root))]) {
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
async function linkedFolders(root: string): Promise<string[]> {
  if (!(await stat(join(root, ".git")).catch(() => undefined))) return [];
  const words = ["-c", "core.fsmonitor=false", "ls-files", "--stage", "-z"];
  const { stdout } = await run("git", words, { ...GIT, cwd: root }).catch(() => ({ stdout: "" }));
  return stdout.split("\0").flatMap((entry) => {
    const [, path] = /^160000 [^\t]*\t([^]*)$/.exec(entry) ?? [];
    return path === undefined ? [] : join(root, path);
  });
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
