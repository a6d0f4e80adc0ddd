import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { HarnessError } from "../../errors.ts";
import type { Server } from "./server.ts";

/** The address that a server listens on. */
export interface ListenOptions {
  /** 0 picks any free port. */
  port: number;
  hostname: string;
}

/** A server that listens on an address. */
export interface Listening {
  /** For example `http://127.0.0.1:2024`. */
  url: string;
  /** Closes the listener and every connection. The `Server` has a `close` of its own. */
  close: () => Promise<void>;
}

/** Proxies keep idle connections for 60 s: a server that closes them first fails the request that is just being sent. */
const KEEP_ALIVE_MS = 75_000;

/**
 * Creates a handler for Express or Connect, also behind a body parser (`express.json()`).
 *
 * @example
 * ```ts
 * import { createServer as createHttpServer } from "node:http";
 * import { createDeepAgent } from "holdfast";
 * import { createServer, toNodeHandler } from "holdfast/server";
 * import { sqliteSaver } from "holdfast/storage";
 *
 * const graphs = { agent: createDeepAgent({ model: "openai:gpt-5.1" }) };
 * const server = await createServer({ graphs, checkpointer: await sqliteSaver("threads.db") });
 * createHttpServer(toNodeHandler(server)).listen(2024); // or app.use(toNodeHandler(server))
 * ```
 */
export function toNodeHandler(server: Pick<Server, "fetch">): RequestListener {
  const answer = getRequestListener((request, env) => server.fetch(request, env));
  return (request: IncomingMessage & { body?: unknown; rawBody?: Buffer }, response) => {
    const { body, readableDidRead } = request;
    // Hono's adapter reads `rawBody` when the stream has been consumed.
    if (readableDidRead && body !== undefined) request.rawBody ??= Buffer.from(JSON.stringify(body));
    void answer(request, response);
  };
}

/**
 * Serves requests on an address. Throws `invalid-options` if the address is not available.
 *
 * @example
 * ```ts
 * import { createDeepAgent } from "holdfast";
 * import { createServer, listen } from "holdfast/server";
 * import { sqliteSaver } from "holdfast/storage";
 *
 * const graphs = { agent: createDeepAgent({ model: "openai:gpt-5.1" }) };
 * const server = await createServer({ graphs, checkpointer: await sqliteSaver(":memory:") });
 * const { url, close } = await listen(server, { port: 0, hostname: "127.0.0.1" });
 * ```
 */
export async function listen(
  server: Pick<Server, "fetch">,
  { port, hostname }: ListenOptions,
): Promise<Listening> {
  const http = createHttpServer({ keepAliveTimeout: KEEP_ALIVE_MS }, toNodeHandler(server));
  await new Promise<void>((resolve, reject) => {
    http.once("error", (error: NodeJS.ErrnoException) => {
      const reason =
        error.code === "EADDRINUSE" ? "is in use: choose another, or 0 for any free one" : error.message;
      reject(new HarnessError("invalid-options", `--port: ${hostname}:${port} ${reason}.`, { cause: error }));
    });
    http.listen(port, hostname, resolve);
  });
  const { port: bound } = http.address() as AddressInfo;
  const name = hostname.includes(":") ? `[${hostname}]` : hostname;
  return {
    url: `http://${name}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}
