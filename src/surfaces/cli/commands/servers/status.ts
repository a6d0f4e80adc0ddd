import {
  ClusterDatabase,
  readStatus,
  type ClusterStatus,
  type QueueStatus,
} from "../../../../threads/cluster/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { aborted, interruptible } from "../../interruption.ts";
import { oneLine, shown, shownJson, type Harmless } from "../../output/index.ts";
import type { Terminal } from "../../terminal.ts";
import { databaseUrl, type StateFlags } from "../../threads/index.ts";

export interface StatusFlags extends StateFlags {
  watch?: boolean;
  json?: boolean;
}

const INTERVAL_MS = 2000;

/** `holdfast status`: prints workers, queues and runs of a database, once or repeatedly. */
export async function status(flags: StatusFlags, terminal: Terminal): Promise<number> {
  const { stdout } = terminal;
  const db = await ClusterDatabase.open(databaseUrl(flags, terminal));
  try {
    await interruptible(stdout, async (signal) => {
      const stopped = aborted(signal);
      for (;;) {
        const now = await readStatus(db);
        if (flags.json) stdout.write(shown`${shownJson(now)}\n`);
        else for (const line of lines(now)) stdout.write(shown`${line}\n`);
        if (!flags.watch) return;
        await Promise.race([stopped, new Promise((resolve) => setTimeout(resolve, INTERVAL_MS))]);
        if (signal.aborted) return;
        if (!flags.json) stdout.write(shown`\n`);
      }
    });
    return EXIT.done;
  } finally {
    await db.close();
  }
}

function lines({ workers, queues, runs }: ClusterStatus): Harmless[] {
  const { pending, running, success, error, interrupted } = runs;
  return [
    ...queues.map(queueLine),
    oneLine(
      `Runs: ${running} running, ${pending} pending; in the last hour ${success} done, ${interrupted} stopped, ${error} failed`,
    ),
    ...(workers.length === 0 ? [oneLine("Workers: none; start one with holdfast worker")] : []),
    ...workers.map(({ id, state, running: at, slots, queues: from, version, silentFor, upFor }) => {
      const heard = state === "dead" ? `silent for ${seconds(silentFor)}` : `up ${seconds(upFor)}`;
      const place = `${at} of ${slots} slots of ${from.join(", ")}`;
      return oneLine(`Worker ${id}: ${state}, ${place}, version ${version}, ${heard}`);
    }),
  ];
}

function queueLine({ name, depth, oldestWait, limited, delayed }: QueueStatus): Harmless {
  const parts = [
    depth > 0 ? `${depth} wait, the oldest ${seconds(oldestWait)}` : "nothing waits",
    ...(limited > 0 ? [`${limited} wait for a limit`] : []),
    ...(delayed > 0 ? [`${delayed} for later`] : []),
  ];
  return oneLine(`Queue ${name}: ${parts.join("; ")}`);
}

function seconds(ms: number): string {
  const all = Math.round(ms / 1000);
  return all < 120 ? `${all} s` : all < 7200 ? `${Math.round(all / 60)} min` : `${Math.round(all / 3600)} h`;
}
