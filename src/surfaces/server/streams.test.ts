import { getEventListeners } from "node:events";
import { Hono } from "hono";
import { expect, it } from "vitest";
import type { ServerEnv } from "./context.ts";
import { EventBody } from "./event-body.ts";
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
  const response = await app.fetch(request);
  expect(await response.text()).toContain(`event: word\ndata: "Hello."`);
  expect(during).toBe(1);
  expect(getEventListeners(request.signal, "abort")).toEqual([]);
});

it("who does not read holds up who writes, and nobody waits for a reader who has gone", async () => {
  let isGone = false;
  const body = new EventBody(() => {
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
  const body = new EventBody(() => {
    isGone = true;
  });
  body.leave();
  await body.send([{ event: "word", data: "1" }]);
  body.end();
  expect(isGone).toBe(true);
  expect(await new Response(body.stream).text()).toBe("");
});

it("a name cannot end its line", async () => {
  const body = new EventBody(() => {});
  void body.send([{ event: "a\r\ndata: b", data: "{}" }]);
  body.end();
  expect(await new Response(body.stream).text()).toBe("event: a  data: b\ndata: {}\n\n");
});
