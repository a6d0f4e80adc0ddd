import { mkdir, realpath } from "node:fs/promises";
import type { FileBackend } from "../backend.ts";
import { diskBackend, type DiskOptions } from "../disk/index.ts";
import { fail } from "../failures.ts";
import { bubblewrapWorks, inNamespaces } from "./bubblewrap.ts";
import { runCommand } from "./run-command.ts";

/** Variables that a command gets from this process: none of them is a secret. */
const PASSED = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "TERM", "LANG", "LANGUAGE"];

/** Why commands are refused where they have to be isolated. */
export const NO_BUBBLEWRAP =
  "they have to be isolated, and bubblewrap does not work (apt-get install bubblewrap).";

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
  /** Run commands in Linux namespaces through `bwrap`: where it works (`auto`), always, or never. Default `auto`. */
  isolation?: "auto" | "always" | "never";
  /** Whether isolated commands reach the network. Default false. */
  network?: boolean;
}

/** Whether commands with these options are isolated on this machine. */
export function isIsolated({ isolation = "auto" }: Pick<ShellOptions, "isolation"> = {}): boolean {
  return isolation !== "never" && bubblewrapWorks();
}

/**
 * Files in a real folder, and commands run there by `/bin/sh`. Isolated, a command can write to the folder alone, sees
 * no keys of the user and no other process, and has no network. Elsewhere it can reach whatever this process can. What a command leaves running ends with it, and with this process if it is killed.
 */
export function shellBackend(root: string, options: ShellOptions = {}): FileBackend {
  const {
    timeoutMs = 120_000,
    maxTimeoutMs = Math.max(600_000, timeoutMs),
    maxOutput = 30_000,
    passEnv = [],
    env = {},
    isolation = "auto",
    network = false,
    ...disk
  } = options;
  return {
    ...diskBackend(root, disk),
    async execute(command, call = {}) {
      if (process.platform === "win32") return fail("Commands need a POSIX system.");
      if (command.trim() === "") return fail("The command is empty.");
      await mkdir(root, { recursive: true });
      const isolated = isIsolated({ isolation });
      if (isolation === "always" && !isolated) return fail(`Commands are not run here: ${NO_BUBBLEWRAP}`);
      // The real name: what is mounted is no link.
      const folder = await realpath(root);
      const words = isolated ? inNamespaces(command, folder, { network }) : ["/bin/sh", "-c", command];
      return runCommand(words, {
        cwd: folder,
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
