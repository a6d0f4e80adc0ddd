import type { RunRecord, RunStatus } from "./thread-store.ts";

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
