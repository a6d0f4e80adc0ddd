import type { ThreadStore } from "../../../storage/index.ts";
import { isStateUnfinished } from "../../../threads/events/index.ts";
import {
  type HostThread,
  type StartThreadOptions,
  RunHost,
  type Run,
  localHost,
} from "../../../threads/host/index.ts";
import {
  RunServers,
  modelFor,
  type WantedSettings,
  settledModel,
  modeOf,
} from "../../../threads/prepare/index.ts";
import type { Question } from "../../../threads/questions/index.ts";
import type { Thread } from "../../../threads/thread/index.ts";
import { tracesFrom } from "../../../threads/traces/index.ts";
import { pricesOf } from "../../../threads/view/index.ts";
import { EXIT } from "../exit-codes.ts";
import { Interruption } from "../interruption.ts";
import { harmless, shown } from "../output/index.ts";
import { History } from "../session/index.ts";
import { canAsk, isLive, type OutputFlags, type Terminal } from "../terminal.ts";
import { copiesFolder, historyFile, statePath, type StateFlags } from "../threads/index.ts";
import { asTyped, quoted } from "../wording.ts";
import { answerFlags, answerHint } from "./answer-hint.ts";
import { outputFor, type Output } from "./plain.ts";
import type { ProjectOfRun } from "./project.ts";
import { questioner } from "./questioner.ts";

export interface PerformOptions extends ProjectOfRun {
  terminal: Terminal;
  saver: ThreadStore;
  thread: string;
  /** `agent`: a file with the user's own graphs, instead of Holdfast's agent. */
  flags: OutputFlags & StateFlags & { agent?: string };
  /** Default model: the one of the project or the environment. */
  settings: WantedSettings;
  /** Answers to the open questions of the thread, in their order. */
  answers?: readonly string[];
  /** The command that continues a thread, without the thread's name. */
  resumeCommand: string;
  start: (thread: HostThread, options: StartThreadOptions) => Promise<Run>;
}

/** Runs a thread on a terminal, from its first event to its last. Returns the exit code. */
export async function perform(options: PerformOptions): Promise<number> {
  const { terminal, saver, thread, flags, settings, project, answers = [] } = options;
  const { env } = terminal;
  const isWatched = isLive(terminal) && !flags.json && !flags.quiet;
  let run: Run | undefined;
  let output: Output | undefined;
  let answer = async (_question: Question): Promise<unknown> => undefined;
  const servers = new RunServers({ env, onNote: (text) => run?.notify(text) });
  const traces = tracesFrom(env);
  const path = statePath(flags, terminal);
  const own =
    flags.agent === undefined
      ? undefined
      : await (
          await import("../commands/servers/graph-files.ts")
        ).openGraphs(flags.agent, { saver, path, cwd: terminal.cwd });
  const host = own
    ? new RunHost({ graphs: own.graphs, checkpointer: saver, ledger: saver.ledger, traces })
    : localHost({
        saver,
        defaults: settings,
        modelOf: (name) =>
          modelFor(name ?? settledModel(project, env), { env, isWatched, timeout: flags.timeout }),
        pricesOf: (name) => pricesOf(name, env, project.config),
        projectOf: async () => project,
        servers,
        canAsk: canAsk(terminal, flags) || answers.length > 0,
        copies: copiesFolder(path),
        traces,
      });
  const client = host.thread(thread);
  const mode = modeOf(settings, { config: project.config, at: "alone" });
  const history = new History(historyFile(path));
  const interruption = new Interruption(terminal.stdout, () => void output?.close?.());
  const stop = (): void => {
    run?.notify("Stopping; nothing finished is lost. Ctrl-C again quits at once.");
    void run?.stop();
  };
  interruption.signal.addEventListener("abort", stop);

  try {
    run = await options.start(client, {
      attendance: {
        settings,
        show: (event, view) => output?.show(event, view),
        answer: (question) => answer(question),
        onBegin: async ({ thread: runThread, ready }) => {
          output = await outputFor(terminal, flags, { prices: () => ready.prices, history });
          answer = await questioner({
            thread: runThread,
            answers,
            place: canAsk(terminal, flags)
              ? { terminal, settings, mode, thread: client, history }
              : undefined,
            output,
            interruption,
            notify: (text) => run?.notify(text),
          });
          const notices = [ready.notice && asTyped(ready.notice, env), options.notice];
          return notices.filter((line) => line !== undefined).join(" ") || undefined;
        },
        onEnd: async ({ outcome }, runThread) => {
          const questions = outcome === "waiting" ? await runThread.questions() : [];
          const hint = answerHint(questions);
          if (hint !== undefined) run?.notify(hint);
          const resume = `${options.resumeCommand} ${quoted(thread)} ${answerFlags(questions)}`.trimEnd();
          if (interruption.outputError !== undefined) {
            const why = harmless(`stopped because ${interruption.outputError}. Continue with: ${resume}`);
            terminal.stderr.write(shown`holdfast: ${why}\n`);
          }
          return outcome !== "done" && (await hasWorkLeft(runThread)) ? { resume } : {};
        },
      },
    });
    if (interruption.signal.aborted) stop();
    return EXIT[(await run.ended())?.outcome ?? "interrupted"];
  } finally {
    interruption.dispose();
    await output?.close?.();
    await host.stop();
    await servers.close();
    await own?.close();
  }
}

/** Whether a thread can be continued; true if its state cannot be read. */
async function hasWorkLeft(thread: Thread): Promise<boolean> {
  const state = await thread.state().catch(() => undefined);
  return state === undefined || isStateUnfinished(state);
}
