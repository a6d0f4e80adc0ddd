import type { Cron } from "croner";
import type { Ledger, Moment, ScheduleRecord } from "../../../storage/index.ts";
import {
  isOver,
  unknownSchedule,
  unreadableTime,
  type ChangeOf,
  type NewSchedule,
  type Schedule,
  type Schedules,
} from "./schedule.ts";

/** A schedule that is due, and the moment that it is due for. */
export interface Due {
  schedule: Schedule;
  moment: Moment;
}

type Content = Omit<Schedule, "id" | "createdAt">;

/** A moment that is longer ago has passed: nobody was there. */
const LATE_MS = 60_000;
/** The interval of checks that the clock was not set back behind the stored moments. */
const CLOCK_MS = 60_000;

/**
 * The schedules in a ledger. Servers that share one look into it again and again, and what is due is started by the
 * first of them.
 */
export class StoredSchedules implements Schedules {
  readonly #ledger: Ledger;
  #clockLookedAt = 0;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  async add({ cron, ...more }: NewSchedule): Promise<Schedule> {
    const schedule: Schedule = { ...more, cron: cron.trim(), id: crypto.randomUUID(), createdAt: Date.now() };
    const next = await nextOf(schedule);
    await this.#ledger.changeSchedule(schedule.id, () => recordOf(schedule, next));
    return schedule;
  }

  async all(): Promise<Schedule[]> {
    return (await this.#ledger.schedules()).map(scheduleIn);
  }

  async change(id: string, change: ChangeOf): Promise<Schedule> {
    const { Cron } = await croner();
    const record = await this.#ledger.changeSchedule(id, (found) => {
      if (!found) throw unknownSchedule(id);
      const before = scheduleIn(found);
      const made = { ...before, ...change(before), updatedAt: Date.now() };
      const schedule = { ...made, cron: made.cron.trim() };
      const isSame = schedule.cron === before.cron && schedule.timezone === before.timezone;
      const next = nextIn(Cron, schedule);
      // A moment that has just come is not lost by a change of something else.
      return recordOf(schedule, isSame ? (found.due ?? next) : next);
    });
    return scheduleIn(record!);
  }

  async remove(id: string): Promise<boolean> {
    let isThere = false;
    await this.#ledger.changeSchedule(id, (found) => {
      isThere = found !== undefined;
      return undefined;
    });
    return isThere;
  }

  /** The schedules to start now. Leaves out moments that have passed. Reports unreadable schedules to `onError`. */
  async due(onError: (error: unknown) => void): Promise<Due[]> {
    const now = Date.now();
    if (Math.abs(now - this.#clockLookedAt) >= CLOCK_MS) await this.#setBack(now, onError);
    const found: Due[] = [];
    for (const record of await this.#ledger.schedules(now)) {
      try {
        const schedule = scheduleIn(record);
        const next = await nextOf(schedule);
        const moment = { schedule: record.id, due: record.due!, next };
        const isLate = now - moment.due > LATE_MS;
        if (isLate || isOver(schedule, moment.due)) await this.#move(record, next);
        else found.push({ schedule, moment });
      } catch (error) {
        onError(error);
      }
    }
    return found;
  }

  /** Where the clock was set back, what is written down would come too late. */
  async #setBack(now: number, onError: (error: unknown) => void): Promise<void> {
    this.#clockLookedAt = now;
    for (const record of await this.#ledger.schedules(Number.MAX_SAFE_INTEGER)) {
      try {
        const next = await nextOf(scheduleIn(record));
        if (next < record.due!) await this.#move(record, next);
      } catch (error) {
        onError(error);
      }
    }
  }

  /** Moves a schedule on or back, unless somebody else has. */
  async #move({ id, due }: ScheduleRecord, next: number): Promise<void> {
    await this.#ledger.changeSchedule(id, (found) =>
      found && found.due === due ? recordOf(scheduleIn(found), next) : found,
    );
  }
}

function recordOf(schedule: Schedule, due: number): ScheduleRecord {
  const { id, createdAt, ...content } = schedule;
  const isAtRest = content.isPaused || isOver(schedule, due);
  return { id, createdAt, content, ...(!isAtRest && { due }) };
}

function scheduleIn({ id, createdAt, content }: ScheduleRecord): Schedule {
  return { ...(content as Content), id, createdAt };
}

type When = Pick<Schedule, "cron" | "timezone">;

/** Throws `invalid-request` for a line that names no times. */
export async function checkTimes(cron: string): Promise<void> {
  await nextOf({ cron });
}

async function nextOf(when: When): Promise<number> {
  return nextIn((await croner()).Cron, when);
}

/** Loaded by who has a schedule. */
function croner(): Promise<typeof import("croner")> {
  return import("croner");
}

/** The next of the times that a crontab's line names. Throws `invalid-request` for one that names none. */
function nextIn(Times: typeof Cron, { cron, timezone = "UTC" }: When): number {
  try {
    const times = new Times(cron, { timezone, mode: "5-or-6-parts" });
    const next = times.getOnce() ? null : times.nextRun();
    if (!next) throw new Error("it does not come again and again");
    return next.getTime();
  } catch (error) {
    throw unreadableTime(cron, error);
  }
}
