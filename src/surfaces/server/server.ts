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
  /** The graphs by name: `createDeepAgent`, `makeLeadAgent` or any graph of LangGraph's. */
  graphs: Record<string, GraphSource>;
  /** Where threads are kept. Best is `sqliteSaver(path)` or `postgresSaver(url)`: with it runs are finished that a killed server began. */
  checkpointer?: BaseCheckpointSaver;
  /**
   * The address of a PostgreSQL database that servers and workers share, in the place of a checkpointer. Runs are done
   * by the workers that `createWorker` or `holdfast worker` starts on it, in this process or in others.
   */
  database?: string;
  /**
   * Whether the page is served, too, at `/`: plans, edits, questions, files and going back in time, for threads on these
   * graphs. Needs `sqliteSaver`, `postgresSaver` or a database.
   */
  page?: boolean;
  /** LangGraph's store, for graphs that use one and for `/store`, such as `sqliteStore(path)`. Default: that of the database, or one in memory. */
  store?: BaseStore;
  /** Tells users apart. Without it there is one, who has the token. */
  auth?: Auth;
  /** The token to send as `Authorization: Bearer` or `x-api-key`. Default: a random one. Not used with `auth`. */
  token?: string;
  /** Names that the server is reached by, besides those of this machine to itself. */
  hosts?: readonly string[];
  /** Origins of other sites whose pages may use it, such as `https://chat.example.com`. */
  origins?: readonly string[];
}

/** A server that is not bound to an address: a fetch handler. */
export interface Server {
  /** `env` is what Hono's adapters pass on: with that of Node's, streams are written to Node's answer itself. */
  fetch: (request: Request, env?: object) => Response | Promise<Response>;
  /** Absent where `auth` says who it is. */
  token?: string;
  /** Stops its runs where nothing is lost, and ends its streams. */
  close: () => Promise<void>;
}

/** Serves graphs by LangGraph's HTTP protocol, and goes on with the runs that a killed server left. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const { database } = options;
  if ((options.checkpointer === undefined) === (database === undefined)) {
    throw new HarnessError("invalid-options", "createServer: give it a checkpointer or a database.");
  }
  const build = async (cluster?: Cluster): Promise<Server> => {
    const checkpointer = options.checkpointer ?? cluster!.store;
    const store = options.store ?? cluster?.memories ?? new InMemoryStore();
    const graphs = hostedGraphs("createServer", options.graphs, { checkpointer, store });
    const more = options.page ? pageOf(checkpointer) : undefined;
    const { recover, ...server } = await assemble({ ...options, checkpointer, graphs, store, cluster, more });
    await recover();
    return server;
  };
  return database === undefined ? build() : onCluster(database, build);
}

/** The page, for threads in a store of ours: others cannot be listed. */
function pageOf(checkpointer: BaseCheckpointSaver): (parts: ServerParts) => Hono<ServerEnv> {
  if (!("listThreads" in checkpointer)) {
    const message = "createServer: the page needs sqliteSaver, postgresSaver or a database.";
    throw new HarnessError("invalid-options", message);
  }
  return (parts) => pageRoutes(parts, { saver: checkpointer as ThreadStore });
}

/**
 * Opens a database that servers and workers share, for what is built on it; closes it where that fails. What it needs is
 * loaded by who uses it.
 */
export async function onCluster<T>(database: string, build: (cluster: Cluster) => Promise<T>): Promise<T> {
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
  /** Does the runs by workers that share a database. Closed with the server. */
  cluster?: Cluster | undefined;
  store: BaseStore;
  /** Routes besides LangGraph's. */
  more?: ((parts: ServerParts) => Hono<ServerEnv>) | undefined;
}

/** A server that runs nothing yet. */
export interface AssembledServer extends Server {
  /** Goes on with the runs that a killed server left. Best once there is an address: without one they are cut short again. */
  recover: () => Promise<void>;
}

/** Puts the parts of a server together. */
export async function assemble(options: AssembleOptions): Promise<AssembledServer> {
  const { graphs, checkpointer, store, auth, more, cluster } = options;
  if (options.token === "") {
    throw new HarnessError("invalid-options", "The token is empty: leave it out for a random one.");
  }
  const token = auth ? undefined : (options.token ?? randomBytes(24).toString("base64url"));
  const host = cluster ? await hostOf(cluster, graphs) : await ownHost(checkpointer, graphs);
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

async function ownHost(checkpointer: BaseCheckpointSaver, graphs: Host["graphs"]): Promise<Host> {
  const { ledger = (await sqliteSaver(":memory:")).ledger } = checkpointer as Partial<ThreadStore>;
  return new RunHost({ graphs, checkpointer, ledger, traces: tracesFrom(process.env) });
}

async function hostOf(cluster: Cluster, graphs: Host["graphs"]): Promise<Host> {
  const { clusterHost } = await import("../../threads/cluster/index.ts");
  return clusterHost(cluster, graphs);
}

/** Routes for operators: readiness, and metrics. */
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
