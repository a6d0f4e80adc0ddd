import type { Readable, Writable } from "node:stream";
import type { ThreadStore } from "../../storage/index.ts";
import type { Host } from "../../threads/host/index.ts";
import { loadSdk } from "./sdk.ts";
import { mcpServer } from "./server.ts";
import { Threads } from "./threads.ts";

export interface McpHost {
  host: Host;
  saver: ThreadStore;
}

/** Serves MCP over two streams until the client disconnects. Throws `missing-package`. */
export async function serveMcp(
  { host, saver }: McpHost,
  { input, output, signal }: { input: Readable; output: Writable; signal: AbortSignal },
): Promise<void> {
  const sdk = await loadSdk();
  const { serveStdio, StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
  const threads = new Threads(host, saver);
  const ended = new Promise<void>((resolve) => {
    input.once("close", resolve).once("end", resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const connection = serveStdio(() => mcpServer(sdk, threads), {
    transport: new StdioServerTransport(input, output),
  });
  await ended;
  await connection.close();
}

/** Creates a handler for MCP over HTTP. Throws `missing-package`. */
export async function mcpHandler({ host, saver }: McpHost): Promise<(request: Request) => Promise<Response>> {
  const sdk = await loadSdk();
  const threads = new Threads(host, saver);
  return sdk.createMcpHandler(() => mcpServer(sdk, threads)).fetch;
}
