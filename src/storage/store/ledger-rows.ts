import type { HostedThread, RunRecord, RunStatus, ScheduleRecord } from "./thread-store.ts";

/** A thread as a row of a ledger. */
export type HostedRow = {
  thread: string;
  graph: string;
  owner: string | null;
  created: number;
  updated: number;
  failed: number;
  metadata: string;
};

export function fromHosted({
  id,
  graph,
  owner,
  createdAt,
  updatedAt,
  hasFailed,
  metadata,
}: HostedThread): HostedRow {
  return {
    thread: id,
    graph,
    owner: owner ?? null,
    created: createdAt,
    updated: updatedAt,
    failed: hasFailed ? 1 : 0,
    metadata: JSON.stringify(metadata),
  };
}

export function toHosted({
  thread: id,
  graph,
  owner,
  created,
  updated,
  failed,
  metadata,
}: HostedRow): HostedThread {
  return {
    id,
    graph,
    ...(owner !== null && { owner }),
    createdAt: created,
    updatedAt: updated,
    hasFailed: failed === 1,
    metadata: JSON.parse(metadata) as Record<string, unknown>,
  };
}

/** A run as a row of a ledger. */
export type RunRow = {
  id: string;
  thread: string;
  status: string;
  created: number;
  updated: number;
  attempt: number;
  base: string | null;
  request: string;
};

/** The key of a run's failure reason inside its request: few runs have one, and older versions ignore it. */
const REASON = "$reason";

/** Text in the request of every delayed run, and in few others: a cheap filter. */
export const DELAY = '"delay":';

/** Whether a run is delayed and has not started. */
export function isForLater({ status, request }: RunRecord): boolean {
  return status === "pending" && (request as { delay?: number }).delay !== undefined;
}

export function fromRun(run: RunRecord): RunRow {
  const { id, thread, status, createdAt, updatedAt, attempt, base, request, reason } = run;
  return {
    id,
    thread,
    status,
    created: createdAt,
    updated: updatedAt,
    attempt,
    base: base ?? null,
    request: JSON.stringify(reason === undefined ? request : { ...(request as object), [REASON]: reason }),
  };
}

export function toRun({ id, thread, status, created, updated, attempt, base, request }: RunRow): RunRecord {
  const { [REASON]: reason, ...original } = JSON.parse(request) as Record<string, unknown>;
  return {
    id,
    thread,
    status: status as RunStatus,
    createdAt: created,
    updatedAt: updated,
    attempt,
    ...(base !== null && { base }),
    request: original,
    ...(typeof reason === "string" && { reason }),
  };
}

/** A schedule as a row of a ledger. */
export type ScheduleRow = { id: string; created: number; due: number | null; content: string };

export function fromSchedule({ id, createdAt, due, content }: ScheduleRecord): ScheduleRow {
  return { id, created: createdAt, due: due ?? null, content: JSON.stringify(content) };
}

export function toSchedule({ id, created, due, content }: ScheduleRow): ScheduleRecord {
  return {
    id,
    createdAt: created,
    ...(due !== null && { due }),
    content: JSON.parse(content) as unknown,
  };
}
