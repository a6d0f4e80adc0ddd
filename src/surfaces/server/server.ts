import { randomBytes } from "node:crypto";
import { InMemoryStore, type BaseCheckpointSaver, type BaseStore } from "@langchain/langgraph";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HTTPException } from "hono/http-exception";
import { HarnessError } from "../../errors.ts";
import type { HostedGraph } from "../../runs/host/graphs.ts";
import { RunHost } from "../../runs/host/host.ts";
import { tracesFrom } from "../../runs/traces/index.ts";
import { version } from "../../runs/version.ts";
import { sqliteSaver, type ThreadStore } from "../../storage/index.ts";
import { Access, type Auth } from "./access.ts";
import { discreetFailure, failure } from "./answers.ts";
import type { ServerEnv } from "./context.ts";
import { hostedGraph, type GraphSource } from "./graphs.ts";
import { guard } from "./guard/index.ts";
import { langgraphRoutes } from "./langgraph/index.ts";
import type { ServerParts } from "./parts.ts";
import { Streams } from "./streams.ts";

export interface ServerOptions {
  /** The graphs by name: `createDeepAgent`, `makeLeadAgent` or any graph of LangGraph's. */
  graphs: Record<string, GraphSource>;
  /** Where threads are kept. Best is `sqliteSaver(path)` or `postgresSaver(url)`: with it runs are finished that a killed server began. */
  checkpointer: BaseCheckpointSaver;
  /** LangGraph's store, for graphs that use one and for `/store`, such as `sqliteStore(path)`. Default: one in memory. */
  store?: BaseStore;
  /** Tells users apart. Without it there is one, who has the token. */
  auth?: Auth;
  /** What has to be sent as `Authorization: Bearer` or `x-api-key`. Default: a random one. Not used with `auth`. */
  token?: string;
  /** Names that the server is reached by, besides those of this machine to itself. */
  hosts?: readonly string[];
  /** Origins of other sites whose pages may use it, such as `https://chat.example.com`. */
  origins?: readonly string[];
}

/** A server that is not bound to an address: a fetch handler. */
export interface Server {
  fetch: (request: Request) => Response | Promise<Response>;
  /** Absent where `auth` says who it is. */
  token?: string;
  /** Stops its runs where nothing is lost, and ends its streams. */
  close: () => Promise<void>;
}

/** A body above this is a mistake, or an attack. */
const MOST_BYTES = 8 * 1024 * 1024;

/** Serves graphs by LangGraph's HTTP protocol, and goes on with the runs that a killed server left. */
export async function createServer(options: ServerOptions): Promise<Server> {
  const { checkpointer, store = new InMemoryStore(), auth } = options;
  const names = Object.keys(options.graphs);
  if (names.length === 0) throw new HarnessError("invalid-options", "createServer: graphs has none.");
  const graphs = new Map(
    names.map((name) => [name, hostedGraph(name, options.graphs[name]!, { checkpointer, store })]),
  );
  const { server, parts } = await assemble({ ...options, graphs, store, ...(auth && { auth }) });
  await parts.host.recover();
  return server;
}

export interface AssembleOptions extends Omit<ServerOptions, "graphs"> {
  graphs: ReadonlyMap<string, HostedGraph>;
  store: BaseStore;
  isOpen?: boolean;
  /** Routes besides LangGraph's. */
  more?: (parts: ServerParts) => Hono<ServerEnv>;
}

/** The parts of a server, put together. Nothing is run yet. */
export async function assemble(options: AssembleOptions): Promise<{ server: Server; parts: ServerParts }> {
  const { graphs, checkpointer, store, auth, hosts, origins, isOpen, more } = options;
  if (options.token === "") {
    throw new HarnessError("invalid-options", "The token is empty: leave it out for a random one.");
  }
  const token = auth ? undefined : (options.token ?? randomBytes(24).toString("base64url"));
  const { ledger = (await sqliteSaver(":memory:")).ledger } = checkpointer as Partial<ThreadStore>;
  const host = new RunHost({ graphs, checkpointer, ledger, traces: tracesFrom(process.env) });
  const streams = new Streams();
  const parts: ServerParts = { host, access: new Access(host, auth), streams, store };

  const app = new Hono<ServerEnv>();
  app.onError((error, c) => (auth ? discreetFailure : failure)(error, c));
  app.notFound((c) =>
    failure(new HTTPException(404, { message: `${c.req.method} ${c.req.path} is not served here.` }), c),
  );
  app.use(guard({ token, auth, hosts, origins, isOpen }));
  app.use(
    bodyLimit({
      maxSize: MOST_BYTES,
      onError: (c) => failure(new HTTPException(413, { message: "The body is larger than 8 MB." }), c),
    }),
  );
  if (more) app.route("/", more(parts));
  app.route("/", langgraphRoutes(parts, version()));
  const server: Server = {
    fetch: (request) => app.fetch(request),
    ...(token !== undefined && { token }),
    close: async () => {
      await host.stop();
      streams.close();
    },
  };
  return { server, parts };
}
