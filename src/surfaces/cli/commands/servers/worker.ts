import { HarnessError } from "../../../../errors.ts";
import { isolationNotice, RunServers, modelFor, settledModel } from "../../../../threads/prepare/index.ts";
import { pricesOf } from "../../../../threads/view/index.ts";
import { startThreadsWorker, type ThreadsServerOptions } from "../../../server/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { aborted, interruptible } from "../../interruption.ts";
import { limitsFrom, type WorkerFlags } from "../../options/index.ts";
import { harmless, oneLine, shown } from "../../output/index.ts";
import { projectFor, projectIn } from "../../run/index.ts";
import type { Terminal } from "../../terminal.ts";
import { databaseUrl, withHome } from "../../threads/index.ts";
import { settingsFrom, type RunFlags } from "../run.ts";

/** Flags for the agent of new threads. */
export type AgentFlags = Omit<RunFlags, "task" | "thread" | "json" | "quiet">;

/** `holdfast worker`: executes runs of the threads in a database, until Ctrl-C. */
export async function worker(flags: AgentFlags & WorkerFlags, terminal: Terminal): Promise<number> {
  const { stdout, stderr } = terminal;
  const limits = limitsFrom(flags.limit);
  const graph = await graphOptions(flags, terminal);
  await checkModel(graph);
  return withHome(databaseUrl(flags, terminal), async ({ saver, cluster }) => {
    const options = { ...graph, saver, slots: flags.slots, queues: flags.queues, limits };
    const started = await startThreadsWorker(cluster!, options, () => exitLost(terminal));
    try {
      await interruptible(stdout, async (signal) => {
        stdout.write(shown`${oneLine(started.id)} takes runs\n`);
        await aborted(signal);
        stderr.write(
          shown`holdfast: stopping at the end of each step; other workers continue the runs. Ctrl-C again quits at once.\n`,
        );
        await started.drain();
        await cluster!.close();
      });
      return EXIT.done;
    } finally {
      await graph.servers.close();
    }
  });
}

/** Settings of the threads of a server or worker. */
export interface GraphOptions extends Pick<
  ThreadsServerOptions,
  "cwd" | "defaults" | "modelOf" | "projectOf" | "pricesOf"
> {
  servers: RunServers;
}

/** Builds the options from flags, and prints notices. With `isWatched: false` it does not ask about the project. */
export async function graphOptions(
  flags: AgentFlags,
  terminal: Terminal,
  { isWatched = true } = {},
): Promise<GraphOptions> {
  const { env, cwd, stderr } = terminal;
  const say = (note: string): void => void stderr.write(shown`holdfast: ${harmless(note)}\n`);
  const settings = await settingsFrom(flags, terminal, undefined);
  const { project, notice } = await projectFor({ ...settings, trustProject: flags.trustProject }, terminal, {
    json: !isWatched,
  });
  if (notice !== undefined) say(notice);
  const model = settings.model ?? settledModel(project, env);
  const defaults = { ...settings, ...(model !== undefined && { model }) };
  const isolation = isolationNotice(defaults, project.config);
  if (isolation !== undefined) say(isolation);
  const servers = new RunServers({ env, onNote: say });
  // Reports errors in their file now.
  await servers.of(defaults, project);
  return {
    cwd: flags.dir !== false ? cwd : undefined,
    defaults,
    servers,
    modelOf: (name) => modelFor(name, { env, isWatched, timeout: flags.timeout }),
    projectOf: projectIn(env),
    pricesOf: (name) => pricesOf(name, env, project.config),
  };
}

/** Throws `no-model` if no model is configured, as a worker would take runs and fail all of them. */
export async function checkModel({ modelOf, defaults }: GraphOptions): Promise<void> {
  if (!(await modelOf(defaults.model)).isFallback) return;
  throw new HarnessError(
    "no-model",
    'No model is configured, and a worker would do its runs with "offline", which can only survey a directory. Set HOLDFAST_MODEL and the key of its provider; name offline to try without one.',
  );
}

/** Ends a process that lost its leases, and so its runs, to other workers. */
export function exitLost({ stderr }: Terminal): never {
  stderr.write(shown`holdfast: this worker missed its heartbeat, so other workers took over its runs.\n`);
  process.exit(EXIT.failed);
}
