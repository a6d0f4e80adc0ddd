import { HarnessError } from "../../errors.ts";

/** The interval of the heartbeat. */
export const BEAT_MS = 2_000;

const STARTED = Date.now() - process.uptime() * 1000;

/** Whether the process that took a lease on this machine has ended. */
export function isProcessGone(holder: { pid: number; since: number; isLocal: boolean }): boolean {
  const { pid, since, isLocal } = holder;
  // After a restart of a container, its process has the same number as the dead one.
  if (pid === process.pid) return !isLocal && since < STARTED;
  try {
    return !process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "EPERM";
  }
}

/** The error for a thread that another process holds, or has held since it was read here. */
export function threadBusy(
  threadId: string,
  lease: { pid: number; host: string; since: number } | undefined,
): HarnessError {
  const state = lease
    ? `is in use by process ${lease.pid} on ${lease.host} since ${new Date(lease.since).toISOString()}`
    : "was taken over by another process, which has finished";
  const fix = lease ? "Wait for it or stop it" : "Read the thread again before you continue";
  return new HarnessError("thread-busy", `Thread ${JSON.stringify(threadId)} ${state}. ${fix}.`);
}
