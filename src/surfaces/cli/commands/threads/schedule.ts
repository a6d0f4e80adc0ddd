import { isDatabaseUrl } from "../../../../storage/open/index.ts";
import {
  type Schedule,
  type Schedules,
  isOver,
  nextTime,
  StoredSchedules,
} from "../../../../threads/host/index.ts";
import { GRAPH } from "../../../../threads/thread/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { oneLine, shown, shownJson } from "../../output/index.ts";
import type { Terminal } from "../../terminal.ts";
import { checkThreadId, existingState, statePath, withSaver } from "../../threads/index.ts";
import { refuse } from "../../wording.ts";
import { settingsFrom, type RunFlags } from "../run.ts";

export interface ScheduleFlags extends Omit<RunFlags, "task" | "quiet"> {
  cron?: string;
  task?: string;
  queue?: string;
  timezone?: string;
  remove?: string;
}

/** `holdfast schedule`: schedules a task, lists schedules, or removes one. */
export async function schedule(flags: ScheduleFlags, terminal: Terminal): Promise<number> {
  const { stdout, stderr } = terminal;
  const { cron, task, remove, thread, queue, timezone } = flags;
  const zone = timezone === undefined ? {} : { timezone };
  if (cron !== undefined && task === undefined) {
    refuse('Say what to do: holdfast schedule "0 9 * * 1-5" "task".');
  }
  const address = (cron === undefined ? existingState : statePath)(flags, terminal);
  const isFile = !isDatabaseUrl(address);
  if (isFile && queue !== undefined) {
    refuse("--queue is for workers that share a database: see --database.");
  }
  // Checked before a state file is created.
  if (cron !== undefined) await nextTime({ cron, ...zone });
  if (thread !== undefined) checkThreadId(thread);
  const settings = cron === undefined ? {} : await settingsFrom(flags, terminal, undefined);
  const show = async (one: Schedule): Promise<void> => {
    const where = one.thread === undefined ? "" : ` in ${one.thread}`;
    const words = `${one.id} (${await timesOf(one)})${where}: ${taskOf(one)}`;
    stdout.write(flags.json ? shown`${shownJson(one)}\n` : shown`${oneLine(words)}\n`);
  };
  return withSchedules(address, async (schedules) => {
    if (remove !== undefined) {
      if (!(await schedules.remove(remove))) {
        refuse(`There is no schedule ${JSON.stringify(remove)}: see holdfast schedule.`);
      }
    } else if (cron !== undefined) {
      const request = {
        graph: GRAPH,
        input: { messages: task },
        settings,
        metadata: { title: task },
        queue,
      };
      await show(await schedules.add({ cron, ...zone, request, thread }));
      if (isFile) stderr.write(shown`holdfast: Started by holdfast serve, while it runs.\n`);
    } else {
      for (const one of await schedules.all()) await show(one);
    }
    return EXIT.done;
  });
}

/** Opens the schedules of a file or of a database for the duration of `use`. */
async function withSchedules<T>(address: string, use: (schedules: Schedules) => Promise<T>): Promise<T> {
  if (!isDatabaseUrl(address)) {
    return withSaver(address, (saver) => use(new StoredSchedules(saver.ledger)));
  }
  const { ClusterDatabase } = await import("../../../../threads/cluster/database/database.ts");
  const { ClusterSchedules } = await import("../../../../threads/cluster/schedules.ts");
  const db = await ClusterDatabase.open(address);
  try {
    return await use(new ClusterSchedules(db));
  } finally {
    await db.close();
  }
}

async function timesOf(saved: Schedule): Promise<string> {
  const { cron, timezone, endsAt } = saved;
  const end = endsAt !== undefined && `until ${timeText(endsAt)}`;
  return [cron, timezone, end, await nextWords(saved)].filter(Boolean).join(", ");
}

async function nextWords(saved: Schedule): Promise<string> {
  if (saved.isPaused) return "paused";
  // The list has to name a schedule that cannot be computed, too: by its id it can be removed.
  const next = await nextTime(saved).catch(() => undefined);
  if (next === undefined) return "never";
  return isOver(saved, next) ? "over" : `next ${timeText(next)}`;
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

function taskOf({ request: { input } }: Schedule): string {
  const messages = input?.["messages"];
  return typeof messages === "string" ? messages : JSON.stringify(messages ?? "");
}
