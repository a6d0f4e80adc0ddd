import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { sqliteSaver, type SqliteSaver } from "../../../src/storage/index.ts";
import {
  createServer,
  listen,
  type GraphSource,
  type ServerOptions,
} from "../../../src/surfaces/server/index.ts";

/** A server of this process at an address of its own, and the public client of it. */
export interface Served {
  url: string;
  token: string;
  client: Client;
  saver: SqliteSaver;
  /** Sends JSON, with the token, and answers with what came back. */
  send: (method: string, path: string, body?: unknown) => Promise<{ status: number; body: unknown }>;
  close: () => Promise<void>;
}

export async function serve(
  graphs: Record<string, GraphSource>,
  options: Partial<ServerOptions> & { path?: string } = {},
): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-served-"));
  const saver = await sqliteSaver(options.path ?? join(folder, "threads.db"));
  const server = await createServer({ graphs, checkpointer: saver, ...options });
  const { url, close } = await listen(server, { port: 0, hostname: "127.0.0.1" });
  const { token = "" } = server;
  return {
    url,
    token,
    client: new Client({ apiUrl: url, apiKey: token, callerOptions: { maxRetries: 0 } }),
    saver,
    send: async (method, path, body) => {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
    },
    close: async () => {
      await server.close();
      await close();
      saver.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function collected<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of stream) all.push(one);
  return all;
}
