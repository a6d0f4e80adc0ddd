import { postgresStore, type ThreadStore } from "../../storage/index.ts";
import { openStore } from "../../storage/open/index.ts";
import { ClusterDatabase } from "./database/database.ts";
import { checkDatabase } from "./database/probes.ts";
import { ClusterHost } from "./host.ts";
import { ClusterWorker, type WorkerOptions } from "./worker.ts";

export type { Limits } from "./queue/jobs.ts";
export type { ClusterWorker } from "./worker.ts";
export { ClusterDatabase } from "./database/database.ts";
export { grantRights } from "./database/migrate.ts";
export { type ClusterStatus, type QueueStatus, readStatus } from "./status.ts";

/** A process's connection to the shared database of a cluster. */
export interface Cluster {
  db: ClusterDatabase;
  store: ThreadStore;
  /** LangGraph's store, shared by all threads. */
  memories: Awaited<ReturnType<typeof postgresStore>>;
  close: () => Promise<void>;
}

/** Throws `storage-failed` if the database cannot be used. */
export async function openCluster(url: string): Promise<Cluster> {
  const opened: Pick<ThreadStore, "close">[] = [];
  const close = async (): Promise<void> => {
    for (const one of opened.toReversed()) await one.close();
  };
  try {
    await checkDatabase(url);
    const store = await openStore(url);
    opened.push(store);
    const db = await ClusterDatabase.open(url);
    opened.push(db);
    const memories = await postgresStore(url);
    opened.push(memories);
    return { db, store, memories, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A host that leaves its runs to the workers of a cluster. */
export function clusterHost({ db, store }: Cluster, graphs: WorkerOptions["graphs"]): ClusterHost {
  return new ClusterHost({ db, store, graphs });
}

/** Starts a worker in this process. One per process. */
export function startWorker(
  { db, store }: Cluster,
  options: Omit<WorkerOptions, "db" | "store">,
): Promise<ClusterWorker> {
  return ClusterWorker.start({ db, store, ...options });
}
