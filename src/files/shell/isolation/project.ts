import { lstatSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isWithin } from "../../paths/paths.ts";

/**
 * The folders around a directory that programs in it look for: the repository that it is a part of, with packages that
 * it shares, and where git keeps a worktree's history. None outside of a home folder, or the home itself.
 */
export function projectAround(root: string, home: string): string[] {
  const around: string[] = [];
  const isPart = (path: string): boolean => path !== home && isWithin(path, home);
  for (let folder = root; isPart(folder); folder = dirname(folder)) {
    const stats = lstatSync(`${folder}/.git`, { throwIfNoEntry: false });
    const history = stats?.isFile() ? historyOf(folder) : undefined;
    if (history !== undefined && isPart(history)) around.push(history);
    // In the directory itself it may only be what stands in for one.
    if (!stats || folder === root) continue;
    return [folder, ...around];
  }
  return around;
}

/** Where the repository of a worktree or submodule is. */
function historyOf(folder: string): string | undefined {
  const [, named] = /^gitdir: (.+)$/m.exec(readFileSync(`${folder}/.git`, "utf8")) ?? [];
  if (named === undefined) return undefined;
  const path = resolve(folder, named.trim());
  return /^(.+)\/worktrees\/[^/]+$/.exec(path)?.[1] ?? path;
}
