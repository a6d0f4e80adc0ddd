import { resolve } from "node:path";
import { compileRule, RULE } from "../../../project/index.ts";
import type { ThreadStore } from "../../../storage/index.ts";
import {
  RUN_TOOLS,
  readBudget,
  chosenMode,
  DEFAULT_SETTINGS,
  type RunSettings,
} from "../../../threads/prepare/index.ts";
import { newThreadId } from "../../../threads/thread/index.ts";
import type { FlagsOf, RUN_FLAGS } from "../options/index.ts";
import { perform, projectFor, isPiped, readStandardInput, withPipedText } from "../run/index.ts";
import type { Terminal } from "../terminal.ts";
import {
  existingFolder,
  settingsOf,
  checkThreadId,
  MANY,
  maskedUrl,
  statePath,
  withSaver,
  type StateFlags,
} from "../threads/index.ts";
import { commandName, quoted, refuse } from "../wording.ts";

export interface RunFlags extends Omit<FlagsOf<typeof RUN_FLAGS>, "dir"> {
  task?: string | undefined;
  thread?: string | undefined;
  /** `--no-dir` is false: files live in the thread. */
  dir?: string | false | undefined;
}

/** `holdfast run`: starts a thread on a task, or gives a finished one another. */
export async function run(flags: RunFlags, terminal: Terminal): Promise<number> {
  if (flags.thread?.trim() === "") refuse("--thread is empty.");
  const { task, message } = await readTask(flags.task, terminal);
  refuseOwnFlags(flags);
  return withSaver(statePath(flags, terminal), async (saver) => {
    const thread = flags.thread ?? (await newThreadId(saver, task));
    const known = await saver.getThread(thread);
    if (!known) checkThreadId(thread);
    if (flags.thread !== undefined && !known) await refuseBeginning(saver, flags.thread);
    if (known && known.state !== "done" && known.state !== "running") {
      const id = quoted(thread);
      refuse(`Thread ${id} is not finished: go on with holdfast resume ${id}, or leave out --thread.`);
    }
    const isOwn = flags.agent !== undefined;
    const kept = known && !isOwn ? await settingsOf(saver, thread) : undefined;
    const settings = await settingsFrom(known || isOwn ? flags : inDirectory(flags), terminal, kept);
    return perform({
      terminal,
      saver,
      thread,
      flags,
      settings,
      ...(await projectFor({ ...settings, trustProject: flags.trustProject }, terminal, flags)),
      resumeCommand: resumeCommand(flags, terminal),
      start: (owned, options) => owned.start(message, { ...options, task, isNewTurn: true }),
    });
  });
}

/** The present directory is what a new thread works on, unless another is named, or none. */
export function inDirectory<Flags extends Pick<RunFlags, "dir">>(flags: Flags): Flags {
  return { ...flags, dir: flags.dir ?? "." };
}

/** A thread whose name begins another's would take its place wherever the beginning of a name is enough. */
async function refuseBeginning(saver: ThreadStore, thread: string): Promise<void> {
  const other = (await saver.listThreads({ limit: MANY })).find(({ id }) => id.startsWith(thread));
  if (!other) return;
  refuse(
    `There is no thread ${JSON.stringify(thread)}, but ${quoted(other.id)} begins so: type all of its name, or choose another.`,
  );
}

/** Flags of Holdfast's own agent. */
const OWN_FLAGS =
  "model,effort,preset,plan,approve,dir,shell,ask,yes,mode,sandbox,network,mcpConfig,web,maxTurns,budget,background";

/** Throws `invalid-options` for a flag that a graph of the user's own does not take. */
export function refuseOwnFlags({ agent, ...flags }: { agent?: string | undefined }): void {
  if (agent === undefined) return;
  const own = OWN_FLAGS.split(",").find((flag) => (flags as Record<string, unknown>)[flag] !== undefined);
  if (own === undefined) return;
  const name = own.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const message = `--${name} is for Holdfast's own agent: leave it out, and set it in ${agent}.`;
  refuse(message);
}

/** The command to go on with, as the user started this one, with what it needs to find the thread again. */
export function resumeCommand(
  { state, database, agent }: StateFlags & { agent?: string | undefined },
  { env }: Terminal,
): string {
  const command = `${commandName(env)} resume${agent === undefined ? "" : ` --agent ${quoted(agent)}`}`;
  if (database !== undefined) return `${command} --database ${quoted(maskedUrl(database))}`;
  return state === undefined ? command : `${command} --state ${quoted(state)}`;
}

interface Task {
  /** The text that names the thread. */
  task: string;
  /** The message to the model. */
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
  if (!typed) refuse('There is no task: holdfast run "task", or give it on standard input.');
  return { task: typed, message: typed };
}

/**
 * Settings from flags; else those that the thread was run with before, or the defaults. Consent is only ever added
 * to: `--yes` alone removes it, and whoever asks for more is asked about commands again.
 */
export async function settingsFrom(
  flags: Omit<RunFlags, "task">,
  { cwd }: Terminal,
  known: RunSettings | undefined,
): Promise<Partial<RunSettings> & typeof DEFAULT_SETTINGS> {
  const { model, effort, plan, preset, approve, dir, shell, sandbox, network, mcpConfig, web } = flags;
  const { ask, yes, mode, project, maxTurns, budget, background } = flags;
  for (const rule of ask ?? []) checkRule(rule);
  if (yes && ask) refuse("--yes and --ask say the opposite of each other: leave out one.");
  if (yes && mode !== undefined && mode !== "auto") refuse("--yes is --mode auto: leave out one.");
  if (mode === "plan" && plan === false) refuse("--mode plan needs a plan: leave out --no-plan.");
  const before = known ?? DEFAULT_SETTINGS;
  const settings = {
    ...before,
    startedIn: cwd,
    ...defined({ model, effort, plan, preset, approve, shell, sandbox, network, mode, project, web }),
    ...defined({ maxTurns, background, mcp: mcpConfig?.map((file) => resolve(cwd, file)) }),
    ...(typeof dir === "string" && { dir: await existingFolder(dir, cwd) }),
    ...(budget !== undefined && { budget: readBudget(budget) }),
  };
  if (dir === false) delete settings.dir;
  if (settings.shell && settings.dir === undefined) {
    refuse("--shell runs commands in a directory: leave out --no-dir, or add --dir, such as --dir .");
  }
  if (yes) return { ...settings, ask: [], mode: "auto" };
  if (!ask && !shell) return settings;
  const { mode: kept, ...rest } = settings;
  const isKept = mode !== undefined || (kept !== undefined && chosenMode(before) !== "auto");
  return {
    ...rest,
    ask: [...new Set([...before.ask, ...(ask ?? [])])],
    ...(isKept && kept !== undefined && { mode: kept }),
  };
}

/** The values that are there. */
function defined<T extends object>(values: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as object;
}

/** Throws `invalid-options` for a rule that would never be asked. Tools of servers have a mark in their names. */
function checkRule(text: string): void {
  const rule = RULE.test(text) ? compileRule(text) : refuse(`--ask: ${JSON.stringify(text)} is no rule.`);
  if (RUN_TOOLS.some((tool) => rule.names(tool)) || /__|[.:]/.test(text)) return;
  refuse(`--ask: there is no tool ${JSON.stringify(text)}; use ${RUN_TOOLS.join(", ")}.`);
}
