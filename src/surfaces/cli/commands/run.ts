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
  task?: string;
  thread?: string;
  /** `--no-dir` is false: files are stored in the thread. */
  dir?: string | false;
}

/** `holdfast run`: starts a thread with a task, or gives a finished thread another one. */
export async function run(flags: RunFlags, terminal: Terminal): Promise<number> {
  if (flags.thread?.trim() === "") refuse("--thread is empty.");
  const { task, message } = await readTask(flags.task, terminal);
  refuseOwnFlags(flags);
  return withSaver(statePath(flags, terminal), async (saver) => {
    const thread = flags.thread ?? (await newThreadId(saver, task));
    const existing = await saver.getThread(thread);
    if (!existing) checkThreadId(thread);
    if (flags.thread !== undefined && !existing) await refusePrefix(saver, flags.thread);
    if (existing && existing.state !== "done" && existing.state !== "running") {
      const id = quoted(thread);
      refuse(`Thread ${id} is not finished: continue it with holdfast resume ${id}, or leave out --thread.`);
    }
    const isOwn = flags.agent !== undefined;
    const stored = existing && !isOwn ? await settingsOf(saver, thread) : undefined;
    const settings = await settingsFrom(existing || isOwn ? flags : inDirectory(flags), terminal, stored);
    return perform({
      terminal,
      saver,
      thread,
      flags,
      settings,
      ...(await projectFor({ ...settings, trustProject: flags.trustProject }, terminal, flags)),
      resumeCommand: resumeCommand(flags, terminal),
      start: (hostThread, options) => hostThread.start(message, { ...options, task, isNewTurn: true }),
    });
  });
}

/** Sets the directory of a new thread: by default the current one. */
export function inDirectory<Flags extends Pick<RunFlags, "dir">>(flags: Flags): Flags {
  return { ...flags, dir: flags.dir ?? "." };
}

/** Throws `invalid-options` for a prefix of an existing id, which would no longer work as an abbreviation of that id. */
async function refusePrefix(saver: ThreadStore, thread: string): Promise<void> {
  const other = (await saver.listThreads({ limit: MANY })).find(({ id }) => id.startsWith(thread));
  if (!other) return;
  refuse(
    `There is no thread ${JSON.stringify(thread)}, but ${quoted(other.id)} begins so: type all of its name, or choose another.`,
  );
}

/** Flags that only Holdfast's own agent takes. */
const OWN_FLAGS =
  "model,effort,preset,plan,approve,dir,shell,ask,yes,mode,sandbox,network,mcpConfig,web,maxTurns,budget,background";

/** Throws `invalid-options` for a flag that the user's own graph does not take. */
export function refuseOwnFlags({ agent, ...flags }: { agent?: string }): void {
  if (agent === undefined) return;
  const own = OWN_FLAGS.split(",").find((flag) => (flags as Record<string, unknown>)[flag] !== undefined);
  if (own === undefined) return;
  const name = own.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const message = `--${name} is for Holdfast's own agent: leave it out, and set it in ${agent}.`;
  refuse(message);
}

/** The command that continues a thread, without the thread's id, with the flags to find it again. */
export function resumeCommand(
  { state, database, agent }: StateFlags & { agent?: string },
  { env }: Terminal,
): string {
  const command = `${commandName(env)} resume${agent === undefined ? "" : ` --agent ${quoted(agent)}`}`;
  if (database !== undefined) return `${command} --database ${quoted(maskedUrl(database))}`;
  return state === undefined ? command : `${command} --state ${quoted(state)}`;
}

/**
 * The task, which also names the thread, and the message to the model: the task with piped text. Without an argument, or
 * for `-`, standard input is the task.
 */
async function readTask(
  argument: string | undefined,
  terminal: Terminal,
): Promise<{ task: string; message: string }> {
  const task = argument?.trim();
  if (task && task !== "-") {
    const piped = isPiped(terminal) ? await readStandardInput(terminal) : "";
    return { task, message: piped ? withPipedText(task, piped) : task };
  }
  const isExpected = task === "-" || (task === undefined && !terminal.stdin.isTTY);
  const input = isExpected ? await readStandardInput(terminal) : "";
  if (!input) refuse('There is no task: holdfast run "task", or give it on standard input.');
  return { task: input, message: input };
}

/**
 * Settings from flags, over the stored settings of the thread or the defaults. Only `--yes` removes rules of `--ask`;
 * `--ask` and `--shell` end a stored mode `auto`, unless `--mode` is set.
 */
export async function settingsFrom(
  flags: Omit<RunFlags, "task">,
  { cwd }: Terminal,
  stored: RunSettings | undefined,
): Promise<Partial<RunSettings> & typeof DEFAULT_SETTINGS> {
  const { model, effort, plan, preset, approve, dir, shell, sandbox, network, mcpConfig, web } = flags;
  const { ask, yes, mode, project, maxTurns, budget, background } = flags;
  for (const rule of ask ?? []) checkRule(rule);
  if (yes && ask) refuse("--yes and --ask say the opposite of each other: leave out one.");
  if (yes && mode !== undefined && mode !== "auto") refuse("--yes is --mode auto: leave out one.");
  if (mode === "plan" && plan === false) refuse("--mode plan needs a plan: leave out --no-plan.");
  const before = stored ?? DEFAULT_SETTINGS;
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
  const { mode: currentMode, ...rest } = settings;
  const isModeKept = mode !== undefined || (currentMode !== undefined && chosenMode(before) !== "auto");
  return {
    ...rest,
    ask: [...new Set([...before.ask, ...(ask ?? [])])],
    mode: isModeKept && currentMode !== undefined ? currentMode : undefined,
  };
}

/** Removes undefined values. */
function defined<T extends object>(values: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as object;
}

/** Throws `invalid-options` for a rule that matches no tool. Names of MCP tools (with `__`, `.` or `:`) may be any. */
function checkRule(text: string): void {
  const rule = RULE.test(text) ? compileRule(text) : refuse(`--ask: ${JSON.stringify(text)} is no rule.`);
  if (RUN_TOOLS.some((tool) => rule.names(tool)) || /__|[.:]/.test(text)) return;
  refuse(`--ask: there is no tool ${JSON.stringify(text)}; use ${RUN_TOOLS.join(", ")}.`);
}
