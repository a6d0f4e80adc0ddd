import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { retryingFetch } from "./retrying-fetch.ts";

type Answer = (response: ServerResponse) => unknown;

const JSON_TYPE = { "content-type": "application/json" };
const good: Answer = (response) => response.writeHead(200, JSON_TYPE).end(`{"choices":[]}`);
const status =
  (code: number, headers: Record<string, string> = {}, body = "{}"): Answer =>
  (response) =>
    response.writeHead(code, { ...JSON_TYPE, "retry-after": "0", ...headers }).end(body);

describe("a patient fetch", () => {
  let server: Server;
  let url: string;
  /** What the server does, one request after the other; the last answer stays. */
  let script: Answer[];
  let requests: number;

  beforeEach(async () => {
    requests = 0;
    server = createServer((request, response) => {
      const answer = script[Math.min(requests, script.length - 1)]!;
      requests += 1;
      request.resume().on("end", () => answer(response));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`;
  });

  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  const send = async (
    answers: Answer[],
    maxRetries = 5,
    { timeout = 10_000, ...init }: RequestInit & { timeout?: number } = {},
  ): Promise<Response> => {
    script = answers;
    return retryingFetch({ maxRetries, timeout })(url, { method: "POST", body: "{}", ...init });
  };

  it.each([408, 429, 500, 502, 503, 504, 529])("sends a request again after %i", async (code) => {
    expect((await send([status(code), status(code), good])).status).toBe(200);
    expect(requests).toBe(3);
  });

  it.each([400, 401, 402, 403, 404, 413, 422, 501])("does not retry after HTTP %i", async (code) => {
    expect((await send([status(code), good])).status).toBe(code);
    expect(requests).toBe(1);
  });

  it.each([
    ["the account is empty", status(429, {}, `{"error":{"code":"insufficient_quota"}}`)],
    ["the request is too long", status(500, {}, `{"error":"the request exceeds the context size"}`)],
    ["the wait would be long", status(429, { "retry-after": "3600" })],
    ["the wait would be until a far date", status(429, { "retry-after": "Fri, 01 Jan 2100 00:00:00 GMT" })],
    ["the server says so", status(500, { "x-should-retry": "false" })],
  ])("does not when %s", async (_, answer) => {
    await send([answer, good]);
    expect(requests).toBe(1);
  });

  it.each([
    ["in milliseconds", { "retry-after-ms": "1", "retry-after": "3600" }],
    ["by a date", { "retry-after": "Thu, 01 Jan 2015 00:00:00 GMT" }],
  ])("waits as long as the server asks %s", async (_, headers) => {
    expect((await send([status(429, headers), good])).status).toBe(200);
  });

  it("waits a little when the server does not say how long", async () => {
    const silent: Answer = (response) => response.writeHead(503, JSON_TYPE).end("{}");
    expect((await send([silent, good], 1)).status).toBe(200);
  });

  it("hands the last answer on with its body", async () => {
    const response = await send([status(500, {}, `{"error":"it broke"}`)], 2);
    expect(await response.json()).toEqual({ error: "it broke" });
    expect(requests).toBe(3);
  });

  it("sends a request again when the connection is cut within the answer", async () => {
    const cut: Answer = (response) =>
      response.writeHead(200, JSON_TYPE).write("{", () => void response.destroy());
    expect((await send([cut, good], 1)).status).toBe(200);
  });

  it("gives up on a silent server after one time limit, not after several", async () => {
    await expect(send([() => {}, good], 5, { timeout: 500 })).rejects.toMatchObject({ code: "no-answer" });
    expect(requests).toBe(1);
  });

  it("hands a stream on as it comes", async () => {
    let finish: Answer | undefined;
    const stream: Answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
      finish = () => response.end("data: 2\n\n");
    };
    const response = await send([stream]);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    expect(await reader.read()).toEqual({ done: false, value: "data: 1\n\n" });
    finish!({} as ServerResponse);
    expect(await reader.read()).toEqual({ done: false, value: "data: 2\n\n" });
    expect((await reader.read()).done).toBe(true);
  });

  it("stops when it is cancelled, in a request and between two", async () => {
    const request = new AbortController();
    const waiting = send([() => request.abort()], 5, { signal: request.signal });
    await expect(waiting).rejects.toThrow(expect.objectContaining({ name: "AbortError" }));

    const pause = new AbortController();
    const later: Answer = (response) => {
      status(429, { "retry-after": "50" })(response);
      response.on("close", () => setTimeout(() => pause.abort(), 20));
    };
    const pausing = send([later], 5, { signal: pause.signal });
    await expect(pausing).rejects.toThrow(expect.objectContaining({ name: "AbortError" }));
    expect(requests).toBe(2);
  });
});
