import { Hono } from "hono";
import { expect, it } from "vitest";
import type { ServerEnv } from "./context.ts";
import { limitBody } from "./limit-body.ts";

const app = new Hono<ServerEnv>()
  .use(limitBody(4, (c) => c.text("too large", 413)))
  .post("/", async (c) => c.text(await c.req.text()))
  .get("/", (c) => c.text("here"));

function post(body: string, headers: Record<string, string> = {}): Request {
  return new Request("http://localhost/", { method: "POST", body, headers });
}

it("a body is refused where it is larger than allowed, whether its size is said or not", async () => {
  for (const headers of [{}, { "transfer-encoding": "chunked" }]) {
    expect(await (await app.fetch(post("1234", headers))).text()).toBe("1234");
    expect((await app.fetch(post("12345", headers))).status).toBe(413);
  }
  expect((await app.fetch(post("1234", { "content-length": "4" }))).status).toBe(200);
  expect((await app.fetch(post("12345", { "content-length": "5" }))).status).toBe(413);
});

it("a body is not looked at where its size is said, or where there is none", async () => {
  const requests = [post("1234", { "content-length": "4" }), new Request("http://localhost/")];
  for (const request of requests) {
    let isSeen = false;
    Object.defineProperty(request, "body", {
      get: () => {
        isSeen = true;
        return null;
      },
    });
    expect((await app.fetch(request)).status).toBe(200);
    expect(isSeen).toBe(false);
  }
});
