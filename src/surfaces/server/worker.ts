import type { BaseStore } from "@langchain/langgraph";
import type { Limits } from "../../threads/cluster/index.ts";
import { hostedGraphs, type GraphSource } from "./graphs.ts";
import { onCluster } from "./server.ts";

/** Options of `createWorker`. */
export interface WorkerOptions {
  /** The graphs by name, the same ones as those of the servers. */
  graphs: Record<string, GraphSource>;
  /** The address of the PostgreSQL database that servers and workers share. */
  database: string;
  /** The runs of each queue at a time; the same number for all workers of a queue. Default 10. */
  slots?: number;
  /** Takes the runs of these queues, which `queue` names when a run is created. Default `["runs"]`, for those that name none. */
  queues?: readonly string[];
  /** The most runs at a time that share a key: `{ "tenant:*": 5, "model:openai:gpt-5.1": 20 }`. The same for all workers. */
  limits?: Limits;
  /** LangGraph's store, for graphs that use one. Default: one in the database. */
  store?: BaseStore;
  /**
   * Called when other workers have taken this one for dead, as after a stop of its process, and gone on with its runs.
   * Nothing more can be done here. Default: the process ends.
   */
  onLost?: () => void;
}

/** A worker that takes runs. */
export interface Worker {
  id: string;
  /** Stops every run at the end of its step; other workers go on from there. Resolves when all are put back. */
  close: () => Promise<void>;
}

/** Takes runs from the database that servers put them in. One per process. */
export async function createWorker(options: WorkerOptions): Promise<Worker> {
  const { database, slots, queues, limits, onLost = exit } = options;
  return onCluster(database, async (cluster) => {
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
    "createWorker: this worker was not heard of for too long, and others go on with its runs. The process ends.\n",
  );
  process.exit(1);
}
