import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { HarnessError } from "../../../errors.ts";
import type { PresetName } from "../../../plan/index.ts";
import { taskInput } from "../../../runs/drive.ts";
import type { RunSettings } from "../../../runs/settings.ts";
import { perform } from "../perform.ts";
import type { OutputFlags, Terminal } from "../terminal.ts";
import { newThreadId, statePath, withSaver } from "../threads.ts";

export interface RunFlags extends OutputFlags {
  task?: string | undefined;
  model?: string | undefined;
  preset: PresetName;
  plan: boolean;
  approve: RunSettings["approve"];
  dir?: string | undefined;
  shell: boolean;
  ask?: readonly string[] | undefined;
  yes: boolean;
  thread?: string | undefined;
  maxTurns?: number | undefined;
  state?: string | undefined;
}

/** `holdfast run`: starts a thread on a task, or gives a finished one another. */
export async function run(flags: RunFlags, terminal: Terminal): Promise<number> {
  const task = await readTask(flags.task, terminal);
  const settings = await settingsOf(flags, terminal);
  const thread = flags.thread ?? newThreadId(task);
  return withSaver(statePath(flags.state, terminal), async (saver) => {
    const known = await saver.getThread(thread);
    if (known && known.state !== "done" && known.state !== "running") {
      throw new HarnessError(
        "invalid-options",
        `Thread ${thread} is not finished: go on with holdfast resume ${thread}, or leave out --thread.`,
      );
    }
    return perform({
      terminal,
      saver,
      thread,
      flags,
      settings,
      task,
      resumed: known !== undefined,
      resumeCommand: resumeCommand(flags, terminal),
      input: async (_agent, used) =>
        taskInput(task, { run: used, ...(known?.title === undefined && { title: titleOf(task) }) }),
    });
  });
}

/** The command to go on with, as the user started this one, with what it needs to find the thread again. */
export function resumeCommand({ state }: { state?: string | undefined }, { env }: Terminal): string {
  const command = `${env["HOLDFAST_COMMAND"] || "holdfast"} resume`;
  return state === undefined ? command : `${command} --state ${quoted(state)}`;
}

async function readTask(given: string | undefined, { stdin }: Terminal): Promise<string> {
  const fromStdin = given === "-" || (given === undefined && !stdin.isTTY);
  const task = (fromStdin ? await readAll(stdin) : (given ?? "")).trim();
  if (task) return task;
  throw new HarnessError(
    "invalid-options",
    'There is no task: holdfast run "task", or give it on standard input.',
  );
}

async function settingsOf(
  { model, plan, preset, approve, dir, shell, ask, yes, maxTurns }: RunFlags,
  { cwd }: Terminal,
): Promise<Omit<RunSettings, "model"> & { model?: string | undefined }> {
  if (shell && dir === undefined) {
    throw new HarnessError(
      "invalid-options",
      "--shell runs commands in a directory: add --dir, such as --dir .",
    );
  }
  const folder = dir === undefined ? undefined : await existing(resolve(cwd, dir));
  const wanted = ask ?? (shell ? ["execute"] : []);
  return {
    model,
    plan,
    preset,
    approve,
    shell,
    ask: yes ? [] : [...wanted],
    ...(folder !== undefined && { dir: folder }),
    ...(maxTurns !== undefined && { maxTurns }),
  };
}

async function existing(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory()) return folder;
  throw new HarnessError(
    "invalid-options",
    `--dir: ${folder} is ${found ? "not a directory" : "not there"}.`,
  );
}

const TITLE_LENGTH = 60;

function titleOf(task: string): string {
  const line = task.replaceAll(/\s+/g, " ");
  return line.length <= TITLE_LENGTH ? line : `${line.slice(0, TITLE_LENGTH - 1)}…`;
}

function quoted(text: string): string {
  return /^[\w./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
