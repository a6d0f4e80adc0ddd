import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { RunnableLambda } from "@langchain/core/runnables";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chooseModel, explainModelError, type ChosenModel, type ModelOptions } from "./index.ts";
import { MODEL_RETRY, type ModelRetry } from "./retry/retries.ts";

type Answer = (response: ServerResponse) => unknown;

const STREAM = { "content-type": "text/event-stream" };
const JSON_TYPE = { "content-type": "application/json" };
const KEYS = { MISTRAL_API_KEY: "secret-1", GOOGLE_API_KEY: "secret-1" };

const MISTRAL = {
  id: "1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const GOOGLE = {
  candidates: [{ content: { role: "model", parts: [{ text: "ok" }] }, finishReason: "STOP", index: 0 }],
};
const DELAY = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "0.2s" }];

describe.each([
  ["mistralai:mistral-large-latest", "MISTRAL_BASE_URL", MISTRAL, {}],
  ["google-genai:gemini-2.5-flash", "GOOGLE_GEMINI_BASE_URL", GOOGLE, { details: DELAY }],
])("%s, whose client takes no fetch", (model, variable, okay, waiting) => {
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
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.close();
    server.closeAllConnections();
  });

  const choose = async (settings: ModelOptions): Promise<ChosenModel> =>
    chooseModel({ model, env: { ...KEYS, [variable]: url }, settings });

  it("gives up on a silent server, at once", async () => {
    script = [() => {}];
    const chosen = await choose({ timeout: 50, maxRetries: 3 });
    expect(await failure(chosen, chosen.model.invoke("hello"))).toContain("was silent for 0.05 s");
    expect(await failure(chosen, read(chosen))).toContain("was silent for 0.05 s");
    expect(requests).toBeLessThanOrEqual(2);
  });

  it("gives up on a server that falls silent", async () => {
    script = [(response) => response.writeHead(200, STREAM).write(": hi\n\n")];
    const chosen = await choose({ timeout: 50 });
    expect(await failure(chosen, read(chosen))).toContain("was silent for 0.05 s");
  });

  it("waits as long as a busy server asks, and says so", async () => {
    const body = JSON.stringify({ error: { code: 429, message: "Slow down.", ...waiting } });
    script = [
      (response) => response.writeHead(429, { ...JSON_TYPE, "retry-after": "0.2" }).end(body),
      (response) => response.writeHead(200, JSON_TYPE).end(JSON.stringify(okay)),
    ];
    const { model: client } = await choose({ maxRetries: 1 });
    const heard: unknown[] = [];
    const handleCustomEvent = (name: string, data: ModelRetry): void => void heard.push([name, data]);
    const watched = { name: "listener", handleCustomEvent };
    // A run around the call, as an agent is: events are told to those who watch that.
    const run = RunnableLambda.from(async (words: string, config) => client.invoke(words, config));
    expect((await run.invoke("hello", { callbacks: [watched] })).text).toBe("ok");
    const reason = "too many requests, 429; the server asks to wait";
    expect(heard).toEqual([[MODEL_RETRY, { seconds: 0.2, reason }]]);
    expect(requests).toBe(2);
  });

  it("lets the server know that a call was cancelled", async () => {
    const cancel = new AbortController();
    const closed = new Promise<void>((resolve) => {
      script = [
        (response) => {
          response.on("close", resolve);
          cancel.abort();
        },
      ];
    });
    const { model: client } = await choose({ maxRetries: 3 });
    await expect(client.invoke("hello", { signal: cancel.signal })).rejects.toThrow(/abort/i);
    await closed;
    expect(requests).toBe(1);
  });
});

async function read({ model }: ChosenModel): Promise<void> {
  for await (const chunk of await model.stream("hello")) expect(chunk).toBeDefined();
}

async function failure(chosen: ChosenModel, call: Promise<unknown>): Promise<string> {
  const explain = (error: unknown): string => explainModelError(error, { ...chosen, env: KEYS });
  return call.then(() => "no error", explain);
}
