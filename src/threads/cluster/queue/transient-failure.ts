import { HarnessError } from "../../../errors.ts";
import { failureOf, type FailureKind } from "../../../models/index.ts";

/** Failures for which a later attempt may succeed. */
const TRANSIENT: readonly FailureKind[] = [
  "refused",
  "unknown-host",
  "timeout",
  "cut",
  "broke-off",
  "rate-limit",
  "server",
];

/** PostgreSQL's error classes for a server that is away, starting, stopping, a standby, or out of resources. */
const UNAVAILABLE = /^(08|53|57P|40|55P03|25006)/;
const LOST_CONNECTION =
  /Connection terminated|Client has encountered a connection error|Query read timeout|timeout exceeded when trying to connect/;

/** Whether to retry after a failure: of the network, an overloaded server, or a database that restarts. */
export function isTransient(failure: unknown): boolean {
  const error = HarnessError.from(failure);
  if (error) return error.code === "no-answer" || error.code === "storage-failed" || isAway(error.cause);
  return isAway(failure) || TRANSIENT.includes(failureOf(failure).kind);
}

function isAway(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as { code?: unknown };
    if (typeof code === "string" && UNAVAILABLE.test(code)) return true;
    if (LOST_CONNECTION.test(at.message)) return true;
  }
  return false;
}

/** The seconds to wait before an attempt: longer each time, with jitter. */
export function pause(attempt: number): number {
  const most = Math.min(60, 2 ** attempt);
  return Math.ceil(most / 2 + (Math.random() * most) / 2);
}
