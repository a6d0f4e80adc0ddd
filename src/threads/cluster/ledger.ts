import { HarnessError } from "../../errors.ts";
import type { Ledger } from "../../storage/index.ts";
import type { Jobs } from "./queue/jobs.ts";

/** The ledger of the store, with the runs of the cluster instead of its own. */
export function withJobs(ledger: Ledger, jobs: Jobs): Ledger {
  return {
    thread: (id) => ledger.thread(id),
    threads: (ids) => ledger.threads(ids),
    changeThread: (id, change) => ledger.changeThread(id, change),
    run: (id) => jobs.find(id),
    runs: async (thread) => (await jobs.ofThread(thread)).toReversed(),
    unfinished: () => jobs.unfinished(),
    // Workers start delayed runs.
    forLater: () => Promise.resolve([]),
    putRun: notOurs,
    changeRun: notOurs,
    removeRun: (id) => jobs.remove(id),
    forget: async (thread) => {
      await jobs.forget(thread);
      await ledger.forget(thread);
    },
    // DBOS keeps the schedules of a cluster.
    schedules: () => ledger.schedules(),
    changeSchedule: (id, change) => ledger.changeSchedule(id, change),
  };
}

function notOurs(): Promise<never> {
  return Promise.reject(new HarnessError("invalid-request", "Runs of a cluster are its workers' to write."));
}
