import type { BaseStore } from "@langchain/langgraph";
import { Hono } from "hono";
import type { Mode } from "../../project/index.ts";
import type { ThreadStore } from "../../storage/index.ts";
import type { Cluster, ClusterWorker, Limits } from "../../threads/cluster/index.ts";
import { threadsGraph, type ThreadsGraphOptions } from "../../threads/host/threads-graph.ts";
import { DEFAULT_MODES } from "../../threads/prepare/settings.ts";
import { GRAPH } from "../../threads/thread/thread-settings.ts";
import type { Auth } from "./http/access.ts";
import type { ServerEnv } from "./http/context.ts";
import type { ServerParts } from "./http/parts.ts";
import { pageRoutes } from "./page/index.ts";
import { assemble, type Server } from "./server.ts";

export interface ThreadsServerOptions extends ThreadsGraphOptions {
  /** LangGraph's store, for `/store`. */
  store: BaseStore;
  /** Where the runs are done by workers that share a database. */
  cluster?: Cluster | undefined;
  token?: string | undefined;
  auth?: Auth | undefined;
  hosts?: readonly string[] | undefined;
  origins?: readonly string[] | undefined;
  /** Whether it is reached from other machines. */
  isOpen: boolean;
}

export interface ThreadsServer extends Server {
  /** Goes on with the runs that a killed server left. Best once there is an address: without one they are cut short again. */
  recover: () => Promise<void>;
}

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
export async function createThreadsServer(options: ThreadsServerOptions): Promise<ThreadsServer> {
  const { saver, store, cluster, defaults, modelOf, token, auth, hosts, origins, isOpen, pricesOf } = options;
  // What is wrong with the model is said now rather than by the first run.
  const { name: model } = await modelOf(defaults.model);
  const graph = threadsGraph(options);
  const { server, parts } = await assemble({
    graphs: new Map([[GRAPH, graph]]),
    checkpointer: saver,
    cluster,
    store,
    isOpen,
    ...(token !== undefined && { token }),
    ...(auth && { auth }),
    ...(hosts && { hosts }),
    ...(origins && { origins }),
    more: (given) => {
      const prices = pricesOf?.(model);
      const mode = async (): Promise<Mode> => (await graph.reader()).mode ?? DEFAULT_MODES.alone;
      const page = pageRoutes(given, { saver, own: { defaults, mode, model, modelOf, prices } });
      // Its tools know nothing of users.
      return auth ? page : page.route("/", mcpRoutes(given, saver));
    },
  });
  return { ...server, recover: () => parts.host.recover() };
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
