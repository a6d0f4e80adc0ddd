import { existsSync } from "node:fs";
import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Isolation } from "../../vocabulary.ts";
import { type Execution, type Failure, type FileBackend, type FileResult, fail } from "../backend/index.ts";
import { FROZEN_FILES, withPermissions } from "../backends/index.ts";
import { diskBackend, type DiskOptions } from "../disk/index.ts";
import { parsePath } from "../paths/index.ts";
import { distrustPrograms } from "../programs/index.ts";
import { bubblewrapWorks, inNamespaces, type Bounds } from "./isolation/bubblewrap.ts";
import type { CommandLimits } from "./isolation/limits.ts";
import { freeze } from "./isolation/read-only-paths.ts";
import { watchRepositories } from "./isolation/repositories/index.ts";
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
export { type CommandLimits, inControlGroup, limitedShell } from "./isolation/limits.ts";
export { seatbeltIsThere } from "./isolation/seatbelt.ts";
export { type CommandOptions, endGroup, endStrays, renderExecution } from "./run-command.ts";
export { COMMAND_TAG, supervisor } from "./supervisor.ts";
export { WINDOWS_VARIABLES } from "./windows.ts";

/** Variables that a command inherits from this process. None of them is a secret. */
const INHERITED = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "TERM", "LANG", "LANGUAGE"];

const ISOLATORS: Partial<Record<NodeJS.Platform, string>> = {
  darwin: "nothing here can do it (npm install @anthropic-ai/sandbox-runtime)",
  win32: "nothing on Windows can do it (use the Windows Subsystem for Linux)",
};

/** The reason why commands are refused where isolation is required and missing. */
export const NO_ISOLATION = `they have to be isolated, and ${
  ISOLATORS[process.platform] ?? "bubblewrap does not work (apt-get install bubblewrap)"
}.`;

/** Options of `shellBackend`. */
export interface ShellOptions extends DiskOptions {
  /** Default two minutes. A call may set another limit. */
  timeoutMs?: number;
  /** The longest limit that a call may set. Default ten minutes, or `timeoutMs` if that is longer. */
  maxTimeoutMs?: number;
  /** The maximum number of characters of output, from its head and its tail. Default 200,000. */
  maxOutput?: number;
  /** Names of more variables of this process that commands inherit. */
  passEnv?: readonly string[];
  /** Variables that are set for commands. */
  env?: Readonly<Record<string, string>>;
  /**
   * Whether commands run isolated: where that works (`auto`), always, or never. Needs bubblewrap on Linux, and the
   * package `@anthropic-ai/sandbox-runtime` on macOS. Default `auto`.
   */
  isolation?: Isolation;
  /** Whether isolated commands reach the network. Default false. */
  network?: boolean;
  /** Absolute paths of more files and folders that isolated commands do not see. */
  hidden?: readonly string[];
  /** Resource limits of isolated commands, on Linux. */
  limits?: CommandLimits;
  /**
   * Runs a command given by its words, which include the isolation, and ends it with all its processes. Default: in a
   * child process.
   */
  run?: (words: readonly string[], options: CommandOptions) => Promise<FileResult<Execution>>;
}

/**
 * Whether commands with these options are isolated on this machine.
 *
 * @example
 * ```ts
 * import { isIsolated, shellBackend } from "holdfast/files";
 *
 * if (!isIsolated()) console.warn("Commands would run without isolation.");
 * const backend = shellBackend("./my-project", { isolation: "always" });
 * ```
 */
export function isIsolated({ isolation = "auto" }: Pick<ShellOptions, "isolation"> = {}): boolean {
  return isolation !== "never" && (bubblewrapWorks() || seatbeltIsThere());
}

/**
 * Files in a real folder, and commands run there by `/bin/sh`, on Windows by PowerShell. An isolated command can write
 * only to the folder, sees no keys of the user and no other processes, has no network, and cannot change what other
 * programs run for the user, such as git's hooks. Without isolation it can reach whatever this process can. Background
 * processes of a command end with it, and with this process if it is killed.
 *
 * @example
 * ```ts
 * import { createDeepAgent } from "holdfast";
 * import { shellBackend } from "holdfast/files";
 *
 * const backend = shellBackend("./my-project", { isolation: "always", timeoutMs: 60_000 });
 * const agent = createDeepAgent({ model: "openai:gpt-5.1", backend });
 * ```
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
  distrustPrograms(root);
  return {
    // File tools cannot write what commands cannot write.
    ...withoutTmp(withPermissions(diskBackend(root, disk), [FROZEN_FILES]), root),
    place: () => placeText(root, { isolated: isIsolated({ isolation }), network, timeoutMs, maxTimeoutMs }),
    async execute(command, call = {}) {
      if (command.trim() === "") return fail("The command is empty.");
      await mkdir(root, { recursive: true });
      const isIsolatedHere = isIsolated({ isolation });
      if (isolation === "always" && !isIsolatedHere) {
        return fail(`Commands are not run here: ${NO_ISOLATION}`);
      }
      // Mounts need the real path.
      const folder = await realpath(root);
      const run: CommandOptions = {
        cwd: folder,
        env: { ...(isIsolatedHere ? {} : OWN_GIT), ...inherited([...INHERITED, ...passEnv]), ...env },
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

/**
 * Has git use no bare repository that it finds by itself: file tools can write one as plain files, with settings that
 * name programs.
 */
const OWN_GIT = { GIT_CONFIG_PARAMETERS: "'safe.bareRepository=explicit'" };

/**
 * Refuses new files in `/tmp`, which is another folder for commands, and says so where a file in it is missing, unless
 * the project has a folder of that name.
 */
function withoutTmp(backend: FileBackend, root: string): FileBackend {
  const inTmp = (raw: string): string | undefined => {
    const parsed = parsePath(raw);
    const isInTmp = parsed.ok && (parsed.path === "/tmp" || parsed.path.startsWith("/tmp/"));
    return isInTmp && !existsSync(join(root, "tmp")) ? parsed.path : undefined;
  };
  const refusal = (raw: string): Failure | undefined => {
    const path = inTmp(raw);
    if (path === undefined || path === "/tmp") return undefined;
    return fail(
      `${path} was not written: for the file tools it is ${join(root, path)}, which commands do not find in their /tmp. Write ${path.slice("/tmp".length)}, or have a command write to /tmp.`,
    );
  };
  const told = async <Value extends object>(raw: string, work: Promise<FileResult<Value>>) => {
    const result = await work;
    if (result.ok || result.reason !== "missing" || inTmp(raw) === undefined) return result;
    return { ...result, error: `${result.error} ${OTHER_TMP}` };
  };
  return {
    ...backend,
    list: (path, options) => told(path, backend.list(path, options)),
    read: (path) => told(path, backend.read(path)),
    readBytes: (path) => told(path, backend.readBytes(path)),
    edit: (path, edit) => told(path, backend.edit(path, edit)),
    grep: (query) => told(query.path ?? "/", backend.grep(query)),
    glob: (pattern, scope) => told(scope?.path ?? "/", backend.glob(pattern, scope)),
    write: async (path, content) => refusal(path) ?? backend.write(path, content),
    writeBytes: async (path, bytes) => refusal(path) ?? backend.writeBytes(path, bytes),
  };
}

const OTHER_TMP =
  "The file tools do not see the /tmp of commands: have the same command print the file, or write it into the project.";

async function runIsolated(
  command: string,
  cwd: string,
  options: {
    bounds: Omit<Bounds, "frozen">;
    run: (words: readonly string[]) => Promise<FileResult<Execution>>;
  },
): Promise<FileResult<Execution>> {
  const { bounds, run } = options;
  if (process.platform === "darwin") {
    const words = await inSeatbelt(command, cwd, bounds);
    return words ? run(words) : fail("On macOS all commands have the network, or none.");
  }
  const frozen = await freeze(cwd);
  const takeBack = await watchRepositories(cwd, frozen.paths);
  let result: FileResult<Execution>;
  let takenBack: string[];
  try {
    result = await run(inNamespaces(command, cwd, { ...bounds, frozen }));
  } finally {
    // The check must not read git's files where the command has pointed git to.
    await frozen.thaw();
    takenBack = await takeBack();
  }
  return result.ok && takenBack.length > 0 ? { ...result, takenBack } : result;
}

function shellWords(command: string): string[] {
  return process.platform === "win32" ? powerShellWords(command) : ["/bin/sh", "-c", command];
}

function inherited(names: readonly string[]): Record<string, string> {
  const isWindows = process.platform === "win32";
  const all = isWindows ? [...names, ...WINDOWS_VARIABLES] : names;
  const variables = Object.entries(process.env).filter(
    ([name]) => all.includes(isWindows ? name.toUpperCase() : name) || name.startsWith("LC_"),
  );
  return Object.fromEntries(
    variables.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
