import { newRecord } from "../host/records.ts";
import type { RunRequest } from "../host/request.ts";
import type { ClusterDatabase } from "./database.ts";
import { Jobs } from "./jobs.ts";

/** The workflow that DBOS starts when a schedule is due. */
export const SCHEDULED = "scheduled";

/** What a schedule starts: a run of a thread, or of a new one each time. */
export interface ScheduledRun {
  thread?: string;
  owner?: string;
  request: RunRequest;
}

/** Starts the run that a schedule is for. Its id is that of the moment, so that it is started once. */
export async function startScheduled(
  { db }: { db: ClusterDatabase },
  at: Date,
  context: unknown,
): Promise<void> {
  const { thread = crypto.randomUUID(), request } = context as ScheduledRun;
  void at;
  await new Jobs(db).enqueue(newRecord(thread, { ...request, strategy: "enqueue" }));
}
