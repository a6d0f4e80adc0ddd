import { modelFor } from "../../../runs/model.ts";
import { startThreadsWorker, type ThreadsServerOptions } from "../../server/threads-server.ts";
import { EXIT } from "../exit-codes.ts";
import { aborted, Interruption } from "../interruption.ts";
import { oneLine, shown } from "../output/harmless.ts";
import type { Terminal } from "../terminal.ts";
import { databaseUrl, withHome } from "../threads.ts";
import { limitsFrom, type WorkerFlags } from "../worker-options.ts";
import { settingsFrom, type RunFlags } from "./run.ts";

type AgentFlags = Omit<RunFlags, "task" | "thread" | "json" | "quiet">;

/** `holdfast worker`: does runs of the threads in a database, until Ctrl-C. */
export async function worker(flags: AgentFlags & WorkerFlags, terminal: Terminal): Promise<number> {
  const { stdout, stderr } = terminal;
  const limits = limitsFrom(flags.limit);
  const graph = await graphOptions(flags, terminal);
  return withHome(databaseUrl(flags, terminal), async ({ saver, cluster }) => {
    const options = { ...graph, saver, slots: flags.slots, limits };
    const working = await startThreadsWorker(cluster!, options, () => lost(terminal));
    const interruption = new Interruption(stdout, () => {});
    try {
      stdout.write(shown`${oneLine(working.id)} takes runs\n`);
      await aborted(interruption.signal);
      stderr.write(
        shown`holdfast: stopping at the end of each step; others go on. Ctrl-C again quits at once.\n`,
      );
      await working.drain();
      await cluster!.close();
      return EXIT.done;
    } finally {
      interruption.dispose();
    }
  });
}

/** How threads are run that a server or a worker has. */
export async function graphOptions(
  flags: AgentFlags,
  terminal: Terminal,
): Promise<Pick<ThreadsServerOptions, "cwd" | "defaults" | "modelOf">> {
  const { env, cwd } = terminal;
  const defaults = await settingsFrom(flags, terminal, undefined);
  return {
    cwd,
    defaults,
    modelOf: (name) => modelFor(name, { env, isWatched: true, timeout: flags.timeout }),
  };
}

/** Ends a process whose runs others have gone on with: it was stopped, or cut off, for too long. */
export function lost({ stderr }: Terminal): never {
  stderr.write(shown`holdfast: this worker was not heard of for too long, and others go on with its runs.\n`);
  process.exit(EXIT.failed);
}
