import { HarnessError } from "../../../errors.ts";
import { ClusterDatabase } from "../../../runs/cluster/database.ts";
import { ClusterSchedules } from "../../../runs/cluster/schedules.ts";
import type { Schedule } from "../../../runs/host/schedule.ts";
import { GRAPH } from "../../server/threads-server.ts";
import { EXIT } from "../exit-codes.ts";
import { oneLine, shown, shownJson } from "../output/harmless.ts";
import type { Terminal } from "../terminal.ts";
import { databaseUrl } from "../threads.ts";
import { settingsFrom, type RunFlags } from "./run.ts";

export interface ScheduleFlags extends Omit<RunFlags, "task" | "quiet"> {
  cron?: string | undefined;
  task?: string | undefined;
  queue?: string | undefined;
  remove?: string | undefined;
}

/** `holdfast schedule`: starts a task again and again, lists what is scheduled, or ends it. */
export async function schedule(flags: ScheduleFlags, terminal: Terminal): Promise<number> {
  const { stdout } = terminal;
  const { cron, task, remove, thread, queue } = flags;
  if (cron !== undefined && task === undefined) {
    throw new HarnessError("invalid-options", 'Say what to do: holdfast schedule "0 9 * * 1-5" "task".');
  }
  const settings = cron === undefined ? {} : await settingsFrom(flags, terminal, undefined);
  const db = await ClusterDatabase.open(databaseUrl(flags, terminal));
  const show = (one: Schedule): void => {
    const where = one.thread === undefined ? "" : ` in ${one.thread}`;
    const words = `${one.id} (${one.cron}${one.isPaused ? ", paused" : ""})${where}: ${taskOf(one)}`;
    stdout.write(flags.json ? shown`${shownJson(one)}\n` : shown`${oneLine(words)}\n`);
  };
  try {
    const schedules = new ClusterSchedules(db);
    if (remove !== undefined) {
      if (!(await schedules.remove(remove))) {
        throw new HarnessError(
          "invalid-options",
          `There is no schedule ${JSON.stringify(remove)}: see holdfast schedule.`,
        );
      }
    } else if (cron !== undefined) {
      const request = {
        graph: GRAPH,
        input: { messages: task },
        settings,
        metadata: { title: task },
        ...(queue !== undefined && { queue }),
      };
      show(await schedules.add({ cron, request, ...(thread !== undefined && { thread }) }));
    } else {
      for (const one of await schedules.all()) show(one);
    }
    return EXIT.done;
  } finally {
    await db.close();
  }
}

function taskOf({ request: { input } }: Schedule): string {
  const messages = input?.["messages"];
  return typeof messages === "string" ? messages : JSON.stringify(messages ?? "");
}
