import { mkdir, realpath } from "node:fs/promises";
import { type Execution, type FileBackend, type FileResult, fail } from "../backend/index.ts";
import { FROZEN_FILES, withPermissions } from "../backends/index.ts";
import { diskBackend, type DiskOptions } from "../disk/index.ts";
import { bubblewrapWorks, inNamespaces, type Bounds } from "./isolation/bubblewrap.ts";
import type { Isolation } from "./isolation/isolations.ts";
import type { CommandLimits } from "./isolation/limits.ts";
import { watchRepositories } from "./isolation/nested-repositories.ts";
import { freeze } from "./isolation/read-only-paths.ts";
import { inSeatbelt, seatbeltIsThere } from "./isolation/seatbelt.ts";
import { placeText } from "./place.ts";
import { runCommand, type CommandOptions } from "./run-command.ts";
import { powerShellWords, WINDOWS_VARIABLES } from "./windows.ts";

export { CappedOutput, commandOutput, type CommandOutput } from "./capped-output.ts";
export {
  bubblewrapWorks,
  callsAreFiltered,
  limitsInNamespaces,
  processes,
  SPACES,
  startBubblewrap,
} from "./isolation/bubblewrap.ts";
export { type Isolation, ISOLATIONS } from "./isolation/isolations.ts";
export { type CommandLimits, inControlGroup, limitedShell } from "./isolation/limits.ts";
export { seatbeltIsThere } from "./isolation/seatbelt.ts";
export { type CommandOptions, endGroup, endStrays, renderExecution } from "./run-command.ts";
export { COMMAND_TAG, supervisor } from "./supervisor.ts";
export { WINDOWS_VARIABLES } from "./windows.ts";

/** Variables that a command gets from this process: none of them is a secret. */
const PASSED = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "TERM", "LANG", "LANGUAGE"];

const ISOLATORS: Partial<Record<NodeJS.Platform, string>> = {
  darwin: "nothing here can do it (npm install @anthropic-ai/sandbox-runtime)",
  win32: "nothing on Windows can do it (use the Windows Subsystem for Linux)",
};

/** Why commands are refused where they have to be isolated. */
export const NO_ISOLATION = `they have to be isolated, and ${
  ISOLATORS[process.platform] ?? "bubblewrap does not work (apt-get install bubblewrap)"
}.`;

/** Options of commands. */
export interface ShellOptions extends DiskOptions {
  /** Default two minutes. A call may ask for another limit. */
  timeoutMs?: number;
  /** The longest that a call may ask for. Default ten minutes, or `timeoutMs` where that is longer. */
  maxTimeoutMs?: number;
  /** The most characters of output to keep, from its head and its tail. Default 200,000. */
  maxOutput?: number;
  /** More variables of this process that commands get, by name. */
  passEnv?: readonly string[];
  /** Variables that are set for commands. */
  env?: Readonly<Record<string, string>>;
  /**
   * Run commands apart from the rest of the system: where that works (`auto`), always, or never. On Linux it takes
   * bubblewrap, on macOS the package `@anthropic-ai/sandbox-runtime`. Default `auto`.
   */
  isolation?: Isolation;
  /** Whether isolated commands reach the network. Default false. */
  network?: boolean;
  /** More files and folders that isolated commands do not see, by their absolute paths. */
  hidden?: readonly string[];
  /** The most that isolated commands may use, on Linux. */
  limits?: CommandLimits;
  /**
   * Runs the words of a command, in which whatever isolates it is already, and ends it with all that it started.
   * Default: a process of this one.
   */
  run?: (words: readonly string[], options: CommandOptions) => Promise<FileResult<Execution>>;
}

/** Whether commands with these options are isolated on this machine. */
export function isIsolated({ isolation = "auto" }: Pick<ShellOptions, "isolation"> = {}): boolean {
  return isolation !== "never" && (bubblewrapWorks() || seatbeltIsThere());
}

/**
 * Files in a real folder, and commands run there by `/bin/sh`, on Windows by PowerShell. Isolated, a command can write to the folder alone, sees
 * no keys of the user and no other process, and has no network; what other programs run for the user, such as git's
 * hooks, it cannot change. Elsewhere it can reach whatever this process can. What a command leaves running ends with
 * it, and with this process if it is killed.
 */
export function shellBackend(root: string, options: ShellOptions = {}): FileBackend {
  const {
    timeoutMs = 120_000,
    maxTimeoutMs = Math.max(600_000, timeoutMs),
    maxOutput = 200_000,
    passEnv = [],
    env = {},
    isolation = "auto",
    network = false,
    hidden = [],
    limits = {},
    run: runWords = runCommand,
    ...disk
  } = options;
  return {
    // What commands cannot write, file tools cannot write either.
    ...withPermissions(diskBackend(root, disk), [FROZEN_FILES]),
    place: () => placeText(root, { isolated: isIsolated({ isolation }), network, timeoutMs, maxTimeoutMs }),
    async execute(command, call = {}) {
      if (command.trim() === "") return fail("The command is empty.");
      await mkdir(root, { recursive: true });
      const isIsolatedHere = isIsolated({ isolation });
      if (isolation === "always" && !isIsolatedHere) {
        return fail(`Commands are not run here: ${NO_ISOLATION}`);
      }
      // The real name: what is mounted is no link.
      const folder = await realpath(root);
      const run: CommandOptions = {
        cwd: folder,
        env: { ...passed([...PASSED, ...passEnv]), ...env },
        timeoutMs: Math.min(call.timeoutMs ?? timeoutMs, maxTimeoutMs),
        maxOutput,
        signal: call.signal,
      };
      if (!isIsolatedHere) return runWords(shellWords(command), run);
      const bounds = { network, hidden, limits };
      return runIsolated(command, folder, { bounds, run: (words) => runWords(words, run) });
    },
  };
}

async function runIsolated(
  command: string,
  cwd: string,
  how: { bounds: Omit<Bounds, "frozen">; run: (words: readonly string[]) => Promise<FileResult<Execution>> },
): Promise<FileResult<Execution>> {
  const { bounds, run } = how;
  if (process.platform === "darwin") {
    const words = await inSeatbelt(command, cwd, bounds);
    return words ? run(words) : fail("On macOS all commands have the network, or none.");
  }
  const frozen = await freeze(cwd);
  const takeBack = await watchRepositories(cwd);
  try {
    const [ran] = await Promise.allSettled([run(inNamespaces(command, cwd, { ...bounds, frozen }))]);
    const takenBack = await takeBack();
    if (ran.status === "rejected") throw ran.reason;
    return ran.value.ok && takenBack.length > 0 ? { ...ran.value, takenBack } : ran.value;
  } finally {
    await frozen.thaw();
  }
}

function shellWords(command: string): string[] {
  return process.platform === "win32" ? powerShellWords(command) : ["/bin/sh", "-c", command];
}

function passed(names: readonly string[]): Record<string, string> {
  const isWindows = process.platform === "win32";
  const all = isWindows ? [...names, ...WINDOWS_VARIABLES] : names;
  const wanted = Object.entries(process.env).filter(
    ([name]) => all.includes(isWindows ? name.toUpperCase() : name) || name.startsWith("LC_"),
  );
  return Object.fromEntries(wanted.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
