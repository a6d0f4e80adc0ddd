import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, realpathSync, statSync, readFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { isWithin } from "../../paths/index.ts";
import { hostProgram } from "../../programs/index.ts";
import { GIT_SETTINGS, harmlessGitSettings, withGitSettings } from "./git-settings.ts";
import { KEYS, TOOLS } from "./home.ts";
import { inControlGroup, limitedShell, limitsThatHold, type CommandLimits } from "./limits.ts";
import type { Frozen } from "./read-only-paths.ts";
import { bubblewrap, isFiltered, TRIAL_MS } from "./system-calls.ts";

/** The outcome of the trial by the path of the program. */
const works = new Map<string, boolean>();

/** Whether commands can run in their own namespaces. Tried once per process and program. */
export function bubblewrapWorks(): boolean {
  const program = process.platform === "linux" ? hostProgram("bwrap") : undefined;
  if (program === undefined) return false;
  const known = works.get(program) ?? bubblewrapRuns(program);
  works.set(program, known);
  return known;
}

function bubblewrapRuns(program: string): boolean {
  const words = [...trial(), "/bin/sh", "-c", ":"];
  return spawnSync(program, words, { stdio: "ignore", timeout: TRIAL_MS }).status === 0;
}

/** The words that start bubblewrap, with a system call filter where the kernel supports one. */
export function startBubblewrap(): readonly string[] {
  return bubblewrap(trial());
}

/** Tries whether the system call filter works. */
export function callsAreFiltered(): boolean {
  return isFiltered(startBubblewrap(), trial());
}

/** Tries which limits work in the namespaces. */
export function limitsInNamespaces(): Record<keyof CommandLimits, boolean> {
  return limitsThatHold([...startBubblewrap(), ...trial()]);
}

function trial(): string[] {
  return [...SPACES, "--ro-bind", "/", "/", "--dev", "/dev", ...processes(), "--tmpfs", "/tmp"];
}

/**
 * Arguments for all namespaces and no capabilities: root would keep its capabilities, and could undo the mounts. All
 * processes end with the first one.
 */
export const SPACES: readonly string[] = ["--unshare-all", "--cap-drop", "ALL", "--die-with-parent"];

/**
 * Arguments for a `/proc` with the sandbox's own processes and everything else read-only: root could write kernel
 * settings there without a capability.
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

/** The restrictions of an isolated command. */
export interface Bounds {
  network: boolean;
  /** Files and folders that it does not see, in addition to the home folder and keys. */
  hidden: readonly string[];
  frozen: Pick<Frozen, "paths" | "around">;
  limits?: CommandLimits;
}

/**
 * The words that run a command in its own namespaces. Only the directory and an empty /tmp are writable. The home
 * folder contains only programs and the surrounding repository. Keys, the system's sockets and other processes are
 * hidden, and there is no network unless `network` is set.
 */
export function inNamespaces(command: string, root: string, bounds: Bounds): string[] {
  const { network, hidden, frozen, limits } = bounds;
  const emptied = homes().filter((home) => !isWithin(home, root));
  const needed = emptied.flatMap((home) => [...programsIn(home), ...projectAround(root, home)]);
  // The visible parts of a home may contain keys: the directory itself, and folders of programs.
  const visible = [root, ...needed];
  const keys = homes()
    .flatMap((home) => [...KEYS, ...GIT_SETTINGS].map((name) => join(home, name)))
    .filter((key) => key !== root && visible.some((path) => isWithin(key, path)));
  const mounts: string[][] = [
    ["--ro-bind", "/", "/"],
    ["--dev", "/dev"],
    processes(),
    ...["/tmp", "/var/tmp", "/run"].filter((path) => existsSync(path)).map((path) => ["--tmpfs", path]),
    // Many systems resolve host names through it.
    network ? ["--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"] : [],
    // Writable for caches, which are discarded afterwards.
    ...emptied.map((home) => ["--tmpfs", home]),
    ...needed.map((path) => ["--ro-bind-try", path, path]),
    ["--bind", root, root],
    // The surrounding folders first: a mount point cannot be moved.
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

/** The folders of a home folder with programs and what they need. */
function programsIn(home: string): string[] {
  const onPath = (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((path) => resolve(path))
    .filter((path) => path !== home && isWithin(path, home))
    // A program's libraries are next to its `bin` folder, unless that is directly in the home folder.
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
 * The folders around a directory that its programs need: the repository that contains it, with shared packages, and the
 * repository of a worktree's history. Only folders inside of a home folder.
 */
function projectAround(root: string, home: string): string[] {
  const around: string[] = [];
  const isPart = (path: string): boolean => path !== home && isWithin(path, home);
  for (let folder = root; isPart(folder); folder = dirname(folder)) {
    const stats = lstatSync(`${folder}/.git`, { throwIfNoEntry: false });
    const history = stats?.isFile() ? historyOf(folder) : undefined;
    if (history !== undefined && isPart(history)) around.push(history);
    // In the directory itself it may be a placeholder.
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
