import type { BaseStore } from "@langchain/langgraph";
import type { Limits } from "../../threads/cluster/index.ts";
import { hostedGraphs, type GraphSource } from "./graphs.ts";
import { buildOnCluster } from "./server.ts";

/** Options of `createWorker`. */
export interface WorkerOptions {
  /** The graphs by name, the same as on the servers. */
  graphs: Record<string, GraphSource>;
  /** The address of the PostgreSQL database that servers and workers share. */
  database: string;
  /** Concurrent runs per queue; the same for all workers of a queue. Default 10. */
  slots?: number;
  /** The queues to take runs from; a run names one as `queue` when it is created. Default `["runs"]`, the queue of runs that name none. */
  queues?: readonly string[];
  /** Concurrent runs that share a key: `{ "tenant:*": 5, "model:openai:gpt-5.1": 20 }`. The same for all workers. */
  limits?: Limits;
  /** LangGraph's store, for graphs that use one. Default: one in the database. */
  store?: BaseStore;
  /**
   * Called when other workers have declared this one dead, for example after its process was suspended, and taken over
   * its runs. The worker cannot recover. Default: the process exits.
   */
  onLost?: () => void;
}

/** A started worker. */
export interface Worker {
  id: string;
  /** Stops every run at the end of its step, for other workers to continue. Resolves when all are back in the queue. */
  close: () => Promise<void>;
}

/**
 * Starts a worker that executes the runs in a database. One per process.
 *
 * @example
 * ```ts
 * import { createDeepAgent } from "holdfast";
 * import { createWorker } from "holdfast/server";
 *
 * const graphs = { agent: createDeepAgent({ model: "openai:gpt-5.1" }) };
 * const database = "postgres://user:password@localhost/agents";
 * const worker = await createWorker({ graphs, database, slots: 4 });
 * process.once("SIGTERM", () => void worker.close());
 * ```
 */
export async function createWorker(options: WorkerOptions): Promise<Worker> {
  const { database, slots, queues, limits, onLost = exit } = options;
  return buildOnCluster(database, async (cluster) => {
    const { store = cluster.memories } = options;
    const graphs = hostedGraphs("createWorker", options.graphs, { checkpointer: cluster.store, store });
    const { startWorker } = await import("../../threads/cluster/index.ts");
    const worker = await startWorker(cluster, {
      graphs,
      onLost,
      ...(slots && { slots }),
      ...(queues && { queues }),
      ...(limits && { limits }),
    });
    return {
      id: worker.id,
      close: async () => {
        await worker.drain();
        await cluster.close();
      },
    };
  });
}

function exit(): never {
  process.stderr.write(
    "createWorker: this worker missed its heartbeat, so other workers took over its runs. The process ends.\n",
  );
  process.exit(1);
}
