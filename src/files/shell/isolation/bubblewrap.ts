import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, realpathSync, statSync, readFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { isWithin } from "../../paths/index.ts";
import { GIT_SETTINGS, harmlessGitSettings, withGitSettings } from "./git-settings.ts";
import { KEYS, TOOLS } from "./home.ts";
import { inControlGroup, limitedShell, limitsThatHold, type CommandLimits } from "./limits.ts";
import type { Frozen } from "./read-only-paths.ts";
import { bubblewrap, isFiltered, TRIAL_MS } from "./system-calls.ts";

let works: boolean | undefined;

/** Tries, once for this process, whether commands can be run in namespaces of their own. */
export function bubblewrapWorks(): boolean {
  if (process.platform !== "linux") return false;
  works ??= spawnSync("bwrap", [...trial(), "true"], { stdio: "ignore", timeout: TRIAL_MS }).status === 0;
  return works;
}

/** The words that start bubblewrap here, with a filter of system calls where the kernel takes one. */
export function startBubblewrap(): readonly string[] {
  return bubblewrap(trial());
}

/** Tries whether system calls of commands in namespaces of their own are filtered. */
export function callsAreFiltered(): boolean {
  return isFiltered(startBubblewrap(), trial());
}

/** Tries which limits hold for commands in namespaces of their own. */
export function limitsInNamespaces(): Record<keyof CommandLimits, boolean> {
  return limitsThatHold([...startBubblewrap(), ...trial()]);
}

function trial(): string[] {
  return [...SPACES, "--ro-bind", "/", "/", "--dev", "/dev", ...processes(), "--tmpfs", "/tmp"];
}

/**
 * Namespaces of its own for everything, and no capabilities in them: root would keep them, and could take the mounts
 * away again. Everything ends with the first process.
 */
export const SPACES: readonly string[] = ["--unshare-all", "--cap-drop", "ALL", "--die-with-parent"];

/**
 * The sandbox's own processes. All else in `/proc` is the machine's: bubblewrap leaves kernel settings to who may
 * write them, and root may without a capability.
 */
export function processes(): string[] {
  machine ??= readdirSync("/proc").flatMap((name) => {
    const path = `/proc/${name}`;
    const stats = /^\d/.test(name) ? undefined : lstatSync(path, { throwIfNoEntry: false });
    const canAct = stats?.isDirectory() || (stats?.isFile() && (stats.mode & 0o222) !== 0);
    return canAct ? ["--ro-bind-try", path, path] : [];
  });
  return ["--proc", "/proc", ...machine];
}

let machine: string[] | undefined;

/** The bounds of a command: what it may not reach, and what it may. */
export interface Bounds {
  network: boolean;
  /** Files and folders that it does not see, besides the home folder and keys. */
  hidden: readonly string[];
  frozen: Pick<Frozen, "paths" | "around">;
  limits?: CommandLimits;
}

/**
 * The words that run a command in namespaces of its own: the directory and an empty /tmp are writable, all else is
 * read-only, the home folder is empty but for programs and the repository around, keys and the sockets of the system are not there, other
 * processes are not seen, and there is no network unless it is wanted.
 */
export function inNamespaces(command: string, root: string, bounds: Bounds): string[] {
  const { network, hidden, frozen, limits } = bounds;
  const emptied = homes().filter((home) => !isWithin(home, root));
  const needed = emptied.flatMap((home) => [...programsIn(home), ...projectAround(root, home)]);
  // What is left to be seen of a home may hold keys: the directory itself, and what is beside programs.
  const seen = [root, ...needed];
  const keys = homes()
    .flatMap((home) => [...KEYS, ...GIT_SETTINGS].map((name) => join(home, name)))
    .filter((key) => key !== root && seen.some((path) => isWithin(key, path)));
  const mounts: string[][] = [
    ["--ro-bind", "/", "/"],
    ["--dev", "/dev"],
    processes(),
    ...["/tmp", "/var/tmp", "/run"].filter((path) => existsSync(path)).map((path) => ["--tmpfs", path]),
    // Names are looked up through it on many systems.
    network ? ["--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"] : [],
    // Caches can be written there, and are gone afterwards.
    ...emptied.map((home) => ["--tmpfs", home]),
    ...needed.map((path) => ["--ro-bind-try", path, path]),
    ["--bind", root, root],
    // The folders around first: what is mounted cannot be moved away.
    ...frozen.around.map((path) => ["--bind", path, path]),
    ...frozen.paths.map((path) => ["--ro-bind", path, path]),
    ...[...keys, ...hidden].filter((path) => existsSync(path)).map((path) => hide(realpathSync(path))),
  ];
  const spaces = [...SPACES, ...(network ? ["--share-net"] : [])];
  const words = withGitSettings(harmlessGitSettings(root), limitedShell(command, limits));
  return [
    ...inControlGroup(limits),
    ...startBubblewrap(),
    ...spaces,
    ...mounts.flat(),
    "--chdir",
    root,
    ...words,
  ];
}

function homes(): string[] {
  const named = [homedir(), userInfo().homedir].filter((path) => path.startsWith("/") && existsSync(path));
  return [...new Set(named.map((path) => realpathSync(path)))].filter((path) => path !== "/");
}

/** Where programs and what they need are in a home folder. */
function programsIn(home: string): string[] {
  const onPath = (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((path) => resolve(path))
    .filter((path) => path !== home && isWithin(path, home))
    // A program's libraries are beside its folder, unless that is one of many in the home folder.
    .map((path) => (basename(path) === "bin" && isDeep(path, home) ? dirname(path) : path));
  const all = [...TOOLS.map((name) => join(home, name)), ...onPath];
  return [...new Set(all)].filter((path) => existsSync(path));
}

function isDeep(path: string, home: string): boolean {
  return path.slice(home.length).split("/").length > 3;
}

function hide(path: string): string[] {
  return statSync(path).isDirectory() ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path];
}

/**
 * The folders around a directory that programs in it look for: the repository that it is a part of, with packages that
 * it shares, and where git keeps a worktree's history. None outside of a home folder, or the home itself.
 */
function projectAround(root: string, home: string): string[] {
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

/** The path of the repository that a worktree or submodule belongs to. */
function historyOf(folder: string): string | undefined {
  const [, named] = /^gitdir: (.+)$/m.exec(readFileSync(`${folder}/.git`, "utf8")) ?? [];
  if (named === undefined) return undefined;
  const path = resolve(folder, named.trim());
  return /^(.+)\/worktrees\/[^/]+$/.exec(path)?.[1] ?? path;
}
