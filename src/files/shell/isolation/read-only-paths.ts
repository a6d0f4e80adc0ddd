import { existsSync, rmdirSync } from "node:fs";
import { lstat, mkdir, readdir, realpath, rmdir, unlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { exclusive } from "../../backends/exclusive.ts";
import { HELD, HELD_IF_THERE } from "../../paths/obeyed.ts";
import { isWithin } from "../../paths/paths.ts";
import { forgetHolds, leaveHold, locked, otherHolds, recordHold } from "./shared-holds.ts";

/** Names git for the place of its configuration and hooks. Git does not work where it is empty, so it cannot be held. */
const UNWANTED = ".git/commondir";

/** The names of all that is frozen, for systems where a rule for a path holds before there is anything. */
export const FROZEN_NAMES: readonly string[] = [...HELD, ...HELD_IF_THERE, UNWANTED];

/** Files that a command must not change, held while it runs. */
export interface Frozen {
  /** Real paths that are there, to be read and not written. */
  paths: string[];
  /** Folders around them, which must not be moved away with what is in them. */
  around: string[];
  /** Takes away what was only there to be held. */
  thaw(): Promise<void>;
}

/**
 * Holds what is frozen below a root, given by its real path. Only what is there can be held, so an empty folder takes
 * the place of what is not, as long as any command of any process runs there: git does not see it.
 */
export function freeze(root: string): Promise<Frozen> {
  return oneAtATime(root, async () => {
    const others = otherHolds(root);
    const hold = holds.get(root) ?? {
      commands: 0,
      made: new Set(others.isLive ? [] : await leftovers(root, others.orphans)),
      hadUnwanted: existsSync(join(root, UNWANTED)),
    };
    holds.set(root, hold);
    hold.commands += 1;
    const standIns = new Set([...hold.made, ...pathsOf(root, [...others.live, ...others.orphans])]);
    const held = new Set<string>();
    for (const name of [...HELD, ...HELD_IF_THERE]) {
      const path = await placeOf(root, name, { hold, standIns });
      if (path !== undefined) held.add(path);
    }
    await recordHold(
      root,
      [...hold.made].map((path) => relative(root, path)),
    );
    const paths = [...held];
    const around = [...new Set(paths.map((path) => dirname(path)))].filter(
      (folder) => folder !== root && isWithin(folder, root),
    );
    return { paths, around, thaw: () => oneAtATime(root, () => thaw(root, hold)) };
  });
}

/** The held files of a root, shared by the commands that run there. */
interface Hold {
  commands: number;
  /** The folders that were made to be held. */
  made: Set<string>;
  hadUnwanted: boolean;
}

const holds = new Map<string, Hold>();
let isMinded = false;

function oneAtATime<T>(root: string, task: () => Promise<T>): Promise<T> {
  return exclusive(holds, root, () => locked(root, task));
}

/** All that may be made to be held: a name, or a folder on the way to it. */
const STAND_INS = new Set(HELD.flatMap((name) => [name, name.split("/")[0]!]));

/** The places of stand-ins by their names, which anybody may have written. */
function pathsOf(root: string, names: readonly string[]): string[] {
  return names.filter((name) => STAND_INS.has(name)).map((name) => join(root, name));
}

/** Files by their nature: an empty folder of that name was made to be held. */
const FILES = [".git/config", ".envrc", ".mcp.json"];

/** Stand-ins that a killed process has left, with a record or, by an older version, without. */
async function leftovers(root: string, orphans: readonly string[]): Promise<string[]> {
  const isEmpty = async (path: string): Promise<boolean> =>
    (await readdir(path).catch(() => undefined))?.length === 0;
  const files = await Promise.all(pathsOf(root, FILES).map(isEmpty));
  const paths = pathsOf(root, files.includes(true) ? [...STAND_INS] : orphans);
  const areEmpty = await Promise.all(paths.map(isEmpty));
  return paths.filter((_, at) => areEmpty[at]);
}

/** A process that is told to end does not wait for its commands: what was made for them goes with it. */
function mindExit(): void {
  if (isMinded) return;
  isMinded = true;
  process.once("exit", () => {
    for (const [root, { made }] of holds) {
      // The last one to hold it takes it away.
      if (otherHolds(root).isLive) continue;
      for (const path of made) {
        try {
          rmdirSync(path);
        } catch {
          // Somebody has put something into it.
        }
      }
      forgetHolds(root);
    }
  });
}

/** The path to hold for a name: itself, or what stands in its place on the way there. */
async function placeOf(
  root: string,
  name: string,
  { hold: { made }, standIns }: { hold: Hold; standIns: ReadonlySet<string> },
): Promise<string | undefined> {
  const names = name.split("/");
  for (const at of names.keys()) {
    const path = join(root, ...names.slice(0, at + 1));
    const stats = await lstat(path).catch(() => undefined);
    if (!stats) return !HELD_IF_THERE.includes(name) && (await standIn(path, made)) ? path : undefined;
    if (standIns.has(path) || made.has(path)) return path;
    if (stats.isSymbolicLink()) {
      // Elsewhere nothing can be written anyway.
      const target = await realpath(path).catch(() => undefined);
      return target !== undefined && target !== root && isWithin(target, root) ? target : undefined;
    }
    if (at === names.length - 1 || !stats.isDirectory()) return path;
  }
  return undefined;
}

/** False where nothing can be made, and so not by a command either. */
async function standIn(path: string, made: Set<string>): Promise<boolean> {
  try {
    await mkdir(path);
  } catch {
    return false;
  }
  made.add(path);
  mindExit();
  return true;
}

async function thaw(root: string, hold: Hold): Promise<void> {
  if (!hold.hadUnwanted) await unlink(join(root, UNWANTED)).catch(() => {});
  hold.commands -= 1;
  if (hold.commands > 0) return;
  holds.delete(root);
  const others = otherHolds(root);
  if (others.isLive) return leaveHold(root);
  // What somebody has put something into stays.
  for (const path of [...hold.made, ...pathsOf(root, others.orphans)]) await rmdir(path).catch(() => {});
  forgetHolds(root);
}
