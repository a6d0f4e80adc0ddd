import { Hono } from "hono";
import type { ThreadStore } from "../../storage/index.ts";
import type { Cluster, ClusterWorker, Limits } from "../../threads/cluster/index.ts";
import { threadsGraph, type ThreadsGraphOptions } from "../../threads/host/index.ts";
import { DEFAULT_MODES } from "../../threads/prepare/index.ts";
import { GRAPH } from "../../threads/thread/index.ts";
import { type Mode } from "../../vocabulary.ts";
import type { ServerEnv, ServerParts } from "./http/index.ts";
import { pageRoutes, type AllowRules } from "./page/index.ts";
import { assemble, type AssembledServer, type AssembleOptions } from "./server.ts";

export type ThreadsServerOptions = ThreadsGraphOptions &
  Omit<AssembleOptions, "graphs" | "checkpointer" | "more"> & {
    /** Stores rules that the user of the page allows in a directory. Default: the page offers none. */
    allow?: AllowRules;
  };

/** Executes runs of Holdfast's threads in this process, for all servers of a cluster. */
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
  // A rule would be for all users.
  const allow = auth ? undefined : options.allow;
  // Fails at the start, not in the first run, if the model cannot be used.
  const { name: model } = await modelOf(defaults.model);
  const graph = threadsGraph(options);
  return assemble({
    ...options,
    graphs: new Map([[GRAPH, graph]]),
    checkpointer: saver,
    more: (parts) => {
      const prices = pricesOf?.(model);
      const mode = async (): Promise<Mode> => (await graph.reader()).mode ?? DEFAULT_MODES.alone;
      const page = pageRoutes(parts, { saver, own: { defaults, mode, model, modelOf, prices, allow } });
      // MCP's tools do not tell users apart.
      return auth ? page : page.route("/", mcpRoutes(parts, saver));
    },
  });
}

/** Threads as MCP tools, for callers that have the token. */
function mcpRoutes({ host }: Pick<ServerParts, "host">, saver: ThreadStore): Hono<ServerEnv> {
  let handler: Promise<(request: Request) => Promise<Response>> | undefined;
  return new Hono<ServerEnv>().all("/mcp", async (c) => {
    try {
      // Loaded on the first call: most servers are only used through the page.
      handler ??= import("../mcp/index.ts").then(({ mcpHandler }) => mcpHandler({ host, saver }));
      const handle = await handler;
      return await handle(c.req.raw);
    } catch (error) {
      handler = undefined;
      throw error;
    }
  });
}
