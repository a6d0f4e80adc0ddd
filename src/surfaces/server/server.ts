import { randomBytes } from "node:crypto";
import { type BaseCheckpointSaver, type BaseStore, InMemoryStore } from "@langchain/langgraph";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { HarnessError } from "../../errors.ts";
import { sqliteSaver, type ThreadStore } from "../../storage/index.ts";
import type { Cluster } from "../../threads/cluster/index.ts";
import { type Host, type HostedGraph, RunHost } from "../../threads/host/index.ts";
import { tracesFrom } from "../../threads/traces/index.ts";
import { version } from "../../version.ts";
import { type GraphSource, hostedGraphs } from "./graphs.ts";
import { limitBody, guard, type GuardOptions } from "./guard/index.ts";
import {
  Access,
  type Auth,
  failure,
  redactedFailure,
  type ServerEnv,
  type ServerParts,
  Streams,
} from "./http/index.ts";
import { langgraphRoutes } from "./langgraph/index.ts";
import { pageRoutes } from "./page/index.ts";

/** Options of `createServer`. */
export interface ServerOptions {
  /** The graphs by name: `createDeepAgent`, `makeLeadAgent` or any LangGraph graph. */
  graphs: Record<string, GraphSource>;
  /** Stores the threads. With `sqliteSaver(path)` or `postgresSaver(url)`, a restarted server finishes the runs of a killed one. */
  checkpointer?: BaseCheckpointSaver;
  /**
   * The address of a PostgreSQL database that servers and workers share, instead of a checkpointer. Workers started by
   * `createWorker` or `holdfast worker`, in this process or in others, execute the runs.
   */
  database?: string;
  /**
   * Whether to serve the page at `/`, with plans, edits, questions, files and earlier checkpoints of threads on these
   * graphs. Needs `sqliteSaver`, `postgresSaver` or a database. Default: false.
   */
  page?: boolean;
  /** LangGraph's store, for graphs that use one and for `/store`, such as `sqliteStore(path)`. Default: the database's, or one in memory. */
  store?: BaseStore;
  /** Authenticates users. Without it there is one user, who has the token. */
  auth?: Auth;
  /** The token to send as `Authorization: Bearer` or `x-api-key`. Default: a random one. Not used with `auth`. */
  token?: string;
  /** Host names of the server besides the loopback names. */
  hosts?: readonly string[];
  /** Origins of other sites whose pages may use the server, such as `https://chat.example.com`. */
  origins?: readonly string[];
}

/** A server as a fetch handler, not bound to an address. */
export interface Server {
  /** `env` comes from Hono's adapters: with the one for Node, streams are written directly to Node's response. */
  fetch: (request: Request, env?: object) => Response | Promise<Response>;
  /** Absent with `auth`. */
  token?: string;
  /** Stops runs at the end of their step, and ends all streams. */
  close: () => Promise<void>;
}

/**
 * Serves graphs over LangGraph's HTTP protocol, and continues the runs that a killed server left.
 *
 * @example
 * ```ts
 * import { createDeepAgent } from "holdfast";
 * import { createServer, listen } from "holdfast/server";
 * import { sqliteSaver } from "holdfast/storage";
 *
 * const graphs = { agent: createDeepAgent({ model: "openai:gpt-5.1" }) };
 * const server = await createServer({ graphs, checkpointer: await sqliteSaver("threads.db") });
 * const { url } = await listen(server, { port: 2024, hostname: "127.0.0.1" });
 * console.log(url, server.token);
 * ```
 */
export async function createServer(options: ServerOptions): Promise<Server> {
  const { database } = options;
  if ((options.checkpointer === undefined) === (database === undefined)) {
    throw new HarnessError(
      "invalid-options",
      "createServer: pass a checkpointer or a database, and not both.",
    );
  }
  const build = async (cluster?: Cluster): Promise<Server> => {
    const checkpointer = options.checkpointer ?? cluster!.store;
    const store = options.store ?? cluster?.memories ?? new InMemoryStore();
    const graphs = hostedGraphs("createServer", options.graphs, { checkpointer, store });
    const more = options.page ? pageOf(checkpointer) : undefined;
    const { recover, ...server } = await assemble({
      ...options,
      checkpointer,
      graphs,
      store,
      cluster,
      more,
    });
    await recover();
    return server;
  };
  return database === undefined ? build() : buildOnCluster(database, build);
}

/** The routes of the page. Only Holdfast's stores can list threads. */
function pageOf(checkpointer: BaseCheckpointSaver): (parts: ServerParts) => Hono<ServerEnv> {
  if (!("listThreads" in checkpointer)) {
    const message = "createServer: the page needs sqliteSaver, postgresSaver or a database.";
    throw new HarnessError("invalid-options", message);
  }
  return (parts) => pageRoutes(parts, { saver: checkpointer as ThreadStore });
}

/** Opens the database that servers and workers share, and builds on it; closes it if that fails. */
export async function buildOnCluster<T>(
  database: string,
  build: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  // Loaded on demand: it needs `pg`.
  const { openCluster } = await import("../../threads/cluster/index.ts");
  const cluster = await openCluster(database);
  try {
    return await build(cluster);
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

export interface AssembleOptions extends GuardOptions {
  graphs: ReadonlyMap<string, HostedGraph>;
  checkpointer: BaseCheckpointSaver;
  /** Has workers on a shared database execute the runs. Closed with the server. */
  cluster?: Cluster;
  store: BaseStore;
  /** Creates routes besides LangGraph's. */
  more?: (parts: ServerParts) => Hono<ServerEnv>;
}

/** A server that has not resumed any run yet. */
export interface AssembledServer extends Server {
  /** Continues the runs that a killed server left. Call it after `listen`: a failed start would interrupt them again. */
  recover: () => Promise<void>;
}

export async function assemble(options: AssembleOptions): Promise<AssembledServer> {
  const { graphs, checkpointer, store, auth, more, cluster } = options;
  if (options.token === "") {
    throw new HarnessError("invalid-options", "The token is empty: omit it for a random one.");
  }
  const token = auth ? undefined : (options.token ?? randomBytes(24).toString("base64url"));
  const host = await (cluster ? clusterHost(cluster, graphs) : runHost(checkpointer, graphs));
  const streams = new Streams();
  const parts: ServerParts = { host, access: new Access(host, auth), streams, store };

  const app = new Hono<ServerEnv>();
  app.onError((error, c) => (auth ? redactedFailure : failure)(error, c));
  app.notFound((c) =>
    failure(new HTTPException(404, { message: `${c.req.method} ${c.req.path} is not served here.` }), c),
  );
  app.use(guard({ ...options, token }));
  app.use(limitBody());
  if (more) app.route("/", more(parts));
  app.route("/", operationRoutes(parts));
  app.route("/", langgraphRoutes(parts, version()));
  return {
    fetch: (request, env) => app.fetch(request, env),
    ...(token !== undefined && { token }),
    recover: () => host.recover(),
    close: async () => {
      await host.stop();
      streams.close();
      await cluster?.close();
    },
  };
}

async function runHost(checkpointer: BaseCheckpointSaver, graphs: Host["graphs"]): Promise<Host> {
  const { ledger = (await sqliteSaver(":memory:")).ledger } = checkpointer as Partial<ThreadStore>;
  return new RunHost({ graphs, checkpointer, ledger, traces: tracesFrom(process.env) });
}

async function clusterHost(cluster: Cluster, graphs: Host["graphs"]): Promise<Host> {
  const rooms = await import("../../threads/cluster/index.ts");
  return rooms.clusterHost(cluster, graphs);
}

/** Routes for operators: readiness and metrics. */
function operationRoutes({ host }: ServerParts): Hono<ServerEnv> {
  return new Hono<ServerEnv>()
    .get("/ready", async (c) => {
      const isReady = await host.isReady();
      return c.json({ ready: isReady }, isReady ? 200 : 503);
    })
    .get("/metrics", async (c) => {
      const { metrics } = host;
      return metrics ? c.text(await metrics()) : c.notFound();
    });
}
