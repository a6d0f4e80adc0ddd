import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { totalmem } from "node:os";
import { dirname, join } from "node:path";
import { attempt } from "../../../errors.ts";
import { TRIAL_MS } from "./system-calls.ts";

/** Resource limits of an isolated command. `Infinity` leaves a limit to the system. */
export interface CommandLimits {
  /** Processes and threads at a time. Limits root only in a control group. Default 8,192. */
  processes?: number;
  /** Bytes of memory of all processes together, only in a control group. Default three quarters of the machine's. */
  totalMemory?: number;
  /** Bytes of memory that one process writes to. Default 8 GiB. */
  memory?: number;
  /** Open files of one process. Default 16,384. */
  openFiles?: number;
  /** Bytes of one file. Default 16 GiB. */
  fileSize?: number;
}

/** The limits per process, which a shell can set. */
type Limit = Exclude<keyof CommandLimits, "totalMemory">;

const DEFAULTS: Required<CommandLimits> = {
  processes: 8192,
  totalMemory: Math.floor(totalmem() * 0.75),
  memory: 8 * 2 ** 30,
  openFiles: 16_384,
  fileSize: 16 * 2 ** 30,
};

/** Commands that set a limit in a POSIX shell. Memory is the data segment: Node reserves terabytes of addresses. */
const SET: Readonly<Record<Limit, (most: number) => string>> = {
  processes: (most) => `{ ulimit -u ${most} || ulimit -p ${most}; }`,
  memory: (most) => `ulimit -d ${Math.ceil(most / 1024)}`,
  openFiles: (most) => `ulimit -n ${most}`,
  fileSize: (most) => `ulimit -f ${Math.ceil(most / 512)}`,
};

/** The words that run a command in a shell with limits. A lower limit of the system stays. */
export function limitedShell(command: string, limits: CommandLimits = {}): string[] {
  const all = { ...DEFAULTS, ...limits };
  const set = (Object.keys(SET) as Limit[])
    .filter((name) => Number.isFinite(all[name]))
    .map((name) => `${SET[name](Math.max(0, Math.floor(all[name])))} 2>/dev/null;`);
  return ["/bin/sh", "-c", `${set.join(" ")} exec /bin/sh -c "$1"`, "sh", command];
}

/** Scripts that exceed a very low limit. If one succeeds, the limit does not work. */
const BREAK: Readonly<Record<Limit, string>> = {
  processes: `${SET.processes(1)}; /bin/true & wait $!`,
  memory: `${SET.memory(16_384)}; /bin/ls /`,
  openFiles: `${SET.openFiles(3)}; exec 5</dev/null`,
  fileSize: `${SET.fileSize(512)}; head -c 4096 /dev/zero > /tmp/limit`,
};

/** Tries which limits work in a sandbox, given by the words that run a program in it. */
export function limitsThatHold(words: readonly string[]): Record<keyof CommandLimits, boolean> {
  // The echo distinguishes a working limit from a shell that did not start.
  const holds = (script: string, [program = "", ...flags] = words): boolean => {
    const judge = `if ( ${script} ) >/dev/null 2>&1; then echo passed; else echo held; fi`;
    const options = { encoding: "utf8", timeout: TRIAL_MS } as const;
    return spawnSync(program, [...flags, "/bin/sh", "-c", judge], options).stdout === "held\n";
  };
  const results = (Object.keys(BREAK) as Limit[]).map((name) => [name, holds(BREAK[name])] as const);
  const each = Object.fromEntries(results) as Record<Limit, boolean>;
  // The sandbox does not see the control group around it.
  const inGroup = (controller: Controller): boolean =>
    inControlGroup().length > 0 &&
    holds(
      `while read -r line; do case $line in *::*/holdfast-*|*:*${controller}*:*/holdfast-*) exit 1;; esac; done < /proc/self/cgroup`,
      inControlGroup(),
    );
  return { ...each, processes: each.processes || inGroup("pids"), totalMemory: inGroup("memory") };
}

/** The files of a control group by cgroup version, with the value for no limit. */
const GROUP_FILES = {
  pids: { 1: ["pids.max", "max"], 2: ["pids.max", "max"], limit: "processes" },
  memory: { 1: ["memory.limit_in_bytes", "-1"], 2: ["memory.max", "max"], limit: "totalMemory" },
} as const;
type Controller = keyof typeof GROUP_FILES;

const HIERARCHY = "/sys/fs/cgroup";
const groups = new Map<string, readonly string[]>();

/**
 * The words before a program that run it in a control group, so that the limits on processes and memory apply to all
 * its processes together. Empty where this process cannot create a control group.
 */
export function inControlGroup(limits: CommandLimits = {}): string[] {
  const all = { ...DEFAULTS, ...limits };
  const name = `holdfast-${process.pid}-${all.processes}-${all.totalMemory}`;
  const files = groups.get(name) ?? makeGroups(name, all);
  groups.set(name, files);
  const enter = 'while [ "$1" != -- ]; do echo $$ > "$1"; shift; done 2>/dev/null; shift; exec "$@"';
  return files.length === 0 ? [] : ["/bin/sh", "-c", enter, "sh", ...files, "--"];
}

/** Creates the groups of a name. Returns the files to which a process writes its id to enter them. */
function makeGroups(name: string, limits: Required<CommandLimits>): string[] {
  const lines = attempt(() => readFileSync("/proc/self/cgroup", "utf8").trim().split("\n")) ?? [];
  return lines.flatMap((line) => {
    const [, names = "", path = "/"] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    // In version 2 a group with processes cannot enable controllers for its children: the new group is its sibling.
    const version = names === "" ? 2 : 1;
    const parent = version === 2 ? join(HIERARCHY, dirname(path)) : join(HIERARCHY, names, path);
    const controllers = (Object.keys(GROUP_FILES) as Controller[]).filter(
      (controller) => version === 2 || names.split(",").includes(controller),
    );
    if (controllers.length === 0 || !existsSync(join(parent, "cgroup.procs"))) return [];
    const folder = join(parent, name);
    return (
      attempt(() => {
        removeGroups(parent);
        mkdirSync(folder, { recursive: true });
        const set = controllers.map((controller) => {
          const { limit, ...files } = GROUP_FILES[controller];
          const [file, unlimited] = files[version];
          const most = Number.isFinite(limits[limit]) ? String(limits[limit]) : unlimited;
          // Not "w": the kernel creates the files, only those of available controllers.
          return attempt(() => (writeFileSync(join(folder, file), most, { flag: "r+" }), true)) === true;
        });
        if (!set.includes(true)) {
          rmdirSync(folder);
          return [];
        }
        process.once("exit", () => attempt(() => rmdirSync(folder)));
        return [join(folder, "cgroup.procs")];
      }) ?? []
    );
  });
}

function removeGroups(parent: string): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = /^holdfast-(\d+)-/.exec(name) ?? [];
    const isLive = pid === undefined || attempt(() => process.kill(Number(pid), 0));
    if (!isLive) attempt(() => rmdirSync(join(parent, name)));
  }
}
