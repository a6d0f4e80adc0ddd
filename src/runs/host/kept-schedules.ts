import type { Cron } from "croner";
import type { Ledger, Moment, ScheduleRecord } from "../../storage/index.ts";
import { isOver, unknownSchedule, unreadableTime, type Schedule, type Schedules } from "./schedule.ts";

/** What a schedule is to start, and the moment that it is for. */
export interface Due {
  schedule: Schedule;
  moment: Moment;
}

/** A moment that is longer ago has passed: nobody was there. */
const LATE_MS = 60_000;

/**
 * The schedules in a ledger. Servers that share one look into it again and again, and what is due is started by the
 * first of them.
 */
export class KeptSchedules implements Schedules {
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  async add(given: Omit<Schedule, "id" | "createdAt">): Promise<Schedule> {
    const cron = given.cron.trim();
    const schedule: Schedule = { ...given, cron, id: crypto.randomUUID(), createdAt: Date.now() };
    const record = toRecord(schedule, nextOf(await timesOf(schedule)));
    await this.#ledger.changeSchedule(schedule.id, () => record);
    return schedule;
  }

  async all(): Promise<Schedule[]> {
    return (await this.#ledger.schedules()).map(toSchedule);
  }

  async change(id: string, change: Parameters<Schedules["change"]>[1]): Promise<Schedule> {
    const { Cron } = await croner();
    const record = await this.#ledger.changeSchedule(id, (found) => {
      if (!found) throw unknownSchedule(id);
      const before = toSchedule(found);
      const made = { ...before, ...change(before), updatedAt: Date.now() };
      const schedule = { ...made, cron: made.cron.trim() };
      return toRecord(schedule, nextOf(timesIn(Cron, schedule)));
    });
    return toSchedule(record!);
  }

  async remove(id: string): Promise<boolean> {
    let isThere = false;
    await this.#ledger.changeSchedule(id, (found) => {
      isThere = found !== undefined;
      return undefined;
    });
    return isThere;
  }

  /** What is to be started now. Moments that have passed are left out. */
  async due(): Promise<Due[]> {
    const now = Date.now();
    const found: Due[] = [];
    for (const record of await this.#ledger.schedules(now)) {
      const schedule = toSchedule(record);
      const next = nextOf(await timesOf(schedule));
      const moment = { schedule: record.id, due: record.due!, next };
      const isLate = now - moment.due > LATE_MS;
      if (isLate || isOver(schedule, moment.due)) await this.#pass(moment);
      else found.push({ schedule, moment });
    }
    return found;
  }

  async #pass({ schedule, due, next }: Moment): Promise<void> {
    await this.#ledger.changeSchedule(schedule, (found) =>
      found?.due === due ? toRecord(toSchedule(found), next) : found,
    );
  }
}

function toRecord(schedule: Schedule, due: number): ScheduleRecord {
  const { id, createdAt, ...content } = schedule;
  const isAtRest = content.isPaused || isOver(schedule, due);
  return { id, createdAt, content, ...(!isAtRest && { due }) };
}

function toSchedule({ id, createdAt, content }: ScheduleRecord): Schedule {
  return { ...(content as Omit<Schedule, "id" | "createdAt">), id, createdAt };
}

/** Loaded by who has a schedule. */
function croner(): Promise<typeof import("croner")> {
  return import("croner");
}

type When = Pick<Schedule, "cron" | "timezone">;

async function timesOf(when: When): Promise<Cron> {
  return timesIn((await croner()).Cron, when);
}

/** The times that a crontab's line names. Throws `invalid-request` for what names none. */
function timesIn(Times: typeof Cron, { cron, timezone = "UTC" }: When): Cron {
  try {
    const times = new Times(cron, { timezone, mode: "5-or-6-parts" });
    if (times.getOnce() || !times.nextRun()) throw new Error("it does not come again and again");
    return times;
  } catch (error) {
    throw unreadableTime(cron, error);
  }
}

function nextOf(times: Cron): number {
  return times.nextRun()!.getTime();
}
