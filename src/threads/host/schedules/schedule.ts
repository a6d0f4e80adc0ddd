import { HarnessError } from "../../../errors.ts";
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

export type NewSchedule = Omit<Schedule, "id" | "createdAt">;

/** Makes a change of a schedule's current value. */
export type ChangeOf = (before: Schedule) => ScheduleChange;

/** The schedules that a host keeps. */
export interface Schedules {
  /** Throws `invalid-request` for what is no time. */
  add: (schedule: NewSchedule) => Promise<Schedule>;
  /** The newest first. */
  all: () => Promise<Schedule[]>;
  /**
   * Changes a schedule in one step, by what it is then. Throws `invalid-request` for what is no time, and `not-found`
   * where there is none of this id.
   */
  change: (id: string, change: ChangeOf) => Promise<Schedule>;
  /** Returns whether there was one. */
  remove: (id: string) => Promise<boolean>;
}

/** Ends those that go on with a thread. */
export async function forgetThread(schedules: Schedules, thread: string): Promise<void> {
  for (const schedule of await schedules.all()) {
    if (schedule.thread === thread) await schedules.remove(schedule.id);
  }
}

/** The owner that a thread must have for a schedule to continue it, or that a new one gets. */
export function ownerFor({ thread, owner, threadOwner }: Schedule): { owner?: string } {
  const whose = thread === undefined ? owner : threadOwner;
  return whose === undefined ? {} : { owner: whose };
}

/** Whether a moment is after the end of a schedule. */
export function isOver({ endsAt }: Schedule, moment: number): boolean {
  return endsAt !== undefined && moment > endsAt;
}

export function unknownSchedule(id: string): HarnessError {
  return new HarnessError("not-found", `There is no schedule ${JSON.stringify(id)}.`);
}

/** Says that a time cannot be read, or not be kept. */
export function unreadableTime(cron: string, error: unknown): HarnessError {
  const { message } = error as Error;
  return new HarnessError(
    "invalid-request",
    `The schedule ${JSON.stringify(cron)} cannot be kept: ${message}`,
    { cause: error },
  );
}
