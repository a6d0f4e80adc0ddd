import type { ThreadStore } from "../../../storage/index.ts";
import { isUnfinished } from "../../../threads/events/ending.ts";
import { RunServers } from "../../../threads/prepare/mcp-servers.ts";
import { modelFor } from "../../../threads/prepare/model.ts";
import { prepareRun } from "../../../threads/prepare/prepare-run.ts";
import { pricesOf } from "../../../threads/prepare/prices.ts";
import { settledModel } from "../../../threads/prepare/project.ts";
import type { RunSettings } from "../../../threads/prepare/settings.ts";
import { runThread, RunEvents } from "../../../threads/run/run-thread.ts";
import { Thread } from "../../../threads/thread/thread.ts";
import { tracesFrom, type Traces } from "../../../threads/traces/index.ts";
import { fileCopies } from "../../../threads/undo/file-copies.ts";
import { EXIT } from "../exit-codes.ts";
import { Interruption } from "../interruption.ts";
import { harmless, shown } from "../output/harmless.ts";
import { outputFor } from "../output/output-for.ts";
import { canAsk, isLive, type OutputFlags, type Terminal } from "../terminal.ts";
import { copiesFolder, statePath, type StateFlags } from "../threads/threads.ts";
import { asTyped, quoted } from "../wording.ts";
import { answerFlags, answerHint } from "./answer-hint.ts";
import type { ProjectOfRun } from "./project.ts";
import { questioner } from "./questioner.ts";

export interface PerformOptions extends ProjectOfRun {
  terminal: Terminal;
  saver: ThreadStore;
  thread: string;
  flags: OutputFlags & StateFlags;
  /** Without a model: whatever the environment says. */
  settings: Omit<RunSettings, "model"> & { model?: string | undefined };
  task?: string;
  resumed: boolean;
  /** Answers for questions that the thread asks, in their order. */
  answers?: readonly string[];
  /** Printed in front of a thread's name to say how to go on. */
  resumeCommand: string;
  /** The input of the run; null goes on where it stopped. */
  input: (thread: Thread, settings: RunSettings) => Promise<object | null>;
}

/** Runs a thread on a terminal, from its first event to its last. Returns the exit code. */
export async function perform(options: PerformOptions): Promise<number> {
  const { env } = options.terminal;
  const notes = { tell: (_text: string): void => {} };
  const servers = new RunServers({ env, onNote: (text) => notes.tell(text) });
  const traces = tracesFrom(env);
  try {
    return await performWith(options, { servers, traces, notes });
  } finally {
    await servers.close();
    await traces?.close();
  }
}

interface Resources {
  servers: RunServers;
  traces: Traces | undefined;
  /** Receives the notes of the servers. */
  notes: { tell: (text: string) => void };
}

async function performWith(options: PerformOptions, { servers, traces, notes }: Resources): Promise<number> {
  const { terminal, saver, thread, flags, resumed, task, project } = options;
  const { env } = terminal;
  const isWatched = isLive(terminal) && !flags.json && !flags.quiet;
  const { agent, model, settings, prices, notice } = await prepareRun(options.settings, {
    saver,
    modelOf: (name) =>
      modelFor(name ?? settledModel(project, env), { env, isWatched, timeout: flags.timeout }),
    pricesOf: (name) => pricesOf(name, env, project.config),
    projectOf: async () => project,
    servers,
    canAsk: canAsk(terminal, flags) || (options.answers ?? []).length > 0,
  });
  const notices = [notice && asTyped(notice, env), options.notice];
  const held = await saver.acquireThread(thread);
  const output = outputFor(terminal, flags, prices);
  const interruption = new Interruption(terminal.stdout, () => output.close());
  const events = new RunEvents(thread, (event, view) => output.show(event, view));
  notes.tell = (text) => events.emit({ type: "notice", text });
  interruption.signal.addEventListener("abort", () =>
    events.emit({ type: "notice", text: "Stopping; nothing finished is lost. Ctrl-C again quits at once." }),
  );

  try {
    const owned = new Thread(agent, thread);
    const input = await options.input(owned, settings);
    const answer = await questioner({
      thread: owned,
      given: options.answers ?? [],
      terminal: canAsk(terminal, flags) ? terminal : undefined,
      output,
      interruption,
      emit: (body) => events.emit(body),
    });
    const { outcome } = await runThread(input, {
      thread: owned,
      held,
      model,
      events,
      signal: interruption.signal,
      answer,
      task,
      resumed,
      dir: settings.dir,
      notice: notices.filter((line) => line !== undefined).join(" ") || undefined,
      prices,
      traces,
      copies: fileCopies({
        folder: copiesFolder(statePath(flags, terminal)),
        thread,
        dir: settings.dir,
      }),
      onEnd: async (end) => {
        const questions = end.outcome === "waiting" ? await owned.questions() : [];
        const hint = answerHint(questions);
        if (hint !== undefined) events.emit({ type: "notice", text: hint });
        const resume = `${options.resumeCommand} ${quoted(thread)} ${answerFlags(questions)}`.trimEnd();
        if (interruption.outputError !== undefined) {
          const why = harmless(`stopped, since ${interruption.outputError}. Go on with: ${resume}`);
          terminal.stderr.write(shown`holdfast: ${why}\n`);
        }
        return end.outcome !== "done" && (await isLeft(owned)) ? { resume } : {};
      },
    });
    return EXIT[outcome];
  } finally {
    interruption.dispose();
    output.close();
    // A lease that cannot be given back, as on a full disk, ends with this process; the run has said what was wrong.
    await held().catch(() => {});
  }
}

/** Whether a thread has something to go on with. Where that cannot be read, it may have. */
async function isLeft(thread: Thread): Promise<boolean> {
  const state = await thread.state().catch(() => undefined);
  return state === undefined || isUnfinished(state);
}
