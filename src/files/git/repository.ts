import { statSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { attempt } from "../../errors.ts";

/** A repository, found without git: git may run programs of the repository. */
export interface Repository {
  /** The folder of its files. */
  top: string;
  /** Git's own folder. */
  folder: string;
}

/**
 * The repository of a directory: its own, or that of the nearest folder above it. Never one below it, as an agent may
 * have written that.
 */
export function repositoryOf(dir: string): Repository | undefined {
  for (let top = resolve(dir); ; top = dirname(top)) {
    const path = join(top, ".git");
    const stats = statSync(path, { throwIfNoEntry: false });
    const folder = stats?.isFile() ? namedIn(path) : path;
    if (stats) return folder === undefined ? undefined : { top, folder };
    if (top === dirname(top)) return undefined;
  }
}

/** The folder that the `.git` file of a worktree or a submodule names. */
function namedIn(file: string): string | undefined {
  const name = /^gitdir: (.+)$/m.exec(attempt(() => readFileSync(file, "utf8")) ?? "")?.[1];
  return name === undefined ? undefined : resolve(dirname(file), name.trim());
}

/** The branch that is checked out. Undefined without a repository, or for a commit without a branch. */
export function branchOf({ folder }: Repository): string | undefined {
  const head = attempt(() => readFileSync(join(folder, "HEAD"), "utf8"));
  return /^ref: refs\/heads\/(.+)$/m.exec(head ?? "")?.[1]?.trim();
}
