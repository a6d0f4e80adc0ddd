import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { HarnessError } from "../../../errors.ts";
import { isClosed, type Todo } from "../../../plan/index.ts";
import type { RunAgent } from "../../../runs/agent.ts";
import { taskInput } from "../../../runs/drive.ts";
import { RUN_SETTINGS, type RunSettings } from "../../../runs/settings.ts";
import type { SqliteSaver, ThreadSummary } from "../../../storage/index.ts";
import { perform } from "../perform.ts";
import type { OutputFlags, Terminal } from "../terminal.ts";
import { findThread, statePath, withSaver } from "../threads.ts";
import { resumeCommand } from "./run.ts";

export interface ResumeFlags extends OutputFlags {
  thread?: string | undefined;
  answer?: readonly string[] | undefined;
  model?: string | undefined;
  maxTurns?: number | undefined;
  state?: string | undefined;
}

const GO_ON = "Go on with the open items of your plan.";

/** `holdfast resume`: goes on with a thread where it stopped. */
export async function resume(flags: ResumeFlags, terminal: Terminal): Promise<number> {
  const answers = await Promise.all((flags.answer ?? []).map((words) => inFull(words, terminal)));
  return withSaver(statePath(flags.state, terminal), async (saver) => {
    const { id } = flags.thread === undefined ? await latest(saver) : await findThread(saver, flags.thread);
    const kept = await settingsOf(saver, id);
    const settings = {
      ...kept,
      ...(flags.model !== undefined && { model: flags.model }),
      ...(flags.maxTurns !== undefined && { maxTurns: flags.maxTurns }),
    };
    return perform({
      terminal,
      saver,
      thread: id,
      flags,
      settings,
      resumed: true,
      answers,
      resumeCommand: resumeCommand(flags, terminal),
      input: (agent) => inputFor(agent, id),
    });
  });
}

/** An answer, or with `@file` what is in the file; `@-` is standard input. */
async function inFull(words: string, { stdin, cwd }: Terminal): Promise<string> {
  if (words === "@-") return readAll(stdin);
  if (!words.startsWith("@")) return words;
  const file = resolve(cwd, words.slice(1));
  return readFile(file, "utf8").catch((error: unknown) => {
    throw new HarnessError("invalid-options", `--answer: ${file} cannot be read.`, { cause: error });
  });
}

/** What the thread was started with. Throws `invalid-options` for a thread that some other program made. */
export async function settingsOf(saver: SqliteSaver, thread: string): Promise<RunSettings> {
  const stored = await saver.getTuple({ configurable: { thread_id: thread } });
  const values = stored?.checkpoint.channel_values ?? {};
  // A thread that was killed before its first step has its input, and nothing else.
  const { run } = (values["__start__"] ?? values) as { run?: unknown };
  const settings = RUN_SETTINGS.safeParse(run ?? values["run"]);
  if (settings.success) return settings.data;
  throw new HarnessError(
    "invalid-options",
    `Thread ${thread} was not started by holdfast run: only its program can go on with it.`,
  );
}

/** A thread that stopped in the middle goes on by itself; one that ended with open items has to be asked. */
async function inputFor(agent: RunAgent, thread: string): Promise<object | null> {
  const { tasks, values } = await agent.graph.getState({ configurable: { thread_id: thread } });
  if (tasks.length > 0) return null;
  const { todos = [] } = values as { todos?: Todo[] };
  if (!todos.every(isClosed)) return taskInput(GO_ON, {});
  throw new HarnessError(
    "invalid-options",
    `Thread ${thread} is finished. Give it another task with holdfast run --thread ${thread} "task".`,
  );
}

async function latest(saver: SqliteSaver): Promise<ThreadSummary> {
  const threads = await saver.listThreads();
  const open = threads.find(
    ({ state, todos }) => state !== "running" && (state !== "done" || todos.done < todos.total),
  );
  if (open) return open;
  throw new HarnessError(
    "invalid-options",
    'There is no unfinished thread. Start one with holdfast run "task".',
  );
}
