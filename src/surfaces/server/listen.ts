import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { HarnessError } from "../../errors.ts";
import type { Server } from "./server.ts";

/** The address that a server listens on. */
export interface ListenOptions {
  /** 0 takes any that is free. */
  port: number;
  hostname: string;
}

/** A server at an address. */
export interface Listening {
  /** Such as `http://127.0.0.1:2024`. */
  url: string;
  /** Closes every connection; the server itself is closed by itself. */
  close: () => Promise<void>;
}

/** Makes a handler to mount in Express or Connect, also behind a parser that has read the body (`express.json()`). */
export function toNodeHandler(server: Pick<Server, "fetch">): RequestListener {
  const answer = getRequestListener((request, env) => server.fetch(request, env));
  return (request: IncomingMessage & { body?: unknown; rawBody?: Buffer }, response) => {
    const { body, readableDidRead } = request;
    // Hono's adapter takes `rawBody` where the stream has been read.
    if (readableDidRead && body !== undefined) request.rawBody ??= Buffer.from(JSON.stringify(body));
    void answer(request, response);
  };
}

/** Answers requests to an address. Throws `invalid-options` when it cannot be had. */
export async function listen(
  server: Pick<Server, "fetch">,
  { port, hostname }: ListenOptions,
): Promise<Listening> {
  const http = createHttpServer(toNodeHandler(server));
  await new Promise<void>((resolve, reject) => {
    http.once("error", (error: NodeJS.ErrnoException) => {
      const why =
        error.code === "EADDRINUSE" ? "is in use: choose another, or 0 for any free one" : error.message;
      reject(new HarnessError("invalid-options", `--port: ${hostname}:${port} ${why}.`, { cause: error }));
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
