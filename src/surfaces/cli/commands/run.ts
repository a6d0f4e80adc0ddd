import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { HarnessError } from "../../../errors.ts";
import { shortened } from "../../../middleware/shortened.ts";
import type { PresetName } from "../../../plan/index.ts";
import { RUN_TOOLS } from "../../../runs/agent.ts";
import { taskInput } from "../../../runs/drive.ts";
import { DEFAULT_SETTINGS, type RunSettings } from "../../../runs/settings.ts";
import { newThreadId } from "../../../runs/thread-ids.ts";
import type { ThreadStore } from "../../../storage/index.ts";
import { perform } from "../perform.ts";
import { isPiped, readStandardInput } from "../standard-input.ts";
import { withPipedText } from "../task.prompt.ts";
import type { OutputFlags, Terminal } from "../terminal.ts";
import { settingsOf } from "../thread-agent.ts";
import { checkThreadId, MANY, maskedUrl, statePath, withSaver, type StateFlags } from "../threads.ts";
import { commandName, quoted } from "../wording.ts";

export interface RunFlags extends OutputFlags, StateFlags {
  task?: string | undefined;
  model?: string | undefined;
  preset?: PresetName | undefined;
  plan?: boolean | undefined;
  approve?: RunSettings["approve"] | undefined;
  dir?: string | undefined;
  shell?: boolean | undefined;
  ask?: readonly string[] | undefined;
  yes?: boolean | undefined;
  network?: boolean | undefined;
  thread?: string | undefined;
  maxTurns?: number | undefined;
}

/** `holdfast run`: starts a thread on a task, or gives a finished one another. */
export async function run(flags: RunFlags, terminal: Terminal): Promise<number> {
  if (flags.thread?.trim() === "") fail("--thread is empty.");
  const { task, message } = await readTask(flags.task, terminal);
  return withSaver(statePath(flags, terminal), async (saver) => {
    const thread = flags.thread ?? (await newThreadId(saver, task));
    const known = await saver.getThread(thread);
    if (!known) checkThreadId(thread);
    if (flags.thread !== undefined && !known) await refuseBeginning(saver, flags.thread);
    if (known && known.state !== "done" && known.state !== "running") {
      const id = quoted(thread);
      fail(`Thread ${id} is not finished: go on with holdfast resume ${id}, or leave out --thread.`);
    }
    const kept = known && (await settingsOf(saver, thread));
    return perform({
      terminal,
      saver,
      thread,
      flags,
      settings: await settingsFrom(flags, terminal, kept),
      task,
      resumed: known !== undefined,
      resumeCommand: resumeCommand(flags, terminal),
      input: async (_agent, used) =>
        taskInput(message, { run: used, ...(known?.title === undefined && { title: shortened(task) }) }),
    });
  });
}

/** A thread whose name begins another's would take its place wherever the beginning of a name is enough. */
async function refuseBeginning(saver: ThreadStore, thread: string): Promise<void> {
  const other = (await saver.listThreads({ limit: MANY })).find(({ id }) => id.startsWith(thread));
  if (!other) return;
  fail(
    `There is no thread ${JSON.stringify(thread)}, but ${quoted(other.id)} begins so: type all of its name, or choose another.`,
  );
}

/** The command to go on with, as the user started this one, with what it needs to find the thread again. */
export function resumeCommand({ state, database }: StateFlags, { env }: Terminal): string {
  const command = `${commandName(env)} resume`;
  if (database !== undefined) return `${command} --database ${quoted(maskedUrl(database))}`;
  return state === undefined ? command : `${command} --state ${quoted(state)}`;
}

interface Task {
  /** What the thread is named after. */
  task: string;
  /** What the model gets. */
  message: string;
}

/** The task that was given, together with what was piped; without one, or for `-`, standard input is the task. */
async function readTask(given: string | undefined, terminal: Terminal): Promise<Task> {
  const task = given?.trim();
  if (task && task !== "-") {
    const piped = isPiped(terminal) ? await readStandardInput(terminal) : "";
    return { task, message: piped ? withPipedText(task, piped) : task };
  }
  const isExpected = task === "-" || (task === undefined && !terminal.stdin.isTTY);
  const typed = isExpected ? await readStandardInput(terminal) : "";
  if (!typed) fail('There is no task: holdfast run "task", or give it on standard input.');
  return { task: typed, message: typed };
}

/**
 * What the flags say; for the rest what the thread was run with before, or the defaults. Tools that wait for consent
 * are only ever added to, commands always among them: `--yes` alone takes them away.
 */
export async function settingsFrom(
  { model, plan, preset, approve, dir, shell, network, ask, yes, maxTurns }: Omit<RunFlags, "task">,
  { cwd }: Terminal,
  kept: RunSettings | undefined,
): Promise<Partial<RunSettings> & typeof DEFAULT_SETTINGS> {
  const unknown = ask?.find((tool) => !RUN_TOOLS.includes(tool));
  if (unknown !== undefined) {
    fail(`--ask: there is no tool ${JSON.stringify(unknown)}; use ${RUN_TOOLS.join(", ")}.`);
  }
  if (yes && ask) fail("--yes and --ask say the opposite of each other: leave out one.");
  const { maxTurns: _, ...before } = kept ?? DEFAULT_SETTINGS;
  const settings = {
    ...before,
    startedIn: cwd,
    ...(model !== undefined && { model }),
    ...(plan !== undefined && { plan }),
    ...(preset !== undefined && { preset }),
    ...(approve !== undefined && { approve }),
    ...(shell !== undefined && { shell }),
    ...(network !== undefined && { network }),
    ...(dir !== undefined && { dir: await existingFolder(dir, cwd) }),
    ...(maxTurns !== undefined && { maxTurns }),
  };
  if (settings.shell && settings.dir === undefined) {
    fail("--shell runs commands in a directory: add --dir, such as --dir .");
  }
  if (yes) return { ...settings, ask: [], trusted: true };
  if (ask || shell) {
    settings.trusted = false;
    settings.ask = [...new Set([...before.ask, ...(settings.shell ? ["execute"] : []), ...(ask ?? [])])];
  }
  return settings;
}

/** The directory to work in. Throws `invalid-options` when it is not there. */
export async function existingFolder(dir: string, cwd: string): Promise<string> {
  if (dir.trim() === "") fail("--dir is empty; use --dir . for this one.");
  const folder = resolve(cwd, dir);
  const found = await stat(folder).catch(() => undefined);
  if (!found?.isDirectory()) fail(`--dir: ${folder} is ${found ? "not a directory" : "not there"}.`);
  return folder;
}

function fail(message: string): never {
  throw new HarnessError("invalid-options", message);
}
