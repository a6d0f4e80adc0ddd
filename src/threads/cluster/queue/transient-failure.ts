import { HarnessError } from "../../../errors.ts";
import { failureOf, type FailureKind } from "../../../models/index.ts";

/** Failures that end by themselves: a later attempt may succeed. */
const PASSING: readonly FailureKind[] = [
  "refused",
  "unknown-host",
  "timeout",
  "cut",
  "broke-off",
  "rate-limit",
  "server",
];

/** PostgreSQL's classes of errors that say that it is away, starting, stopping, in reserve or short of something. */
const DATABASE = /^(08|53|57P|40|55P03|25006)/;
const LOST =
  /Connection terminated|Client has encountered a connection error|Query read timeout|timeout exceeded when trying to connect/;

/** Whether a failure is worth another try: of a network, a server that is overloaded, or a database that is restarted. */
export function isPassing(failure: unknown): boolean {
  const known = HarnessError.from(failure);
  if (known) return known.code === "no-answer" || known.code === "storage-failed" || isAway(known.cause);
  return isAway(failure) || PASSING.includes(failureOf(failure).kind);
}

function isAway(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as { code?: unknown };
    if (typeof code === "string" && DATABASE.test(code)) return true;
    if (LOST.test(at.message)) return true;
  }
  return false;
}

/** The seconds to wait before an attempt: longer each time, with jitter. */
export function pause(attempt: number): number {
  const most = Math.min(60, 2 ** attempt);
  return Math.ceil(most / 2 + (Math.random() * most) / 2);
}
