import type { Cron } from "croner";
import type { Ledger, Moment, ScheduleRecord } from "../../storage/index.ts";
import {
  unknownSchedule,
  unreadableTime,
  type ChangeOf,
  type NewSchedule,
  type Schedule,
  type Schedules,
} from "./schedule.ts";

/** What a schedule is to start, and the moment that it is for. */
export interface Due {
  schedule: Schedule;
  moment: Moment;
}

type Content = Omit<Schedule, "id" | "createdAt">;

/** A moment that is longer ago has passed: nobody was there. */
const LATE_MS = 60_000;
/** How often it is looked whether the clock was set back behind the moments that are written down. */
const CLOCK_MS = 60_000;

/**
 * The schedules in a ledger. Servers that share one look into it again and again, and what is due is started by the
 * first of them.
 */
export class KeptSchedules implements Schedules {
  readonly #ledger: Ledger;
  #clockLookedAt = 0;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  async add({ cron, ...more }: NewSchedule): Promise<Schedule> {
    const times = await Times.of(cron);
    const schedule: Schedule = { ...more, cron: cron.trim(), id: crypto.randomUUID(), createdAt: Date.now() };
    await this.#ledger.changeSchedule(schedule.id, () => recordOf(schedule, times.next()));
    return schedule;
  }

  async all(): Promise<Schedule[]> {
    return (await this.#ledger.schedules()).map(scheduleIn);
  }

  async change(id: string, change: ChangeOf): Promise<Schedule> {
    await Times.load();
    const record = await this.#ledger.changeSchedule(id, (found) => {
      if (!found) throw unknownSchedule(id);
      const before = scheduleIn(found);
      const made = { ...before, ...change(before), updatedAt: Date.now() };
      const cron = made.cron.trim();
      const isAsDue = cron === before.cron && !made.isPaused && found.due !== undefined;
      // A moment that has just come is not lost by a change of something else.
      return recordOf({ ...made, cron }, isAsDue ? found.due! : Times.now(cron).next());
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

  /** What is to be started now. Moments that have passed are left out. Tells of those that cannot be read. */
  async due(onError: (error: unknown) => void): Promise<Due[]> {
    const now = Date.now();
    if (Math.abs(now - this.#clockLookedAt) >= CLOCK_MS) await this.#setBack(now);
    const found: Due[] = [];
    for (const record of await this.#ledger.schedules(now)) {
      try {
        const schedule = scheduleIn(record);
        const next = (await Times.of(schedule.cron)).next();
        const moment = { schedule: record.id, due: record.due!, next };
        if (now - moment.due <= LATE_MS) found.push({ schedule, moment });
        else await this.#move(record, next);
      } catch (error) {
        onError(error);
      }
    }
    return found;
  }

  /** Where the clock was set back, what is written down would come too late. */
  async #setBack(now: number): Promise<void> {
    this.#clockLookedAt = now;
    for (const record of await this.#ledger.schedules(Number.MAX_SAFE_INTEGER)) {
      const next = (await Times.of(scheduleIn(record).cron)).next();
      if (next < record.due!) await this.#move(record, next);
    }
  }

  /** Moves a schedule on or back, unless somebody else has. */
  async #move({ id, due }: ScheduleRecord, next: number): Promise<void> {
    await this.#ledger.changeSchedule(id, (found) =>
      found && found.due === due ? { ...found, due: next } : found,
    );
  }
}

function recordOf({ id, createdAt, ...content }: Schedule, due: number): ScheduleRecord {
  return { id, createdAt, content, ...(!content.isPaused && { due }) };
}

function scheduleIn({ id, createdAt, content }: ScheduleRecord): Schedule {
  return { ...(content as Content), id, createdAt };
}

/** Throws `invalid-request` for a line that names no times. */
export async function checkTimes(cron: string): Promise<void> {
  await Times.of(cron);
}

/** The times that a crontab's line names, in UTC. */
class Times {
  static #package: typeof import("croner") | undefined;
  readonly #cron: Cron;

  private constructor(cron: Cron) {
    this.#cron = cron;
  }

  /** Throws `invalid-request` for a line that names none. */
  static async of(line: string): Promise<Times> {
    await Times.load();
    return Times.now(line);
  }

  /** What it needs is loaded by who has a schedule. */
  static async load(): Promise<void> {
    Times.#package ??= await import("croner");
  }

  /** The same, once it is loaded. */
  static now(line: string): Times {
    try {
      const cron = new Times.#package!.Cron(line, { timezone: "UTC", mode: "5-or-6-parts" });
      if (cron.getOnce() || !cron.nextRun()) throw new Error("it does not come again and again");
      return new Times(cron);
    } catch (error) {
      throw unreadableTime(line, error);
    }
  }

  next(): number {
    return this.#cron.nextRun()!.getTime();
  }
}
