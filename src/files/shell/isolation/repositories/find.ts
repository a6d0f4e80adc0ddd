import { chmodSync, lstatSync, statSync, type Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import { attempt } from "../../../../errors.ts";
import {
  foldersIn,
  isMissing,
  MAX_GIT_FILE,
  readIndex,
  readRegular,
  submodulesIn,
} from "../../../git/index.ts";
import { isWithin } from "../../../paths/index.ts";
import { bytes, BYTES, from, realPathOf } from "./byte-paths.ts";
import { type RepositoryPlace, treesNamedIn } from "./programs.ts";

/** The maximum number of folders to search, those near the root first. */
const MOST_FOLDERS = 4000;
/** The number of submodules to look at between yields to the event loop. */
const AT_ONCE = 500;
const PASSED_OVER: ReadonlySet<string> = new Set([".git", "node_modules"]);

interface Repository extends RepositoryPlace {
  trees: Set<string>;
  /** Whether only git can tell which submodules its index has. */
  isOpaque: boolean;
}

/** All repositories in and below a root, and the submodules in their indexes. */
export interface Found {
  /** By the real paths of git's folders. */
  repositories: ReadonlyMap<string, Repository>;
  /** Paths of `.git` and of bare repositories that cannot be read. */
  unknown: ReadonlySet<string>;
  /** Folders that cannot be listed. */
  closed: ReadonlySet<string>;
}

/** Finds repositories. With the result of an earlier search, opens the folders that were closed since then. */
export async function findRepositories(root: string, earlier?: Found): Promise<Found> {
  const repositories = new Map<string, Repository>();
  const unknown = new Set<string>();
  const closed = new Set<string>();
  const entered = new Set<string>();
  let submodules = 0;

  /** Adds a repository by git's folder, and `tree`, the folder of its files. */
  const add = async (path: string, tree: string): Promise<void> => {
    const folder = realPathOf(path, root);
    if (folder === undefined || !isWithin(folder, root) || entered.has(`${folder}\0${tree}`)) return;
    entered.add(`${folder}\0${tree}`);
    const index = readIndex(bytes(folder));
    const repository = repositories.get(folder) ?? { folder, trees: new Set(), isOpaque: false };
    repositories.set(folder, repository);
    repository.trees.add(tree);
    repository.isOpaque ||= index.isOpaque;
    const common = readNamed(`${folder}/commondir`);
    if (common !== undefined) await add(from(folder, common), tree);
    const [linked, sparse] = [submodulesIn(index), foldersIn(index)];
    if (linked.length === 0 && sparse.length === 0) return;
    for (const top of [tree, ...treesNamedIn(folder, root)]) {
      for (const name of linked) {
        await enter(`${top}/${name}`);
        submodules += 1;
        if (submodules % AT_ONCE === 0) await setImmediate();
      }
      for (const name of sparse)
        if (!(await search(`${top}/${name}`, new Set([".git"])))) repository.isOpaque = true;
    }
  };

  /** Adds the repository of a folder. */
  const enter = async (folder: string): Promise<void> => {
    const git = `${folder}/.git`;
    try {
      const real = realPathOf(git, root);
      if (real === undefined) return;
      if (statSync(bytes(real)).isDirectory()) return await add(real, folder);
      const target = /^gitdir: (.+)$/s.exec(readNamed(real) ?? "")?.[1];
      if (target !== undefined) await add(from(folder, target), folder);
    } catch {
      unknown.add(git);
    }
  };

  const entriesOf = async (folder: string): Promise<Dirent[]> => {
    const list = () => readdir(bytes(folder), { withFileTypes: true, encoding: BYTES });
    try {
      return await list();
    } catch (error) {
      if (isMissing(error)) return [];
      if (earlier && !earlier.closed.has(folder)) {
        openFolder(folder);
        const entries = await list().catch(() => undefined);
        if (entries) return entries;
      }
      closed.add(folder);
      return [];
    }
  };

  /** Adds all repositories in a folder and below it. False if there are too many folders. */
  const search = async (start: string, passedOver: ReadonlySet<string>): Promise<boolean> => {
    const seen = new Set([start]);
    const queue = [{ folder: start, isOnly: false }];
    const push = (folder: string, isOnly = false): void => {
      if (seen.has(folder)) return;
      seen.add(folder);
      queue.push({ folder, isOnly });
    };
    for (let at = 0; at < queue.length; at += 1) {
      if (at >= MOST_FOLDERS) return false;
      const { folder, isOnly } = queue[at]!;
      const entries = await entriesOf(folder);
      const names = new Set(entries.map(({ name }) => name));
      if (names.has(".git")) await enter(folder);
      // The other parts may be in the folder that `commondir` names. Git uses it if it cannot use `.git`.
      if (names.has("HEAD") && (names.has("commondir") || (names.has("objects") && names.has("refs"))))
        await add(folder, folder).catch(() => unknown.add(folder));
      if (isOnly) continue;
      for (const entry of entries.filter(({ name }) => !passedOver.has(name))) {
        const path = `${folder}/${entry.name}`;
        if (entry.isDirectory()) push(path);
        if (!entry.isSymbolicLink()) continue;
        const target = folderBehind(path, root);
        if (target === undefined) continue;
        push(target);
        // A shell that enters the link is in these folders too.
        for (let above = posix.dirname(target); above !== root; above = posix.dirname(above))
          push(above, true);
      }
    }
    return true;
  };

  await enter(root);
  await search(root, PASSED_OVER);
  return { repositories, unknown, closed };
}

/** A folder below the root to which a link leads. */
function folderBehind(link: string, root: string): string | undefined {
  const target = attempt(() => realPathOf(link, root));
  if (target === undefined || target === root || !isWithin(target, root)) return undefined;
  return attempt(() => statSync(bytes(target)).isDirectory()) ? target : undefined;
}

/** Gives the user the right to list and change a folder. Does not throw. */
export function openFolder(folder: string): void {
  for (const path of [posix.dirname(folder), folder])
    attempt(() => chmodSync(bytes(path), (lstatSync(bytes(path)).mode & 0o7777) | 0o700));
}

/** A path that a file of git names, read to its end as git does: without line breaks there, and up to a NUL. */
function readNamed(file: string): string | undefined {
  const text = readRegular(bytes(file), MAX_GIT_FILE)?.toString(BYTES);
  if (text === undefined) return undefined;
  let end = text.length;
  while (end > 0 && "\r\n".includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end).split("\0", 1)[0];
}
