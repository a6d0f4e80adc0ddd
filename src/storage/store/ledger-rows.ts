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

/** Why a run failed stands with what was asked for: it is known of few, and older versions need not know of it. */
const REASON = "$reason";

/** What the request of a run has in it that is for later, and few others. */
export const DELAY = '"delay":';

/** Whether a run waits for its time. */
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
  const { [REASON]: reason, ...asked } = JSON.parse(request) as Record<string, unknown>;
  return {
    id,
    thread,
    status: status as RunStatus,
    createdAt: created,
    updatedAt: updated,
    attempt,
    ...(base !== null && { base }),
    request: asked,
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
