import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { totalmem } from "node:os";
import { dirname, join } from "node:path";
import { attempt } from "../../../errors.ts";
import { TRIAL_MS } from "./system-calls.ts";

/** The most that an isolated command may use. `Infinity` leaves a limit to the system. */
export interface CommandLimits {
  /** Processes and threads at a time. Root is bound by it in a control group alone. Default 8,192. */
  processes?: number;
  /** Bytes of memory of all processes together, in a control group alone. Default three quarters of the machine's. */
  totalMemory?: number;
  /** Bytes of memory that one process writes to. Default 8 GiB. */
  memory?: number;
  /** Files that one process has open. Default 16,384. */
  openFiles?: number;
  /** Bytes of one file. Default 16 GiB. */
  fileSize?: number;
}

/** The limits that a shell can set, for each process. */
type Limit = Exclude<keyof CommandLimits, "totalMemory">;

const DEFAULTS: Required<CommandLimits> = {
  processes: 8192,
  totalMemory: Math.floor(totalmem() * 0.75),
  memory: 8 * 2 ** 30,
  openFiles: 16_384,
  fileSize: 16 * 2 ** 30,
};

/** Sets a limit in any POSIX shell. Memory is the data segment: address space is reserved by the terabyte in Node. */
const SET: Readonly<Record<Limit, (most: number) => string>> = {
  processes: (most) => `{ ulimit -u ${most} || ulimit -p ${most}; }`,
  memory: (most) => `ulimit -d ${Math.ceil(most / 1024)}`,
  openFiles: (most) => `ulimit -n ${most}`,
  fileSize: (most) => `ulimit -f ${Math.ceil(most / 512)}`,
};

/** The words that run a command in a shell with limits. A limit that the system has set lower stays. */
export function limitedShell(command: string, limits: CommandLimits = {}): string[] {
  const all = { ...DEFAULTS, ...limits };
  const set = (Object.keys(SET) as Limit[])
    .filter((name) => Number.isFinite(all[name]))
    .map((name) => `${SET[name](Math.max(0, Math.floor(all[name])))} 2>/dev/null;`);
  return ["/bin/sh", "-c", `${set.join(" ")} exec /bin/sh -c "$1"`, "sh", command];
}

/** Breaks a limit that is far too low: where this succeeds, the limit does not hold. */
const BREAK: Readonly<Record<Limit, string>> = {
  processes: `${SET.processes(1)}; /bin/true & wait $!`,
  memory: `${SET.memory(16_384)}; /bin/ls /`,
  openFiles: `${SET.openFiles(3)}; exec 5</dev/null`,
  fileSize: `${SET.fileSize(512)}; head -c 4096 /dev/zero > /tmp/limit`,
};

/** Tries which limits hold in a sandbox, given by the words that run a program in it. */
export function limitsThatHold(words: readonly string[]): Record<keyof CommandLimits, boolean> {
  // The echo tells a limit that holds from a shell that did not start.
  const holds = (script: string, [program = "", ...flags] = words): boolean => {
    const judge = `if ( ${script} ) >/dev/null 2>&1; then echo passed; else echo held; fi`;
    const options = { encoding: "utf8", timeout: TRIAL_MS } as const;
    return spawnSync(program, [...flags, "/bin/sh", "-c", judge], options).stdout === "held\n";
  };
  const tried = (Object.keys(BREAK) as Limit[]).map((name) => [name, holds(BREAK[name])] as const);
  const each = Object.fromEntries(tried) as Record<Limit, boolean>;
  // The sandbox sees no group around it.
  const inGroup = (controller: Controller): boolean =>
    inControlGroup().length > 0 &&
    holds(`! grep -qE ':(|.*${controller}.*):.*/holdfast-' /proc/self/cgroup`, inControlGroup());
  return { ...each, processes: each.processes || inGroup("pids"), totalMemory: inGroup("memory") };
}

/** The files of a control group by the version of the system's hierarchy, with the word for no limit. */
const GROUP_FILES = {
  pids: { 1: ["pids.max", "max"], 2: ["pids.max", "max"], limit: "processes" },
  memory: { 1: ["memory.limit_in_bytes", "-1"], 2: ["memory.max", "max"], limit: "totalMemory" },
} as const;
type Controller = keyof typeof GROUP_FILES;

const HIERARCHY = "/sys/fs/cgroup";
const groups = new Map<string, readonly string[]>();

/**
 * The words in front of a program that runs in a control group of this process, where the system lets it have one:
 * the limits on processes and memory then hold for all of them together. Empty elsewhere.
 */
export function inControlGroup(limits: CommandLimits = {}): string[] {
  const all = { ...DEFAULTS, ...limits };
  const name = `holdfast-${process.pid}-${all.processes}-${all.totalMemory}`;
  const files = groups.get(name) ?? makeGroups(name, all);
  groups.set(name, files);
  const enter = 'while [ "$1" != -- ]; do echo $$ > "$1"; shift; done 2>/dev/null; shift; exec "$@"';
  return files.length === 0 ? [] : ["/bin/sh", "-c", enter, "sh", ...files, "--"];
}

/** Makes the groups of a name. Returns the files that a process writes its id to, in order to enter them. */
function makeGroups(name: string, limits: Required<CommandLimits>): string[] {
  const lines = attempt(() => readFileSync("/proc/self/cgroup", "utf8").trim().split("\n")) ?? [];
  return lines.flatMap((line) => {
    const [, names = "", path = "/"] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    // A group of version 2 that has processes passes no controllers on: its neighbour has those of their parent.
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
          // Not "w": the kernel makes the files, and only those of its controllers.
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
