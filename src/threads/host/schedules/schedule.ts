import { HarnessError } from "../../../errors.ts";
import type { RunRequest } from "../request/request.ts";

/** A run that is started at recurring times. */
export interface Schedule {
  id: string;
  /** A crontab expression: `0 9 * * 1-5`. */
  cron: string;
  /** The time zone of `cron`, such as `Europe/Paris`. Default UTC. */
  timezone?: string;
  /** The time after which no run starts. */
  endsAt?: number;
  /** The thread that it continues; without one each run has a thread of its own. */
  thread?: string;
  owner?: string;
  /** The owner of `thread` when the schedule was created, if it had one. */
  threadOwner?: string;
  request: RunRequest;
  createdAt: number;
  updatedAt?: number;
  isPaused?: boolean;
}

export type ScheduleChange = Partial<Pick<Schedule, "cron" | "timezone" | "endsAt" | "request" | "isPaused">>;

export type NewSchedule = Omit<Schedule, "id" | "createdAt">;

/** Computes a change from a schedule's current value. */
export type ChangeOf = (before: Schedule) => ScheduleChange;

export interface Schedules {
  /** Throws `invalid-request` for an invalid time. */
  add: (schedule: NewSchedule) => Promise<Schedule>;
  /** Newest first. */
  all: () => Promise<Schedule[]>;
  /**
   * Changes a schedule atomically, from its current value. Throws `invalid-request` for an invalid time, and `not-found`
   * for an unknown id.
   */
  change: (id: string, change: ChangeOf) => Promise<Schedule>;
  /** Returns whether there was one. */
  remove: (id: string) => Promise<boolean>;
}

/** Removes the schedules that continue a thread. */
export async function forgetThread(schedules: Schedules, thread: string): Promise<void> {
  for (const schedule of await schedules.all()) {
    if (schedule.thread === thread) await schedules.remove(schedule.id);
  }
}

/** The owner that a thread must have for a schedule to continue it, or that a new one gets. */
export function ownerFor({ thread, owner, threadOwner }: Schedule): { owner?: string } {
  const required = thread === undefined ? owner : threadOwner;
  return required === undefined ? {} : { owner: required };
}

/** Whether a moment is after the end of a schedule. */
export function isOver({ endsAt }: Schedule, moment: number): boolean {
  return endsAt !== undefined && moment > endsAt;
}

export function unknownSchedule(id: string): HarnessError {
  return new HarnessError("not-found", `There is no schedule ${JSON.stringify(id)}.`);
}

export function unreadableTime(cron: string, error: unknown): HarnessError {
  const { message } = error as Error;
  return new HarnessError(
    "invalid-request",
    `The schedule ${JSON.stringify(cron)} cannot be kept: ${message}`,
    { cause: error },
  );
}
