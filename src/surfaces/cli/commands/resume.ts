import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { ThreadStore, ThreadSummary } from "../../../storage/index.ts";
import { shortList } from "../../../threads/events/index.ts";
import { settingsOfThread } from "../../../threads/thread/index.ts";
import type { FlagsOf, RESUME_FLAGS } from "../options/index.ts";
import { perform, projectFor, readStandardInput } from "../run/index.ts";
import type { Terminal } from "../terminal.ts";
import {
  directoryName,
  isHere,
  settingsOf,
  findThread,
  MANY,
  statePath,
  withSaver,
} from "../threads/index.ts";
import { quoted, refuse } from "../wording.ts";
import { refuseOwnFlags, resumeCommand, settingsFrom } from "./run.ts";

/** `holdfast resume`: continues a thread where it stopped. */
export async function resume(
  flags: FlagsOf<typeof RESUME_FLAGS> & { thread?: string },
  terminal: Terminal,
): Promise<number> {
  const answers = await Promise.all((flags.answer ?? []).map((words) => inFull(words, terminal)));
  refuseOwnFlags(flags);
  return withSaver(statePath(flags, terminal), async (saver) => {
    const { id } =
      flags.thread === undefined ? await latest(saver, terminal) : await findThread(saver, flags.thread);
    const stored = flags.agent === undefined ? await settingsOf(saver, id) : undefined;
    const { dir = stored?.dir } = flags;
    const { startedIn: _, ...rest } = await settingsFrom({ ...flags, dir }, terminal, stored);
    const settings = { ...rest, startedIn: stored?.startedIn === undefined ? undefined : stored.startedIn };
    return perform({
      terminal,
      saver,
      thread: id,
      flags,
      settings,
      ...(await projectFor({ ...settings, trustProject: flags.trustProject }, terminal, flags)),
      answers,
      resumeCommand: resumeCommand(flags, terminal),
      start: async (thread, options) => (await thread.goOn(options)) ?? refuseFinished(id),
    });
  });
}

/** The text of an answer: `@file` stands for the content of a file, `@-` for standard input. */
async function inFull(words: string, terminal: Terminal): Promise<string> {
  if (words === "@-") return readStandardInput(terminal);
  if (!words.startsWith("@")) return words;
  const file = resolve(terminal.cwd, words.slice(1));
  return readFile(file, "utf8").catch((error: unknown) => {
    refuse(`--answer: ${file} cannot be read.`, error);
  });
}

function refuseFinished(thread: string): never {
  refuse(
    `Thread ${quoted(thread)} is finished. Give it another task with holdfast run --thread ${quoted(thread)} "task".`,
  );
}

/** The latest thread of this directory that has work left. Throws `invalid-options` if there is none. */
async function latest(saver: ThreadStore, terminal: Terminal): Promise<ThreadSummary> {
  const elsewhere: string[] = [];
  for (const thread of await saver.listThreads({ limit: MANY })) {
    const { id, state, todos } = thread;
    const hasWorkLeft = state !== "running" && (state !== "done" || todos.done < todos.total);
    const settings = hasWorkLeft ? await settingsOfThread(saver, id) : undefined;
    if (settings && isHere(settings, terminal)) return thread;
    if (settings) elsewhere.push(`${quoted(id)} (${directoryName(settings, terminal)})`);
  }
  refuse(
    elsewhere.length === 0
      ? 'There is no unfinished thread. Start one with holdfast run "task".'
      : `This directory has no unfinished thread; other directories have ${shortList(elsewhere)}. To continue one: holdfast resume <thread>.`,
  );
}
