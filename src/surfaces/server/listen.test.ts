import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Hono } from "hono";
import { afterEach, expect, it } from "vitest";
import { createDeepAgent } from "../../deep/index.ts";
import { sqliteSaver } from "../../storage/index.ts";
import { ScriptedModel } from "../../testing/index.ts";
import { createServer, listen, toNodeHandler, type Server } from "./index.ts";

let close: (() => Promise<void>) | undefined;
afterEach(() => close?.());

const TOKEN = "a token of a test";

async function serverOf(answer: string): Promise<Server> {
  const checkpointer = await sqliteSaver(":memory:");
  const graphs = { agent: createDeepAgent({ model: new ScriptedModel([answer]) }) };
  return createServer({ graphs, checkpointer, token: TOKEN });
}

/** The answer to a run that is posted to a mount. */
async function posted(url: string, headers: Record<string, string> = {}): Promise<string> {
  const body = JSON.stringify({
    assistant_id: "agent",
    input: { messages: [{ role: "user", content: "ü" }] },
  });
  const all = { "x-api-key": TOKEN, "content-type": "application/json", ...headers };
  return (await fetch(`${url}/runs/stream`, { method: "POST", headers: all, body })).text();
}

it.each([
  ["", (request: IncomingMessage) => Promise.resolve(request)],
  [
    ", behind a parser that has read the body",
    async (request: IncomingMessage) =>
      Object.assign(request, { body: JSON.parse(await text(request)) as unknown }),
  ],
])("a server is mounted in an application of Node's%s", async (_, parse) => {
  const server = await serverOf("Mounted.");
  const answer = toNodeHandler(server);
  const http = createHttpServer((request, response) => {
    void parse(request).then((read) => answer(Object.assign(read, { url: read.url!.slice(6) }), response));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  close = async () => {
    await server.close();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  };
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/agent`;
  const events = await posted(url);
  expect(events).toContain("Mounted.");
  expect(events).toContain("ü");
  expect(await posted(url, { "content-type": "text/plain" })).toContain("415");
});

it("a server is mounted in an application of Hono's", async () => {
  const server = await serverOf("Mounted.");
  const app = new Hono().mount("/agent", server.fetch);
  const { url, close: stop } = await listen(app, { port: 0, hostname: "127.0.0.1" });
  close = async () => {
    await server.close();
    await stop();
  };
  expect(await posted(`${url}/agent`)).toContain("Mounted.");
  // Longer than proxies keep a connection that is idle.
  const { headers } = await fetch(`${url}/agent/info`, { headers: { "x-api-key": TOKEN } });
  expect(headers.get("keep-alive")).toBe("timeout=75");
});
