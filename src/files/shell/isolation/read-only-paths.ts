import { readdirSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import { lstat, mkdir, realpath } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { attempt } from "../../../errors.ts";
import { exclusive } from "../../backends/index.ts";
import { HELD, HELD_IF_THERE, isWithin } from "../../paths/index.ts";
import { programFilesOfRoot } from "./repositories/index.ts";
import { forgetHolds, leaveHold, locked, otherHolds, recordHold } from "./shared-holds.ts";

/** Points git to other configuration and hooks. Git fails if it is empty: its placeholder is a file that names `.git`. */
const COMMONDIR = ".git/commondir";
const OWN_FOLDER = ".\n";

/** All frozen names, for systems with rules for paths that need not exist. */
export const FROZEN_NAMES: readonly string[] = [...HELD, ...HELD_IF_THERE, COMMONDIR];

/** Paths that a command must not change while it runs. */
export interface Frozen {
  /** Existing real paths, to be mounted read-only. */
  paths: string[];
  /** The folders that contain them, which must not be moved. */
  around: string[];
  /** Removes the placeholders, unless other commands are running. */
  thaw(): Promise<void>;
}

/**
 * Freezes paths below a root, given by its real path. Only existing paths can be mounted read-only, so a missing
 * path has a placeholder while any command of any process runs there: an empty folder, which git ignores.
 */
export function freeze(root: string): Promise<Frozen> {
  return oneAtATime(root, async () => {
    const others = otherHolds(root);
    const hold = holds.get(root) ?? {
      commands: 0,
      placeholders: new Set(others.isLive ? [] : leftovers(root, others.orphans)),
    };
    holds.set(root, hold);
    hold.commands += 1;
    const { placeholders } = hold;
    const foreign = pathsOf(root, [...others.live, ...others.orphans]);
    const frozen = new Set<string>();
    const named = programFilesOfRoot(root).map((path) => relative(root, path));
    for (const name of [...HELD, COMMONDIR, ...HELD_IF_THERE, ...named]) {
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

/** The frozen paths of a root, shared by its running commands. */
interface Hold {
  commands: number;
  /** The paths that this process has created. */
  placeholders: Set<string>;
}

const holds = new Map<string, Hold>();
let hasExitListener = false;

function oneAtATime<T>(root: string, task: () => Promise<T>): Promise<T> {
  return exclusive(holds, root, () => locked(root, task));
}

/** All possible placeholders: a name or its first folder. */
const PLACEHOLDERS = new Set([COMMONDIR, ...HELD.flatMap((name) => [name, name.split("/")[0]!])]);

/** The paths of placeholders by name. Drops other names, as any program may have written them. */
function pathsOf(root: string, names: readonly string[]): string[] {
  return names.filter((name) => PLACEHOLDERS.has(name)).map((name) => join(root, name));
}

/** Names that are normally files: an empty folder of such a name is a placeholder. */
const FILES = [".git/config", ".envrc", ".mcp.json", COMMONDIR];

/** Placeholders of killed processes, with a record or, from an older version, without. */
function leftovers(root: string, orphans: readonly string[]): string[] {
  const hasFiles = pathsOf(root, FILES).some(isPlaceholder);
  return pathsOf(root, hasFiles ? [...PLACEHOLDERS] : orphans).filter(isPlaceholder);
}

function isPlaceholder(path: string): boolean {
  if (isCommondir(path)) return attempt(() => readFileSync(path, "utf8")) === OWN_FOLDER;
  return attempt(() => readdirSync(path))?.length === 0;
}

function isCommondir(path: string): boolean {
  return path.endsWith(`/${COMMONDIR}`);
}

/** Keeps folders that are no longer empty. */
function removePlaceholder(path: string): void {
  attempt(() => (!isCommondir(path) ? rmdirSync(path) : isPlaceholder(path) && unlinkSync(path)));
}

/** Removes the placeholders when the process exits, as it does not wait for its commands then. */
function listenForExit(): void {
  if (hasExitListener) return;
  hasExitListener = true;
  process.once("exit", () => {
    for (const [root, { placeholders }] of holds) {
      // The last process that holds them removes them.
      if (otherHolds(root).isLive) continue;
      for (const path of placeholders) removePlaceholder(path);
      forgetHolds(root);
    }
  });
}

/** The path to freeze for a name: its own, or that of a placeholder, file or link above it. */
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
      return PLACEHOLDERS.has(name) && (await makePlaceholder(path, placeholders)) ? path : undefined;
    if (placeholders.has(path) || foreign.includes(path)) return path;
    if (stats.isSymbolicLink()) {
      // Outside of the root everything is read-only.
      const target = await realpath(path).catch(() => undefined);
      return target !== undefined && target !== root && isWithin(target, root) ? target : undefined;
    }
    if (at === names.length - 1 || !stats.isDirectory()) return path;
  }
  return undefined;
}

/** Creates a placeholder. False where nothing can be created, by a command neither. */
async function makePlaceholder(path: string, placeholders: Set<string>): Promise<boolean> {
  try {
    if (isCommondir(path)) writeFileSync(path, OWN_FOLDER, { flag: "wx" });
    else await mkdir(path);
  } catch {
    return false;
  }
  placeholders.add(path);
  listenForExit();
  return true;
}

async function thaw(root: string, hold: Hold): Promise<void> {
  hold.commands -= 1;
  if (hold.commands > 0) return;
  holds.delete(root);
  const others = otherHolds(root);
  if (others.isLive) return leaveHold(root);
  for (const path of [...hold.placeholders, ...pathsOf(root, others.orphans)]) removePlaceholder(path);
  forgetHolds(root);
}
