import { getEventListeners } from "node:events";
import { Hono } from "hono";
import { expect, it } from "vitest";
import type { ServerEnv } from "./context.ts";
import { Streams } from "./streams.ts";

it("nothing of a stream is left at its request once it has ended", async () => {
  const streams = new Streams();
  let during = 0;
  const request = new Request("http://localhost/");
  const app = new Hono<ServerEnv>().get("/", (c) =>
    streams.open(c, async (stream) => {
      during = getEventListeners(request.signal, "abort").length;
      await stream.writeSSE({ event: "word", data: "Hello." });
    }),
  );
  const response = await app.fetch(request);
  expect(await response.text()).toContain("event: word\ndata: Hello.");
  expect(during).toBe(1);
  expect(getEventListeners(request.signal, "abort")).toEqual([]);
});
