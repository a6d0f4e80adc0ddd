import { HarnessError } from "../../errors.ts";

/** The interval at which a process says that it is alive. */
export const BEAT_MS = 2_000;

const STARTED = Date.now() - process.uptime() * 1000;

/** Whether a process of this machine that took a lease is gone. */
export function isProcessGone({
  pid,
  since,
  isOurs,
}: {
  pid: number;
  since: number;
  isOurs: boolean;
}): boolean {
  // A container that is restarted gives its process the number that the dead one had.
  if (pid === process.pid) return !isOurs && since < STARTED;
  try {
    return !process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "EPERM";
  }
}

/** The error for a thread that another process holds, or has held since it was read here. */
export function busy(
  threadId: string,
  lease: { pid: number; host: string; since: number } | undefined,
): HarnessError {
  const what = lease
    ? `is in use by process ${lease.pid} on ${lease.host} since ${new Date(lease.since).toISOString()}`
    : "was taken over by another process, which has finished";
  const fix = lease ? "Wait for it or stop it" : "Read the thread again before going on";
  return new HarnessError("thread-busy", `Thread ${JSON.stringify(threadId)} ${what}. ${fix}.`);
}
