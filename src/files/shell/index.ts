import { mkdir } from "node:fs/promises";
import type { FileBackend } from "../backend.ts";
import { diskBackend, type DiskOptions } from "../disk/index.ts";
import { fail } from "../failures.ts";
import { runCommand } from "./run-command.ts";

/** Variables that a command gets from this process: none of them is a secret. */
const PASSED = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "TERM", "LANG", "LANGUAGE"];

/** How commands are run. */
export interface ShellOptions extends DiskOptions {
  /** Default two minutes. A call may ask for another limit. */
  timeoutMs?: number;
  /** The longest that a call may ask for. Default ten minutes, or `timeoutMs` where that is longer. */
  maxTimeoutMs?: number;
  /** The most characters of output to keep, from its head and its tail. Default 30,000. */
  maxOutput?: number;
  /** More variables of this process that commands get, by name. */
  passEnv?: readonly string[];
  /** Variables that are set for commands. */
  env?: Readonly<Record<string, string>>;
}

/**
 * Files in a real folder, and commands run there by `/bin/sh`. The shell is not a sandbox: a command can reach
 * whatever this process can. What a command leaves running ends with it, and with this process if it is killed.
 */
export function shellBackend(root: string, options: ShellOptions = {}): FileBackend {
  const {
    timeoutMs = 120_000,
    maxTimeoutMs = Math.max(600_000, timeoutMs),
    maxOutput = 30_000,
    passEnv = [],
    env = {},
    ...disk
  } = options;
  return {
    ...diskBackend(root, disk),
    async execute(command, call = {}) {
      if (process.platform === "win32") return fail("Commands need a POSIX system.");
      await mkdir(root, { recursive: true });
      return runCommand(command, {
        cwd: root,
        env: { ...passed([...PASSED, ...passEnv]), ...env },
        timeoutMs: Math.min(call.timeoutMs ?? timeoutMs, maxTimeoutMs),
        maxOutput,
        signal: call.signal,
      });
    },
  };
}

function passed(names: readonly string[]): Record<string, string> {
  const wanted = Object.entries(process.env).filter(
    ([name]) => names.includes(name) || name.startsWith("LC_"),
  );
  return Object.fromEntries(wanted.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
