import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { serve, type Served } from "../../../../test/helpers/page/graph-server.ts";
import { createDeepAgent } from "../../../deep/index.ts";
import { ScriptedModel } from "../../../testing/index.ts";

let served: Served;
const FRIEND = "https://chat.example.com";

beforeAll(async () => {
  const graph = createDeepAgent({ model: new ScriptedModel(["Hello."], { loop: true }) });
  served = await serve({ agent: graph }, { origins: [FRIEND] });
});
afterAll(() => served.close());

interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string;
  /** Whether the body is announced and never sent. */
  isCut?: boolean;
}

/** Sends a request as it is: `fetch` would not lie about the host. */
function send({
  method = "POST",
  path = "/threads/search",
  headers = {},
  body,
  isCut = false,
}: Sent): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  const { hostname, port } = new URL(served.url);
  return new Promise((resolve, reject) => {
    const length =
      body === undefined || "content-length" in headers
        ? {}
        : { "content-length": String(Buffer.byteLength(body)) };
    const sent = httpRequest(
      { hostname, port, method, path, headers: { ...headers, ...length } },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
        response.on("end", () => {
          resolve({ status: response.statusCode!, headers: response.headers, text });
          if (isCut) sent.destroy();
        });
      },
    );
    sent.on("error", reject);
    if (isCut) sent.flushHeaders();
    else sent.end(body);
  });
}

const good = () => ({ "x-api-key": served.token, "content-type": "application/json" });

it("the server refuses every route without the token", async () => {
  const routes = [
    "GET /info",
    "POST /threads",
    "GET /threads/x",
    "POST /runs/stream",
    "GET /store/items",
    "DELETE /threads/x",
    "GET /nothing",
    "POST /threads/x/commands",
    "GET /runs/x/stream",
  ];
  for (const route of routes) {
    const [method, path] = route.split(" ") as [string, string];
    const attempts: Record<string, string>[] = [
      {},
      { "x-api-key": "" },
      { authorization: "Bearer" },
      { authorization: `Bearer ${served.token}x` },
      { authorization: `Basic ${served.token}` },
      { cookie: `token=${served.token}` },
    ];
    for (const headers of attempts) {
      const { status, text } = await send({
        method,
        path,
        headers: { "content-type": "application/json", ...headers },
        ...(method !== "GET" && { body: "{}" }),
      });
      expect(status, `${route} ${JSON.stringify(headers)}`).toBe(401);
      expect(text).not.toContain(served.token);
    }
  }
  expect((await send({ method: "GET", path: `/info?token=${served.token}` })).status).toBe(401);
  expect(
    (await send({ method: "GET", path: "/info", headers: { authorization: `Bearer ${served.token}` } }))
      .status,
  ).toBe(200);
  expect((await send({ method: "GET", path: "/ok" })).status).toBe(200);
});

it("the server refuses an empty token, which would let everyone in", async () => {
  const graph = createDeepAgent({ model: new ScriptedModel(["Hello."]) });
  await expect(serve({ agent: graph }, { token: "" })).rejects.toThrow(/The token is empty/);
});

it("the server recognizes a proxy's name in any letter case", async () => {
  const graph = createDeepAgent({ model: new ScriptedModel(["Hello."]) });
  const proxied = await serve({ agent: graph }, { hosts: ["Chat.Example.com"] });
  const { port } = new URL(proxied.url);
  const status = await new Promise((resolve) => {
    const headers = { host: "chat.example.com" };
    httpRequest({ port, path: "/ok", headers }, (response) => resolve(response.resume().statusCode)).end();
  });
  await proxied.close();
  expect(status).toBe(200);
});

it("the server refuses foreign host names, so that no other site can point at it", async () => {
  for (const host of [
    "evil.example.com",
    "evil.example.com:80",
    "127.0.0.1.evil.example.com",
    "localhost.evil.example.com",
    "0.0.0.0",
    "10.0.0.1",
  ]) {
    expect((await send({ headers: { ...good(), host }, body: "{}" })).status, host).toBe(421);
  }
  for (const host of ["localhost:1234", "LOCALHOST", "[::1]:99", "127.0.0.1"]) {
    expect((await send({ headers: { ...good(), host }, body: "{}" })).status, host).toBe(200);
  }
});

it("a page of another site is refused even with the token, and may not ask either", async () => {
  for (const origin of [
    "https://evil.example.com",
    "null",
    "http://localhost:3000",
    "http://127.0.0.1",
    "file://",
    `${FRIEND}.evil.example.com`,
  ]) {
    for (const method of ["POST", "OPTIONS"]) {
      const { status, headers } = await send({ method, headers: { ...good(), origin }, body: "{}" });
      expect(status, `${method} ${origin}`).toBe(403);
      expect(headers["access-control-allow-origin"]).toBeUndefined();
    }
  }
  const own = await send({ headers: { ...good(), origin: served.url }, body: "{}" });
  expect(own.status).toBe(200);
  expect(own.headers["access-control-allow-origin"]).toBeUndefined();
});

it("an allowed page may send requests with the token, and reads where to reconnect", async () => {
  const asked = await send({
    method: "OPTIONS",
    headers: {
      origin: FRIEND,
      "access-control-request-method": "POST",
      "access-control-request-headers": "x-api-key",
    },
  });
  expect(asked.status).toBe(204);
  expect(asked.headers).toMatchObject({
    "access-control-allow-origin": FRIEND,
    "access-control-allow-headers": "x-api-key",
  });
  expect(asked.headers["access-control-allow-credentials"]).toBeUndefined();
  expect(
    (await send({ headers: { origin: FRIEND, "content-type": "application/json" }, body: "{}" })).status,
  ).toBe(401);
  const { status, headers } = await send({ headers: { ...good(), origin: FRIEND }, body: "{}" });
  expect(status).toBe(200);
  expect(headers["access-control-expose-headers"]).toBe(
    "Content-Location, Location, X-Pagination-Next, X-Pagination-Total",
  );
});

it("the server reads only JSON of at most eight megabytes", async () => {
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "text/json",
  ]) {
    const { status } = await send({ headers: { ...good(), "content-type": type }, body: "{}" });
    expect(status, type).toBe(415);
  }
  const { "content-type": _, ...untyped } = good();
  expect((await send({ headers: untyped, body: "{}" })).status).toBe(415);
  const nine = 9 * 1024 * 1024;
  expect((await send({ headers: { ...good(), "content-length": String(nine) }, isCut: true })).status).toBe(
    413,
  );
  const endless = new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(65_536)) });
  const streamed = fetch(`${served.url}/threads`, {
    method: "POST",
    headers: good(),
    body: endless,
    duplex: "half",
  } as object);
  // Whoever is still sending may find the connection closed before the answer.
  expect(
    await streamed.then(
      ({ status }) => status,
      () => 413,
    ),
  ).toBe(413);
  for (const body of ["{", "[]", '"x"', "null", "{} {}"]) {
    const { status, text } = await send({ headers: good(), body });
    expect(status, body).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ error: "bad-request", message: "The body is no JSON object." });
  }
});

it("the server answers invalid names and values of wrong types with a clear error", async () => {
  const deep: object = JSON.parse(`${'{"a":'.repeat(1500)}1${"}".repeat(1500)}`) as object;
  const cases: [string, string, object, number][] = [
    ["POST", "/threads", { thread_id: "../../etc/passwd" }, 422],
    ["POST", "/threads", { thread_id: "a\nb" }, 422],
    ["GET", "/threads/..%2f..%2fetc", {}, 422],
    ["POST", "/threads/x/runs", { assistant_id: "nobody" }, 404],
    ["POST", "/threads/new-one/runs", { assistant_id: "agent", input: "words" }, 422],
    ["POST", "/threads/new-one/runs", { assistant_id: "agent", multitask_strategy: "fight" }, 422],
    ["POST", "/threads/new-one/runs", { input: {} }, 422],
    ["POST", "/threads/new-one/stream/events", { channels: "all" }, 422],
    ["PUT", "/store/items", { namespace: "x", key: 1 }, 422],
    ["PUT", "/store/items", { namespace: ["a.b"], key: "k", value: {} }, 422],
    ["POST", "/threads/search", { select: 5 }, 422],
    ["POST", "/threads/prune", { thread_ids: "new-one" }, 422],
    ["POST", "/threads", { thread_id: "old-one" }, 200],
    ["POST", "/threads/old-one/state", { values: { messages: [] }, as_node: "nobody" }, 422],
    ["POST", "/threads/old-one/state", { values: { messages: [] }, as_node: "__proto__" }, 422],
    ["POST", "/threads/old-one/state", { values: { messages: [{ role: "x" }] } }, 422],
    ["POST", "/threads/old-one/state", { values: { messages: 5 } }, 422],
    ["POST", "/threads", { metadata: deep }, 422],
    ["POST", "/threads/search", { limit: deep }, 422],
    ["POST", "/threads/old-one/runs", { assistant_id: "agent", input: deep }, 422],
    ["GET", "/threads/new-one/runs/unknown", {}, 404],
    ["POST", "/crons", {}, 404],
  ];
  for (const [method, path, body, expected] of cases) {
    const text = method === "GET" ? {} : { body: JSON.stringify(body) };
    const { status, text: answer } = await send({ method, path, headers: good(), ...text });
    expect(status, `${method} ${path} ${answer}`).toBe(expected);
    if (expected === 200) continue;
    expect(JSON.parse(answer)).toMatchObject({
      error: expect.any(String) as string,
      message: expect.any(String) as string,
    });
  }
});

it("every list route answers an invalid list parameter with one line", async () => {
  await send({ path: "/threads", headers: good(), body: `{ "thread_id": "listed" }` });
  const bodies = [
    "/threads/search",
    "/assistants/search",
    "/threads/listed/history",
    "/store/items/search",
    "/store/namespaces",
  ];
  const queries = ["/threads/listed/runs", "/threads/listed/history"];
  for (const [name, value] of [
    ["limit", "ten"],
    ["limit", -1],
    ["limit", 1.5],
    ["offset", [1]],
    ["offset", "5"],
  ] as const) {
    for (const path of bodies) {
      const { status, text } = await send({ path, headers: good(), body: JSON.stringify({ [name]: value }) });
      expect([path, status, (JSON.parse(text) as { message: string }).message]).toEqual([
        path,
        422,
        `${name}: ${JSON.stringify(value)} is no whole number of 0 or more.`,
      ]);
    }
  }
  for (const path of queries) {
    const asked = (query: string) => send({ method: "GET", path: `${path}?${query}`, headers: good() });
    expect((await asked("limit=5&offset=0")).status).toBe(200);
    for (const query of ["limit=ten", "limit=-1", "offset=1.5"]) {
      const { status, text } = await asked(query);
      expect([path, query, status]).toEqual([path, query, 422]);
      expect(text).toContain("is no whole number of 0 or more.");
    }
  }
});

it("every answer has security headers, and a page has no inline scripts", async () => {
  const { headers } = await send({ headers: good(), body: "{}" });
  expect(headers).toMatchObject({
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
  });
  expect(headers["set-cookie"]).toBeUndefined();
  const page = await send({ method: "GET", path: "/" });
  const policy = String(page.headers["content-security-policy"]);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(page.headers["x-frame-options"]).toBe("DENY");
});

it("the server refuses too many streams, and a closed stream frees its place", async () => {
  const open = (): Promise<Response> =>
    fetch(`${served.url}/threads/streams/stream/events`, {
      method: "POST",
      headers: good(),
      body: JSON.stringify({ channels: ["values"] }),
    });
  const streams: Response[] = [];
  for (let n = 0; n < 128; n += 1) streams.push(await open());
  expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
  const refused = await open();
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ error: "too-many-streams" });
  await Promise.all(streams.map(({ body }) => body!.cancel()));
  for (;;) {
    const again = await open();
    const { status } = again;
    await again.body!.cancel();
    if (status === 200) break;
  }
});

it("a user at the limit of streams and bodies neither blocks others nor starts runs", async () => {
  const authenticate = (request: Request) => ({ id: request.headers.get("x-user")! });
  const graph = createDeepAgent({ model: new ScriptedModel(["Hello."], { loop: true }) });
  const shared = await serve({ agent: graph }, { auth: { authenticate } });
  const post = (user: string, path: string, body: object): Promise<Response> =>
    fetch(`${shared.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-user": user },
      body: JSON.stringify(body),
    });
  const open = (user: string) => post(user, `/threads/of-${user}/stream/events`, { channels: ["values"] });
  const streams = await Promise.all(Array.from({ length: 140 }, () => open("ann")));
  expect(streams.filter(({ status }) => status === 200)).toHaveLength(128);
  const input = { messages: [{ role: "user", content: "Hi" }] };
  const run = { assistant_id: "agent", input, if_not_exists: "create" };
  expect((await post("ann", "/threads/of-ann/runs/stream", run)).status).toBe(429);
  const runs = await fetch(`${shared.url}/threads/of-ann/runs`, { headers: { "x-user": "ann" } });
  expect(await runs.json()).toEqual([]);
  const other = await open("bob");
  expect(other.status).toBe(200);
  await Promise.all([...streams, other].map(({ body }) => body!.cancel()));

  const { port } = new URL(shared.url);
  const half = (): Promise<number | "reading"> =>
    new Promise((resolve, reject) => {
      const headers = {
        "content-type": "application/json",
        "x-user": "ann",
        "content-length": String(8 * 2 ** 20),
      };
      const sent = httpRequest({ port, path: "/threads", method: "POST", headers }, (response) => {
        resolve(response.statusCode!);
        sent.destroy();
      });
      sent.on("error", reject).on("continue", () => resolve("reading"));
      sent.setHeader("expect", "100-continue");
      sent.flushHeaders();
      halves.push(sent);
    });
  const halves: ReturnType<typeof httpRequest>[] = [];
  for (let n = 0; n < 8; n += 1) expect(await half()).toBe("reading");
  await vi.waitFor(async () => expect((await post("ann", "/threads", {})).status).toBe(503), 120_000);
  expect((await post("bob", "/threads", {})).status).toBe(200);
  for (const sent of halves) sent.on("error", () => {}).destroy();
  await vi.waitFor(async () => expect((await post("ann", "/threads", {})).status).toBe(200), 120_000);
  await shared.close();
});

it("a stream whose reader has gone before it is answered takes no room", async () => {
  const authenticate = async (request: Request): Promise<{ id: string }> => {
    const { signal } = request;
    if (request.headers.has("x-leaves") && !signal.aborted) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    }
    return { id: "ann" };
  };
  const graph = createDeepAgent({ model: new ScriptedModel(["Hello."]) });
  const shared = await serve({ agent: graph }, { auth: { authenticate } });
  const open = (more: object): Promise<Response> =>
    fetch(`${shared.url}/threads/streams/stream/events`, {
      method: "POST",
      headers: { "content-type": "application/json", ...more },
      body: JSON.stringify({ channels: ["values"] }),
      signal: AbortSignal.timeout("x-leaves" in more ? 300 : 60_000),
    });
  await Promise.allSettled(Array.from({ length: 130 }, () => open({ "x-leaves": "yes" })));
  const { status, body } = await open({});
  await body!.cancel();
  await shared.close();
  expect(status).toBe(200);
});
