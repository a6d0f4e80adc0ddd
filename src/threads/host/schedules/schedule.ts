import type { Cron } from "croner";
import { HarnessError } from "../../../errors.ts";
import type { Ledger, Moment, ScheduleRecord } from "../../../storage/index.ts";
import type { RunRequest } from "../request/request.ts";

/** A run that is started again and again. */
export interface Schedule {
  id: string;
  /** When, as a crontab says it: `0 9 * * 1-5`. */
  cron: string;
  /** The time zone of `cron`, such as `Europe/Paris`. Default UTC. */
  timezone?: string;
  /** The time after which nothing starts. */
  endsAt?: number;
  /** The thread that it goes on with; without one each run has a thread of its own. */
  thread?: string;
  owner?: string;
  /** The thread's owner when it was put on the schedule, if it had one. */
  threadOwner?: string;
  request: RunRequest;
  createdAt: number;
  /** When it was changed last. */
  updatedAt?: number;
  /** Whether it starts nothing for now. */
  isPaused?: boolean;
}

/** A change of a schedule. */
export type ScheduleChange = Partial<Pick<Schedule, "cron" | "timezone" | "endsAt" | "request" | "isPaused">>;

/** A schedule that is due, and the moment that it is due for. */
export interface Due {
  schedule: Schedule;
  moment: Moment;
}

type NewSchedule = Omit<Schedule, "id" | "createdAt">;

/** A moment that is longer ago has passed: nobody was there. */
const LATE_MS = 60_000;
/** The interval of checks that the clock was not set back behind the stored moments. */
const CLOCK_MS = 60_000;

/**
 * The schedules in a ledger. Servers and workers that share one look into it again and again, and what is due is started
 * by the first of them.
 */
export class Schedules {
  readonly #ledger: Ledger;
  #clockLookedAt = 0;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Throws `invalid-request` for what is no time. */
  async add({ cron, ...more }: NewSchedule): Promise<Schedule> {
    const schedule: Schedule = { ...more, cron: cron.trim(), id: crypto.randomUUID(), createdAt: Date.now() };
    const next = await nextOf(schedule);
    await this.#ledger.changeSchedule(schedule.id, () => recordOf(schedule, next));
    return schedule;
  }

  /** The newest first. */
  async all(): Promise<Schedule[]> {
    return (await this.#ledger.schedules()).map(scheduleIn);
  }

  /**
   * Changes a schedule in one step, by what it is then. Throws `invalid-request` for what is no time, and `not-found`
   * where there is none of this id.
   */
  async change(id: string, change: (before: Schedule) => ScheduleChange): Promise<Schedule> {
    const { Cron } = await croner();
    const record = await this.#ledger.changeSchedule(id, (found) => {
      if (!found) throw new HarnessError("not-found", `There is no schedule ${JSON.stringify(id)}.`);
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

  /** Returns whether there was one. */
  async remove(id: string): Promise<boolean> {
    let isThere = false;
    await this.#ledger.changeSchedule(id, (found) => {
      isThere = found !== undefined;
      return undefined;
    });
    return isThere;
  }

  /** Ends those that go on with a thread. */
  async forgetThread(thread: string): Promise<void> {
    for (const schedule of await this.all()) if (schedule.thread === thread) await this.remove(schedule.id);
  }

  /** The schedules to start now. Leaves out moments that have passed. Reports unreadable schedules to `onError`. */
  async due(onError: (error: unknown) => void): Promise<Due[]> {
    const now = Date.now();
    if (Math.abs(now - this.#clockLookedAt) >= CLOCK_MS) await this.#setBack(now, onError);
    const found: Due[] = [];
    for (const record of await this.#ledger.schedules(now)) {
      try {
        const schedule = scheduleIn(record);
        const moment = { schedule: record.id, due: record.due!, next: await nextOf(schedule) };
        const isLate = now - moment.due > LATE_MS;
        if (isLate || isOver(schedule, moment.due)) await this.pass(moment);
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
        const [due, next] = [record.due!, await nextOf(scheduleIn(record))];
        if (next < due) await this.pass({ schedule: record.id, due, next });
      } catch (error) {
        onError(error);
      }
    }
  }

  /** Moves a schedule from a moment to the next, unless somebody else has. */
  async pass({ schedule, due, next }: Moment): Promise<void> {
    await this.#ledger.changeSchedule(schedule, (found) =>
      found && found.due === due ? recordOf(scheduleIn(found), next) : found,
    );
  }
}

/** The owner that a thread must have for a schedule to continue it, or that a new one gets. */
export function ownerFor({ thread, owner, threadOwner }: Schedule): { owner?: string } {
  const whose = thread === undefined ? owner : threadOwner;
  return whose === undefined ? {} : { owner: whose };
}

function recordOf(schedule: Schedule, due: number): ScheduleRecord {
  const { id, createdAt, ...content } = schedule;
  const isAtRest = content.isPaused || isOver(schedule, due);
  return { id, createdAt, content, ...(!isAtRest && { due }) };
}

function scheduleIn({ id, createdAt, content }: ScheduleRecord): Schedule {
  return { ...(content as NewSchedule), id, createdAt };
}

/** Whether a moment is after the end of a schedule. */
function isOver({ endsAt }: Schedule, moment: number): boolean {
  return endsAt !== undefined && moment > endsAt;
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
    const { message } = error as Error;
    const text = `The schedule ${JSON.stringify(cron)} cannot be kept: ${message}`;
    throw new HarnessError("invalid-request", text, { cause: error });
  }
}
