import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep, setImmediate } from "node:timers/promises";
import { attempt } from "../../errors.ts";
import { type Execution, type FileResult, fail } from "../backend/index.ts";
import { CappedOutput, commandOutput } from "./capped-output.ts";
import { COMMAND_TAG, supervisor } from "./supervisor.ts";
import { endTree } from "./windows.ts";

const GRACE_MS = 2000;
const SILENT_GRACE_MS = 200;
const POLL_MS = 20;
/** The maximum number of searches for stray processes, for a process that forks faster than it can be killed. */
const MAX_ROUNDS = 50;
/** The time for remaining output to arrive after all processes have ended. */
const DRAIN_MS = 250;

export interface CommandOptions {
  cwd: string;
  env: Record<string, string>;
  timeoutMs: number;
  maxOutput: number;
  signal?: AbortSignal;
}

/**
 * Runs a program in its own process group. Ends all processes that it started when it exits, reaches the time limit or
 * is aborted, or when this process is killed. An abort throws the signal's reason.
 */
export async function runCommand(
  words: readonly string[],
  options: CommandOptions,
): Promise<FileResult<Execution>> {
  const { timeoutMs, maxOutput, signal } = options;
  signal?.throwIfAborted();
  const tag = crypto.randomUUID();
  supervisor.begins(tag);
  const child = start(words, { ...options, env: { ...options.env, [COMMAND_TAG]: tag } });
  if (child instanceof Error) {
    supervisor.ended(tag);
    return fail(`The command was not started: ${child.message}.`);
  }
  if (child.pid !== undefined) supervisor.isGroup(tag, child.pid);
  const output = new CappedOutput(maxOutput);
  const listener = commandOutput.getStore();
  if (listener) listener.printed = () => output.toString();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => output.push(text));
  }
  const exit = new Promise<number | null | Error>((resolve) => {
    child.once("exit", resolve).on("error", resolve);
  });
  const close = new Promise((resolve) => child.once("close", resolve));
  const limit = deadline(timeoutMs, signal);
  const first = await Promise.race([exit, limit.reached]);
  limit.cancel();
  const timedOut = first === "time limit";
  const hasExited = !timedOut && first !== "abort";
  const { pid } = child;
  const strays = hasExited && pid !== undefined ? await commandProcesses(tag, pid) : undefined;
  // The first process of a sandbox may briefly outlive the command.
  const leftProcesses = strays?.some(({ program }) => program !== "bwrap") ?? false;
  // On Windows the id of an ended process may already be reused.
  const isReusable = hasExited && process.platform === "win32";
  if (pid !== undefined && strays?.length !== 0 && !isReusable) {
    await endGroup(pid, () => child.stdout.closed && child.stderr.closed);
    await endStrays(tag, pid);
  }
  supervisor.ended(tag);
  const exitCode = await exit;
  // After the time limit, the immediate reads output that has already arrived.
  await Promise.race([close, sleep(DRAIN_MS).then(() => setImmediate())]);
  child.stdout.destroy();
  child.stderr.destroy();
  signal?.throwIfAborted();
  if (exitCode instanceof Error) return fail(`The command was not started: ${exitCode.message}.`);
  return {
    ok: true,
    output: output.toString(),
    exitCode,
    timedOut,
    truncated: output.truncated,
    ...(leftProcesses && { leftProcesses }),
    ...(timedOut && { limitMs: timeoutMs }),
  };
}

/** Renders the result of a command for a model: its output, and a line about anything unusual. */
export function renderExecution(execution: Execution): string {
  const { output, exitCode, timedOut, limitMs, leftProcesses, takenBack = [] } = execution;
  const limit = limitMs === undefined ? "" : ` of ${Math.round(limitMs / 100) / 10} s`;
  const ending = timedOut
    ? `[Stopped at the time limit${limit}.]`
    : exitCode === null
      ? "[Ended by a signal.]"
      : exitCode === 0
        ? ""
        : `[Exit code ${exitCode}.]`;
  const strayNote = leftProcesses ? "[What it had left running in the background was ended.]" : "";
  const movedNote =
    takenBack.length === 0
      ? ""
      : `[Moved aside, as git would run programs by it outside of the sandbox: ${takenBack.join(", ")}.]`;
  const silence = output.trim() === "" && ending === "" ? "[No output; exit code 0.]" : "";
  return [output.trimEnd(), silence, ending, strayNote, movedNote].filter((part) => part !== "").join("\n");
}

/** Sends output and errors through one pipe, which keeps their order. */
const IN_ORDER = ["/bin/sh", "-c", 'exec "$@" 2>&1', "sh"] as const;

function start(words: readonly string[], { cwd, env }: CommandOptions) {
  try {
    const isWindows = process.platform === "win32";
    const [program = "", ...args] = isWindows ? words : [...IN_ORDER, ...words];
    return spawn(program, args, {
      cwd,
      env,
      detached: !isWindows,
      windowsHide: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
  } catch (error) {
    // A command that is too long, or contains a NUL.
    return error as Error;
  }
}

function deadline(timeoutMs: number, signal: AbortSignal | undefined) {
  let cancel = (): void => {};
  const reached = new Promise<"time limit" | "abort">((resolve) => {
    const onAbort = (): void => resolve("abort");
    const most = 2 ** 31 - 1;
    const timer = setTimeout(() => resolve("time limit"), Math.min(Math.max(timeoutMs || 1, 1), most));
    signal?.addEventListener("abort", onAbort);
    cancel = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
  });
  return { reached, cancel };
}

/**
 * Sends SIGTERM to a process group, and SIGKILL after a grace period. The period is short once the group's output is
 * closed, when usually only zombies are left. On Windows, kills the process and its descendants at once.
 */
export async function endGroup(group: number, isSilent: () => boolean): Promise<void> {
  if (process.platform === "win32") return endTree(group);
  if (!send(-group, "SIGTERM")) return;
  for (let waited = 0; waited < (isSilent() ? SILENT_GRACE_MS : GRACE_MS); waited += POLL_MS) {
    await sleep(POLL_MS);
    if (!send(-group, 0)) return;
  }
  send(-group, "SIGKILL");
}

/** Kills processes that have left the group, and those that they start meanwhile. */
export async function endStrays(tag: string, group: number): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const strays = (await commandProcesses(tag, group)) ?? [];
    if (strays.length === 0) return;
    for (const { pid } of strays) send(pid, "SIGKILL");
    await sleep(POLL_MS);
  }
}

/** Signals a process, or with `-group` a group. False if it does not exist. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  return attempt(() => process.kill(pid, signal)) ?? false;
}

/** The number of processes to read between yields to the event loop. Asynchronous reads would cost ten times more. */
const AT_ONCE = 100;

/**
 * Reads a process's status in `/proc`; undefined for any other text. Its name, in parentheses, may contain spaces and
 * parentheses.
 */
export function processIn(status: string): { program: string; state: string; group: number } | undefined {
  const end = status.lastIndexOf(") ");
  if (end < 0) return undefined;
  const [state = "", , group] = status.slice(end + 2).split(" ");
  return { program: status.slice(status.indexOf("(") + 1, end), state, group: Number(group) };
}

interface CommandProcess {
  pid: number;
  program: string;
}

/**
 * The running processes of a command, found by their group or, if they have left it, by the tag in their environment.
 * Zombies do not count. Undefined where the system has no `/proc`.
 */
async function commandProcesses(tag: string, group: number): Promise<CommandProcess[] | undefined> {
  const pids = attempt(() => readdirSync("/proc").filter((name) => /^\d+$/.test(name)));
  const text = Buffer.from(`${COMMAND_TAG}=${tag}`);
  const programOf = (pid: string): string | undefined => {
    const status = attempt(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
    const found = processIn(status ?? "");
    if (!found || found.state === "Z") return undefined;
    // The environments of other users' processes cannot be read.
    const isOurs =
      found.group === group || attempt(() => readFileSync(`/proc/${pid}/environ`))?.includes(text) === true;
    return isOurs ? found.program : undefined;
  };
  const processes: CommandProcess[] = [];
  for (const [at, pid] of pids?.entries() ?? []) {
    const program = programOf(pid);
    if (program !== undefined) processes.push({ pid: Number(pid), program });
    if (at % AT_ONCE === AT_ONCE - 1) await setImmediate();
  }
  return pids && processes;
}
