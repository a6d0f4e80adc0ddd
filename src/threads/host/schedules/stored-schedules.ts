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

/** A run that is late by more than this is skipped. */
const LATE_MS = 60_000;
/** The interval of checks whether the system clock was set back. */
const CLOCK_MS = 60_000;

/** The schedules in a ledger. Servers that share it poll it, and the first of them starts what is due. */
export class StoredSchedules implements Schedules {
  readonly #ledger: Ledger;
  #clockCheckedAt = 0;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  async add({ cron, ...more }: NewSchedule): Promise<Schedule> {
    const schedule: Schedule = { ...more, cron: cron.trim(), id: crypto.randomUUID(), createdAt: Date.now() };
    const next = await nextTime(schedule);
    await this.#ledger.changeSchedule(schedule.id, () => recordOf(schedule, next));
    return schedule;
  }

  async all(): Promise<Schedule[]> {
    return (await this.#ledger.schedules()).map(scheduleIn);
  }

  async change(id: string, change: ChangeOf): Promise<Schedule> {
    const { Cron } = await croner();
    const record = await this.#ledger.changeSchedule(id, (saved) => {
      if (!saved) throw unknownSchedule(id);
      const before = scheduleIn(saved);
      const changed = { ...before, ...change(before), updatedAt: Date.now() };
      const schedule = { ...changed, cron: changed.cron.trim() };
      const isSame = schedule.cron === before.cron && schedule.timezone === before.timezone;
      const next = nextIn(Cron, schedule);
      // A change of something else must not lose a moment that is due just now.
      return recordOf(schedule, isSame ? (saved.due ?? next) : next);
    });
    return scheduleIn(record!);
  }

  async remove(id: string): Promise<boolean> {
    let hasExisted = false;
    await this.#ledger.changeSchedule(id, (saved) => {
      hasExisted = saved !== undefined;
      return undefined;
    });
    return hasExisted;
  }

  /** The schedules to start now, without missed moments. Reports unreadable schedules to `onError`. */
  async due(onError: (error: unknown) => void): Promise<Due[]> {
    const now = Date.now();
    if (Math.abs(now - this.#clockCheckedAt) >= CLOCK_MS) await this.#followClock(now, onError);
    const due: Due[] = [];
    for (const record of await this.#ledger.schedules(now)) {
      try {
        const schedule = scheduleIn(record);
        const next = await nextTime(schedule);
        const moment = { schedule: record.id, due: record.due!, next };
        const isLate = now - moment.due > LATE_MS;
        if (isLate || isOver(schedule, moment.due)) await this.#move(record, next);
        else due.push({ schedule, moment });
      } catch (error) {
        onError(error);
      }
    }
    return due;
  }

  /** Moves schedules to an earlier moment if the system clock was set back: the stored ones would come too late. */
  async #followClock(now: number, onError: (error: unknown) => void): Promise<void> {
    this.#clockCheckedAt = now;
    for (const record of await this.#ledger.schedules(Number.MAX_SAFE_INTEGER)) {
      try {
        const next = await nextTime(scheduleIn(record));
        if (next < record.due!) await this.#move(record, next);
      } catch (error) {
        onError(error);
      }
    }
  }

  /** Sets the next moment of a schedule, unless another server has. */
  async #move({ id, due }: ScheduleRecord, next: number): Promise<void> {
    await this.#ledger.changeSchedule(id, (saved) =>
      saved && saved.due === due ? recordOf(scheduleIn(saved), next) : saved,
    );
  }
}

function recordOf(schedule: Schedule, due: number): ScheduleRecord {
  const { id, createdAt, ...content } = schedule;
  const isInactive = content.isPaused || isOver(schedule, due);
  return { id, createdAt, content, ...(!isInactive && { due }) };
}

function scheduleIn({ id, createdAt, content }: ScheduleRecord): Schedule {
  return { ...(content as Content), id, createdAt };
}

type When = Pick<Schedule, "cron" | "timezone">;

/** The next time of a schedule. Throws `invalid-request` for an invalid crontab expression or time zone. */
export async function nextTime(when: When): Promise<number> {
  return nextIn((await croner()).Cron, when);
}

/** Loaded only when a schedule is used. */
function croner(): Promise<typeof import("croner")> {
  return import("croner");
}

/** The next time of a crontab expression. Throws `invalid-request` if it is invalid or does not recur. */
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
