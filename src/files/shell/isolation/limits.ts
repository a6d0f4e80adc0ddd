import { spawnSync } from "node:child_process";

/** The most that an isolated command may use. `Infinity` leaves a limit to the system. */
export interface CommandLimits {
  /** Processes and threads at a time. Root is not bound by it. Default 8,192. */
  processes?: number;
  /** Bytes of memory that one process writes to. Default 8 GiB. */
  memory?: number;
  /** Files that one process has open. Default 16,384. */
  openFiles?: number;
  /** Bytes of one file. Default 16 GiB. */
  fileSize?: number;
}

type Limit = keyof CommandLimits;

const DEFAULTS: Required<CommandLimits> = {
  processes: 8192,
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
export function limitsThatHold([program = "", ...flags]: readonly string[]): Record<Limit, boolean> {
  const tried = Object.entries(BREAK).map(([name, script]) => {
    // The last echo tells a limit that holds from a shell that did not start.
    const judge = `if ( ${script} ) >/dev/null 2>&1; then echo passed; else echo held; fi`;
    const { stdout } = spawnSync(program, [...flags, "/bin/sh", "-c", judge], {
      encoding: "utf8",
      timeout: 5000,
    });
    return [name, stdout === "held\n"] as const;
  });
  return Object.fromEntries(tried) as Record<Limit, boolean>;
}
