import { once } from "node:events";
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Hono } from "hono";
import { afterEach, expect, it } from "vitest";
import type { ServerEnv } from "./context.ts";
import { EventResponse } from "./event-response.ts";
import { listen } from "./listen.ts";
import { Streams } from "./streams.ts";

const closing: (() => unknown)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

/** The answer of a server to one request, and the request's own end of it. */
async function exchange(): Promise<{ outgoing: ServerResponse; request: ReturnType<typeof get> }> {
  const server = createServer();
  closing.push(() => server.close().closeAllConnections());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const request = get({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" }).on(
    "error",
    () => {},
  );
  const [, outgoing] = (await once(server, "request")) as [IncomingMessage, ServerResponse];
  return { outgoing, request };
}

it("an answer of Node's own server has the headers of the request's context, and its events in order", async () => {
  const streams = new Streams();
  const app = new Hono<ServerEnv>().get("/", (c) => {
    c.header("Location", "/there");
    return streams.open(c, async (stream) => {
      for (const data of ["1", "2"]) await stream.send([{ event: "n", data }]);
    });
  });
  const { url, close } = await listen(
    { fetch: app.fetch, close: async () => {} },
    { port: 0, hostname: "127.0.0.1" },
  );
  closing.push(close);
  const response = await fetch(url);
  expect(response.headers.get("location")).toBe("/there");
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  expect(await response.text()).toBe(": open\n\nevent: n\ndata: 1\n\nevent: n\ndata: 2\n\n");
});

it("who does not read holds up who writes to Node's answer, and nobody waits for a reader who has gone", async () => {
  const { outgoing, request } = await exchange();
  let isGone = false;
  const body = new EventResponse(outgoing, new Headers(), () => {
    isGone = true;
  });
  const writing = (async () => {
    let sent = 0;
    // More than all buffers on the way take.
    for (; sent < 1000 && !outgoing.destroyed; sent += 1) await body.write("x".repeat(100_000));
    return sent;
  })();
  await once(request, "response");
  while (!outgoing.writableNeedDrain) await new Promise(setImmediate);
  request.destroy();
  expect(await writing).toBeLessThan(1000);
  expect(isGone).toBe(true);
});

it("who went before the answer began is told of", async () => {
  const { outgoing, request } = await exchange();
  request.destroy();
  await once(outgoing, "close");
  let isGone = false;
  const body = new EventResponse(outgoing, new Headers(), () => {
    isGone = true;
  });
  expect(isGone).toBe(true);
  await body.send([{ event: "word", data: "1" }]);
  body.end();
  expect(outgoing.headersSent).toBe(false);
});
