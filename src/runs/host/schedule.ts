import { HarnessError } from "../../errors.ts";
import type { RunRequest } from "./request.ts";

/** A run that is started again and again. */
export interface Schedule {
  id: string;
  /** When, as a crontab says it: `0 9 * * 1-5`. */
  cron: string;
  /** Whose clock that is: a name such as `Europe/Paris`. UTC where there is none. */
  timezone?: string;
  /** It starts nothing after this. */
  endsAt?: number;
  /** The thread that it goes on with; without one each run has a thread of its own. */
  thread?: string;
  owner?: string;
  /** Whose the thread was when it was put on the schedule, where that is somebody else. */
  threadOwner?: string;
  request: RunRequest;
  createdAt: number;
  /** When it was changed last. */
  updatedAt?: number;
  /** Whether it starts nothing for now. */
  isPaused?: boolean;
}

/** What can be changed of a schedule. */
export type ScheduleChange = Partial<Pick<Schedule, "cron" | "timezone" | "endsAt" | "request" | "isPaused">>;

/** The schedules that a host keeps. */
export interface Schedules {
  /** Throws `invalid-request` for what is no time. */
  add: (schedule: Omit<Schedule, "id" | "createdAt">) => Promise<Schedule>;
  /** The newest first. */
  all: () => Promise<Schedule[]>;
  /**
   * Changes a schedule in one step, by what it is then. Throws `invalid-request` for what is no time, and `not-found`
   * where there is none of this id.
   */
  change: (id: string, change: (before: Schedule) => ScheduleChange) => Promise<Schedule>;
  /** Returns whether there was one. */
  remove: (id: string) => Promise<boolean>;
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
