import { existsSync, rmdirSync } from "node:fs";
import { lstat, mkdir, readdir, realpath, rmdir, unlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { attempt } from "../../../errors.ts";
import { exclusive } from "../../backends/index.ts";
import { HELD, HELD_IF_THERE, isWithin } from "../../paths/index.ts";
import { forgetHolds, leaveHold, locked, otherHolds, recordHold } from "./shared-holds.ts";

/** Points git to other configuration and hooks. Git fails where it is empty, so no placeholder can stand for it. */
const COMMONDIR = ".git/commondir";

/** All frozen names, for systems where a rule for a path holds before there is anything. */
export const FROZEN_NAMES: readonly string[] = [...HELD, ...HELD_IF_THERE, COMMONDIR];

/** Paths that a command must not change while it runs. */
export interface Frozen {
  /** Real paths that exist, to be mounted read-only. */
  paths: string[];
  /** Folders around them, which must not be moved away with what is in them. */
  around: string[];
  /** Removes the placeholders, unless other commands run. */
  thaw(): Promise<void>;
}

/**
 * Freezes paths below a root, given by its real path. Only what exists can be mounted read-only, so an empty folder is
 * the placeholder of a missing path as long as any command of any process runs there: git does not see it.
 */
export function freeze(root: string): Promise<Frozen> {
  return oneAtATime(root, async () => {
    const others = otherHolds(root);
    const hold = holds.get(root) ?? {
      commands: 0,
      placeholders: new Set(others.isLive ? [] : await leftovers(root, others.orphans)),
      hadCommondir: existsSync(join(root, COMMONDIR)),
    };
    holds.set(root, hold);
    hold.commands += 1;
    const { placeholders } = hold;
    const foreign = pathsOf(root, [...others.live, ...others.orphans]);
    const frozen = new Set<string>();
    for (const name of [...HELD, ...HELD_IF_THERE]) {
      const path = await frozenPath(root, name, { placeholders, foreign });
      if (path !== undefined) frozen.add(path);
    }
    await recordHold(
      root,
      [...placeholders].map((path) => relative(root, path)),
    );
    const paths = [...frozen];
    const around = [...new Set(paths.map((path) => dirname(path)))].filter(
      (folder) => folder !== root && isWithin(folder, root),
    );
    return { paths, around, thaw: () => oneAtATime(root, () => thaw(root, hold)) };
  });
}

/** The frozen paths of a root, shared by the commands that run there. */
interface Hold {
  commands: number;
  /** The empty folders that this process has made. */
  placeholders: Set<string>;
  hadCommondir: boolean;
}

const holds = new Map<string, Hold>();
let hasExitListener = false;

function oneAtATime<T>(root: string, task: () => Promise<T>): Promise<T> {
  return exclusive(holds, root, () => locked(root, task));
}

/** All possible placeholders: a name, or a folder on the way to it. */
const PLACEHOLDERS = new Set(HELD.flatMap((name) => [name, name.split("/")[0]!]));

/** The paths of placeholders by their names, which anybody may have written. */
function pathsOf(root: string, names: readonly string[]): string[] {
  return names.filter((name) => PLACEHOLDERS.has(name)).map((name) => join(root, name));
}

/** Names of files: an empty folder of that name is a placeholder. */
const FILES = [".git/config", ".envrc", ".mcp.json"];

/** Placeholders that a killed process has left, with a record or, by an older version, without. */
async function leftovers(root: string, orphans: readonly string[]): Promise<string[]> {
  const isEmpty = async (path: string): Promise<boolean> =>
    (await readdir(path).catch(() => undefined))?.length === 0;
  const files = await Promise.all(pathsOf(root, FILES).map(isEmpty));
  const paths = pathsOf(root, files.includes(true) ? [...PLACEHOLDERS] : orphans);
  const areEmpty = await Promise.all(paths.map(isEmpty));
  return paths.filter((_, at) => areEmpty[at]);
}

/** Removes placeholders when the process exits: one that is told to end does not wait for its commands. */
function listenForExit(): void {
  if (hasExitListener) return;
  hasExitListener = true;
  process.once("exit", () => {
    for (const [root, { placeholders }] of holds) {
      // The last process that holds them removes them.
      if (otherHolds(root).isLive) continue;
      // Fails where somebody has put something into it.
      for (const path of placeholders) attempt(() => rmdirSync(path));
      forgetHolds(root);
    }
  });
}

/** The path to freeze for a name: itself, or the placeholder, file or link on the way there. */
async function frozenPath(
  root: string,
  name: string,
  { placeholders, foreign }: { placeholders: Set<string>; foreign: readonly string[] },
): Promise<string | undefined> {
  const names = name.split("/");
  for (const at of names.keys()) {
    const path = join(root, ...names.slice(0, at + 1));
    const stats = await lstat(path).catch(() => undefined);
    if (!stats)
      return !HELD_IF_THERE.includes(name) && (await makePlaceholder(path, placeholders)) ? path : undefined;
    if (placeholders.has(path) || foreign.includes(path)) return path;
    if (stats.isSymbolicLink()) {
      // Elsewhere nothing can be written anyway.
      const target = await realpath(path).catch(() => undefined);
      return target !== undefined && target !== root && isWithin(target, root) ? target : undefined;
    }
    if (at === names.length - 1 || !stats.isDirectory()) return path;
  }
  return undefined;
}

/** Makes a placeholder. False where nothing can be made, and so not by a command either. */
async function makePlaceholder(path: string, placeholders: Set<string>): Promise<boolean> {
  try {
    await mkdir(path);
  } catch {
    return false;
  }
  placeholders.add(path);
  listenForExit();
  return true;
}

async function thaw(root: string, hold: Hold): Promise<void> {
  if (!hold.hadCommondir) await unlink(join(root, COMMONDIR)).catch(() => {});
  hold.commands -= 1;
  if (hold.commands > 0) return;
  holds.delete(root);
  const others = otherHolds(root);
  if (others.isLive) return leaveHold(root);
  // A folder that somebody has put something into stays.
  for (const path of [...hold.placeholders, ...pathsOf(root, others.orphans)])
    await rmdir(path).catch(() => {});
  forgetHolds(root);
}
