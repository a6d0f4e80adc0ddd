import { Hono } from "hono";
import type { Mode } from "../../project/index.ts";
import type { ThreadStore } from "../../storage/index.ts";
import type { Cluster, ClusterWorker, Limits } from "../../threads/cluster/index.ts";
import { threadsGraph, type ThreadsGraphOptions } from "../../threads/host/index.ts";
import { DEFAULT_MODES } from "../../threads/prepare/index.ts";
import { GRAPH } from "../../threads/thread/index.ts";
import type { ServerEnv, ServerParts } from "./http/index.ts";
import { pageRoutes } from "./page/index.ts";
import { assemble, type AssembledServer, type AssembleOptions } from "./server.ts";

export type ThreadsServerOptions = ThreadsGraphOptions &
  Omit<AssembleOptions, "graphs" | "checkpointer" | "more">;

/** Does the runs of these threads in this process, for all servers of a cluster. */
export async function startThreadsWorker(
  cluster: Cluster,
  options: ThreadsGraphOptions & { slots: number; queues: readonly string[] | undefined; limits: Limits },
  onLost: () => void,
): Promise<ClusterWorker> {
  const { startWorker } = await import("../../threads/cluster/index.ts");
  const { slots, queues, limits } = options;
  const graphs = new Map([[GRAPH, threadsGraph(options)]]);
  return startWorker(cluster, { graphs, slots, limits, onLost, ...(queues && { queues }) });
}

/** The server of `holdfast serve`: the threads of the command line, for a page and for LangGraph's clients. */
export async function createThreadsServer(options: ThreadsServerOptions): Promise<AssembledServer> {
  const { saver, defaults, modelOf, auth, pricesOf } = options;
  // What is wrong with the model is said now rather than by the first run.
  const { name: model } = await modelOf(defaults.model);
  const graph = threadsGraph(options);
  return assemble({
    ...options,
    graphs: new Map([[GRAPH, graph]]),
    checkpointer: saver,
    more: (given) => {
      const prices = pricesOf?.(model);
      const mode = async (): Promise<Mode> => (await graph.reader()).mode ?? DEFAULT_MODES.alone;
      const page = pageRoutes(given, { saver, own: { defaults, mode, model, modelOf, prices } });
      // Its tools know nothing of users.
      return auth ? page : page.route("/", mcpRoutes(given, saver));
    },
  });
}

/** Threads as tools of the Model Context Protocol, for callers that have the token. */
function mcpRoutes({ host }: Pick<ServerParts, "host">, saver: ThreadStore): Hono<ServerEnv> {
  let handler: Promise<(request: Request) => Promise<Response>> | undefined;
  const opened = (): NonNullable<typeof handler> =>
    // Loaded when somebody calls: most servers have a page and nothing else.
    (handler ??= import("../mcp/index.ts").then(({ mcpHandler }) => mcpHandler({ host, saver })));
  return new Hono<ServerEnv>().all("/mcp", async (c) => {
    try {
      return await (
        await opened()
      )(c.req.raw);
    } catch (error) {
      handler = undefined;
      throw error;
    }
  });
}
