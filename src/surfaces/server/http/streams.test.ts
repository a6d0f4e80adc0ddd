import { getEventListeners, once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { Hono } from "hono";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ServerEnv } from "./context.ts";
import { ResponseBody, StreamBody } from "./event-body.ts";
import { Streams } from "./streams.ts";

it("nothing of a stream is left at its request once it has ended", async () => {
  const streams = new Streams();
  let during = 0;
  const request = new Request("http://localhost/");
  const app = new Hono<ServerEnv>().get("/", (c) =>
    streams.open(c, async (stream) => {
      during = getEventListeners(request.signal, "abort").length;
      await stream.send([{ event: "word", data: JSON.stringify("Hello.") }]);
    }),
  );
  const response = await app.fetch(request, {});
  expect(await response.text()).toContain(`event: word\ndata: "Hello."`);
  expect(during).toBe(1);
  expect(getEventListeners(request.signal, "abort")).toEqual([]);
});

it("a slow reader pauses the writer, and the writer does not wait for a lost reader", async () => {
  let isGone = false;
  const body = new StreamBody(() => {
    isGone = true;
  });
  const reader = body.stream.getReader();
  const sent: number[] = [];
  const writing = (async () => {
    for (let id = 1; id <= 5; id += 1) {
      await body.send([{ id, event: "n", data: String(id) }]);
      sent.push(id);
    }
  })();
  await new Promise(setImmediate);
  expect(sent).toEqual([]);
  const { value } = await reader.read();
  expect(new TextDecoder().decode(value)).toBe("event: n\ndata: 1\nid: 1\n\n");
  await new Promise(setImmediate);
  expect(sent).toEqual([1]);
  await reader.cancel();
  await writing;
  expect(isGone).toBe(true);
});

it("an answer whose reader went before it began ends, and says nothing", async () => {
  let isGone = false;
  const body = new StreamBody(() => {
    isGone = true;
  });
  body.abort();
  await body.send([{ event: "word", data: "1" }]);
  body.end();
  expect(isGone).toBe(true);
  expect(await new Response(body.stream).text()).toBe("");
});

describe("an answer of Node's own", () => {
  /** Asks for an answer and does not read it, or goes. */
  async function asked(): Promise<{ response: ServerResponse; leave: () => void; read: () => void }> {
    const http = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void http.close());
    await once(http, "listening");
    const socket = connect((http.address() as AddressInfo).port, "127.0.0.1").pause();
    socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
    const [, response] = (await once(http, "request")) as [unknown, ServerResponse];
    return { response, leave: () => socket.destroy(), read: () => socket.resume() };
  }

  it("pauses the writer while the reader does not read, and continues when it reads", async () => {
    const { response, read, leave } = await asked();
    const body = new ResponseBody(response, new Headers(), () => {});
    let isWritten = false;
    const writing = (async () => {
      await body.write("x".repeat(64 * 1024 * 1024));
      isWritten = true;
    })();
    await new Promise(setImmediate);
    expect(isWritten).toBe(false);
    read();
    await writing;
    leave();
  });

  it("releases the writer when its reader has left, also before the answer began", async () => {
    const { response, leave } = await asked();
    const isGone = new Promise<void>((resolve) => {
      const body = new ResponseBody(response, new Headers(), resolve);
      void body.write("x".repeat(64 * 1024 * 1024)).then(() => body.end());
    });
    leave();
    await isGone;
    let isToldLater = false;
    const later = new ResponseBody(response, new Headers(), () => {
      isToldLater = true;
    });
    await later.write("word");
    later.end();
    expect(isToldLater).toBe(true);
  });

  it("takes the events of a stream with the headers of its answer, where one is given", async () => {
    const streams = new Streams();
    const app = new Hono<ServerEnv>().get("/", (c) => {
      c.header("x-word", "Hello.");
      return streams.open(c, (stream) => stream.send([{ id: 1, event: "word", data: "1" }]));
    });
    const http = createServer((_, outgoing) => {
      void app.fetch(new Request("http://localhost/"), { outgoing });
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void http.close());
    await once(http, "listening");
    const response = await fetch(`http://127.0.0.1:${(http.address() as AddressInfo).port}/`);
    expect(response.headers.get("x-word")).toBe("Hello.");
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(await response.text()).toBe(": open\n\nevent: word\ndata: 1\nid: 1\n\n");
  });
});

it("a name cannot end its line", async () => {
  const body = new StreamBody(() => {});
  void body.send([{ event: "a\r\ndata: b", data: "{}" }]);
  body.end();
  expect(await new Response(body.stream).text()).toBe("event: a  data: b\ndata: {}\n\n");
});
