import { existsSync } from "node:fs";
import { lstat, readdir, readFile, realpath, rename, stat } from "node:fs/promises";
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

/** The repositories of a root: git's folders, and whether only git can read the index of each. */
type Repositories = ReadonlyMap<string, boolean>;

/** The repositories when no command was running, shared by the root's running commands. */
interface Look {
  commands: number;
  repositories: Promise<Repositories>;
}

const looks = new Map<string, Look>();

/**
 * Watches for new settings and hooks in nested repositories that make git run programs outside of the sandbox: git in
 * the root enters submodules, and shell prompts enter the others. The returned function moves aside what a command has
 * created, and returns the paths.
 */
export async function watchRepositories(dir: string): Promise<() => Promise<string[]>> {
  const root = Buffer.from(dir).toString(BYTES);
  const look = looks.get(root) ?? { commands: 0, repositories: repositories(root) };
  looks.set(root, look);
  look.commands += 1;
  const earlier = await look.repositories;
  const times = new Map<string, number>();
  for (const path of [...earlier.keys()].flatMap((folder) => programFiles(root, folder)))
    times.set(path, await changed(path));
  const start = Date.now() - TICK_MS;
  return async () => {
    const suspects: string[] = [];
    for (const [folder, isOpaque] of await repositories(root)) {
      // A folder that was moved here keeps its times: its path is new, so all of it counts as new.
      const isNew = !earlier.has(folder);
      for (const path of programFiles(root, folder)) {
        const time = await changed(path);
        const isChanged = isNew || (times.has(path) ? time !== times.get(path) : time >= start);
        if (isChanged && (await runsPrograms(path))) suspects.push(path);
      }
      // Such an index hides submodules from us, but not from git.
      if (isOpaque && earlier.get(folder) !== true) suspects.push(`${folder}/index`);
    }
    look.commands -= 1;
    if (look.commands === 0) looks.delete(root);
    const takenBack: string[] = [];
    for (const path of suspects) {
      // Another command may have moved it aside.
      if (!existsSync(bytes(path))) continue;
      await rename(bytes(path), bytes(`${path}.taken-back-${Date.now()}`));
      takenBack.push(bytes(path.slice(root.length + 1)).toString());
    }
    return takenBack;
  };
}

/** Paths are byte strings here: names need not be UTF-8, and git enters those that are not. */
const BYTES = "latin1";

function bytes(path: string): Buffer {
  return Buffer.from(path, BYTES);
}

/** The files that can make git run programs. Those of the root are frozen anyway, except `config.worktree`. */
function programFiles(root: string, folder: string): string[] {
  const names = folder === `${root}/.git` ? [] : ["config", "hooks"];
  return [...names, "config.worktree"].map((name) => `${folder}/${name}`);
}

/** The last change time of a file or its link target, or of the files in a folder. Programs cannot set a ctime. */
async function changed(path: string): Promise<number> {
  const names = await readdir(bytes(path), BYTES).catch(() => []);
  const all = await Promise.all(
    [path, ...names.map((name) => `${path}/${name}`)]
      .map(bytes)
      .flatMap((file) => [lstat(file), stat(file)])
      .map((stats) => stats.catch(() => undefined)),
  );
  return Math.max(...all.map((stats) => stats?.ctimeMs ?? 0));
}

async function runsPrograms(path: string): Promise<boolean> {
  const stats = await stat(bytes(path)).catch(() => undefined);
  if (!stats) return false;
  if (stats.isDirectory()) return (await readdir(bytes(path))).some((name) => !name.endsWith(".sample"));
  const settings = await settingsIn(path);
  // Another version of git may be able to read the file.
  return settings?.some(([name]) => !PLAIN.test(name) && !HARMLESS.test(name)) ?? true;
}

async function settingsIn(path: string): Promise<[name: string, value: string | undefined][] | undefined> {
  const text = await readFile(bytes(path)).catch(() => undefined);
  return text && readSettings(["--file", "-", "--no-includes"], undefined, text);
}

/** All repositories in and below a root, and the submodules in their indexes, by the real paths of git's folders. */
async function repositories(root: string): Promise<Repositories> {
  const found = new Map<string, boolean>();
  const entered = new Set<string>();
  /** Adds a repository by git's folder, and `tree`, the folder of its files. */
  const add = async (path: string, tree: string): Promise<void> => {
    const folder = await realpath(bytes(path), BYTES).catch(() => undefined);
    if (folder === undefined || !isWithin(folder, root) || entered.has(`${folder}\0${tree}`)) return;
    entered.add(`${folder}\0${tree}`);
    const index = readIndex(bytes(folder));
    found.set(folder, index.isOpaque);
    const common = await readNamed(`${folder}/commondir`);
    if (common !== undefined) await add(from(folder, common), tree);
    const linked = submodulesIn(index);
    if (linked.length === 0) return;
    for (const top of [tree, ...(await treesNamedIn(folder))])
      for (const name of linked) await enter(`${top}/${name}`);
  };
  const enter = async (folder: string): Promise<void> => {
    const git = `${folder}/.git`;
    const stats = await stat(bytes(git)).catch(() => undefined);
    if (stats?.isDirectory()) await add(git, folder);
    else if (stats) {
      const target = /^gitdir: (.+)$/s.exec((await readNamed(git)) ?? "")?.[1];
      if (target !== undefined) await add(from(folder, target), folder);
    }
  };
  await enter(root);
  for (const { folder, isBare } of await nestedFolders(root)) {
    await enter(folder);
    // Git uses it if it cannot use `.git`.
    if (isBare) await add(folder, folder);
  }
  return found;
}

/** A path that a file of git names, read to its end as git does: without line breaks there, and up to a NUL. */
async function readNamed(file: string): Promise<string | undefined> {
  const text = await readFile(bytes(file), BYTES).catch(() => undefined);
  return text?.replace(/[\r\n]+$/, "").split("\0", 1)[0];
}

/** A path as the system resolves it from a folder, which may lead through links. */
function from(folder: string, path: string): string {
  return path.startsWith("/") ? path : `${folder}/${path}`;
}

/** The folders of files that the settings of a repository name. */
async function treesNamedIn(folder: string): Promise<string[]> {
  const files = await Promise.all(
    ["config", "config.worktree"].map((name) => settingsIn(`${folder}/${name}`)),
  );
  return files
    .flatMap((settings) => settings ?? [])
    .flatMap(([name, value]) => (name === "core.worktree" && value !== undefined ? [value] : []))
    .map((value) => from(folder, Buffer.from(value).toString(BYTES)));
}

/** Folders that contain `.git`, and bare repositories. */
async function nestedFolders(root: string): Promise<{ folder: string; isBare: boolean }[]> {
  const nested: { folder: string; isBare: boolean }[] = [];
  const queue = [root];
  for (let at = 0; at < queue.length && at < MOST_FOLDERS; at += 1) {
    const folder = queue[at]!;
    const entries = await readdir(bytes(folder), { withFileTypes: true, encoding: BYTES }).catch(() => []);
    const names = new Set(entries.map(({ name }) => name));
    // The other parts may be in the folder that `commondir` names.
    const isBare =
      names.has("HEAD") && (names.has("commondir") || (names.has("objects") && names.has("refs")));
    if (isBare || names.has(".git")) nested.push({ folder, isBare });
    for (const entry of entries) {
      if (entry.isDirectory() && !PASSED_OVER.has(entry.name)) queue.push(`${folder}/${entry.name}`);
    }
  }
  return nested;
}

const PASSED_OVER: ReadonlySet<string> = new Set([".git", "node_modules"]);
