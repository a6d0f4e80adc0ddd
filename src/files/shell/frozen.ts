import { lstat, mkdir, realpath, rmdir, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { exclusive } from "../exclusive.ts";
import { isWithin } from "../paths.ts";

/** What in a directory is run or obeyed for its user by other programs: a command may use it, not change it. */
const FROZEN: readonly string[] = [
  ".git/config",
  ".git/hooks",
  ".githooks",
  ".husky",
  ".vscode",
  ".idea",
  ".envrc",
  ".mcp.json",
  ".holdfast",
  ".agents",
  ".claude",
];

/** The same, but held only where it is there: programs in commands fail where something else has its place. */
const FROZEN_IF_THERE: readonly string[] = [".npmrc"];

/** Names git for the place of its configuration and hooks. Git does not work where it is empty, so it cannot be held. */
const UNWANTED = ".git/commondir";

/** The names of all that is frozen, for systems where a rule for a path holds before there is anything. */
export const FROZEN_NAMES: readonly string[] = [...FROZEN, ...FROZEN_IF_THERE, UNWANTED];

/** What a command must not change, held while it runs. */
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
 * the place of what is not, as long as any command of this process runs there: git does not see it.
 */
export function freeze(root: string): Promise<Frozen> {
  return exclusive(holders, root, async () => {
    const held = new Set<string>();
    for (const name of FROZEN) {
      const path = await hold(root, name, { make: true });
      if (path !== undefined) held.add(path);
    }
    for (const name of FROZEN_IF_THERE) {
      const path = await hold(root, name, { make: false });
      if (path !== undefined) held.add(path);
    }
    const paths = [...held];
    const around = [...new Set(paths.map((path) => dirname(path)))].filter(
      (folder) => folder !== root && isWithin(folder, root),
    );
    holders.set(root, (holders.get(root) ?? 0) + 1);
    const had = await isThere(join(root, UNWANTED));
    return { paths, around, thaw: () => exclusive(holders, root, () => thaw(root, { had })) };
  });
}

/** How many commands run in each root. */
const holders = new Map<string, number>();
/** The folders that were made to be held, by root. */
const made = new Map<string, Set<string>>();

/** The path to hold for a name: itself, or what stands in its place on the way there. */
async function hold(root: string, name: string, { make }: { make: boolean }): Promise<string | undefined> {
  const names = name.split("/");
  for (const [at, part] of names.entries()) {
    const isLast = at === names.length - 1;
    const path = join(root, ...names.slice(0, at), part);
    const stats = await lstat(path).catch(() => undefined);
    if (!stats) return make && (await standIn(root, path)) ? path : undefined;
    if (made.get(root)?.has(path)) return path;
    if (stats.isSymbolicLink()) {
      // Elsewhere nothing can be written anyway.
      const target = await realpath(path).catch(() => undefined);
      return target !== undefined && target !== root && isWithin(target, root) ? target : undefined;
    }
    if (isLast || !stats.isDirectory()) return path;
  }
  return undefined;
}

/** False where it cannot be made, and so not by a command either. */
async function standIn(root: string, path: string): Promise<boolean> {
  try {
    await mkdir(path);
  } catch {
    return false;
  }
  made.set(root, (made.get(root) ?? new Set()).add(path));
  return true;
}

async function thaw(root: string, { had }: { had: boolean }): Promise<void> {
  if (!had) await unlink(join(root, UNWANTED)).catch(() => {});
  const left = (holders.get(root) ?? 1) - 1;
  holders.set(root, left);
  if (left > 0) return;
  holders.delete(root);
  // Nobody has put anything into it, or it stays.
  for (const path of made.get(root) ?? []) await rmdir(path).catch(() => {});
  made.delete(root);
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
