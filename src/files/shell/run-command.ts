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
/** The rounds of looking for stray processes: one that forks faster than it can be ended is left to the system. */
const MAX_ROUNDS = 50;
/** The time for output to arrive after every process that could write it has ended. */
const DRAIN_MS = 250;

/** A command and its options. */
export interface CommandOptions {
  cwd: string;
  env: Record<string, string>;
  timeoutMs: number;
  maxOutput: number;
  signal?: AbortSignal | undefined;
}

/**
 * Runs a program in a process group of its own. Ends everything that it started when it exits, is out of time or is
 * aborted, or when this process is killed. An abort throws the signal's reason.
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
  // The first process of a sandbox may outlive the command for a moment.
  const leftProcesses = strays?.some(({ program }) => program !== "bwrap") ?? false;
  // On Windows the number of a process that is over may be another's already.
  const isGone = hasExited && process.platform === "win32";
  if (pid !== undefined && strays?.length !== 0 && !isGone) {
    await endGroup(pid, () => child.stdout.closed && child.stderr.closed);
    await endStrays(tag, pid);
  }
  supervisor.ended(tag);
  const exitCode = await exit;
  // Behind the time limit what has arrived is read.
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
  };
}

/** The end of a command in words for a model: its output, and a line about anything unusual. */
export function renderExecution(execution: Execution): string {
  const { output, exitCode, timedOut, leftProcesses, takenBack = [] } = execution;
  const ending = timedOut
    ? "[Stopped at the time limit.]"
    : exitCode === null
      ? "[Ended by a signal.]"
      : exitCode === 0
        ? ""
        : `[Exit code ${exitCode}.]`;
  const left = leftProcesses ? "[What it had left running in the background was ended.]" : "";
  const aside =
    takenBack.length === 0
      ? ""
      : `[Moved aside, as git would run programs by it outside of the sandbox: ${takenBack.join(", ")}.]`;
  const silence = output.trim() === "" && ending === "" ? "[No output; exit code 0.]" : "";
  return [output.trimEnd(), silence, ending, left, aside].filter((part) => part !== "").join("\n");
}

/** One pipe takes output and errors: from two, nobody can tell the order in which they were written. */
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
    // A command that is too long, or has a NUL in it.
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
 * Asks every process of a group to end, and ends by force what is still there after a while: soon once the group
 * is silent, when all that is left of it has usually ended and only waits to be collected by the system. On Windows it
 * ends the process and what that has started, at once.
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

/** Ends what has left the group, and what that starts meanwhile. */
export async function endStrays(tag: string, group: number): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const strays = (await commandProcesses(tag, group)) ?? [];
    if (strays.length === 0) return;
    for (const { pid } of strays) send(pid, "SIGKILL");
    await sleep(POLL_MS);
  }
}

/** Signals a process, or with `-group` a group. False when there is none any more. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  return attempt(() => process.kill(pid, signal)) ?? false;
}

/** So many processes are looked at before others have their turn: to read them one by one in turns takes ten times the work. */
const AT_ONCE = 100;

interface CommandProcess {
  pid: number;
  program: string;
}

/**
 * The processes of a command that still run, those included that have left its group and lost their parent: they have
 * its tag in their environment. One that has ended and waits to be collected by the system does not run. Undefined
 * where the system does not show processes.
 */
async function commandProcesses(tag: string, group: number): Promise<CommandProcess[] | undefined> {
  const pids = attempt(() => readdirSync("/proc").filter((name) => /^\d+$/.test(name)));
  const text = Buffer.from(`${COMMAND_TAG}=${tag}`);
  const programOf = (pid: string): string | undefined => {
    // The name, in brackets, may have spaces.
    const [, program = "", status = "Z"] =
      attempt(() => /\((.*)\) ([^)]*)$/s.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))) ?? [];
    const [state, , own] = status.split(" ");
    if (state === "Z") return undefined;
    // Environments of other users cannot be read, and are none of ours.
    const isOurs =
      Number(own) === group || attempt(() => readFileSync(`/proc/${pid}/environ`))?.includes(text) === true;
    return isOurs ? program : undefined;
  };
  const found: CommandProcess[] = [];
  for (const [at, pid] of pids?.entries() ?? []) {
    const program = programOf(pid);
    if (program !== undefined) found.push({ pid: Number(pid), program });
    if (at % AT_ONCE === AT_ONCE - 1) await setImmediate();
  }
  return pids && found;
}
