import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { LLMock } from "@copilotkit/aimock";
import { createAgent } from "langchain";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { planMiddleware } from "../middleware/plan/index.ts";
import { chooseModel, explainModelError, type ChosenModel, type ModelOptions } from "./index.ts";

const KEY = "very-secret-value-1";
const KEYS = { OPENAI_API_KEY: KEY, ANTHROPIC_API_KEY: KEY, LM_STUDIO_API_KEY: KEY };

describe.each([
  ["openai:gpt-5.1", "OpenAI", "OPENAI_BASE_URL", "/v1"],
  ["anthropic:claude-sonnet-5", "Anthropic", "ANTHROPIC_BASE_URL", ""],
  ["ollama:qwen3:8b", "Ollama", "OLLAMA_BASE_URL", ""],
  ["lm-studio:qwen/qwen3-8b", "LM Studio", "LM_STUDIO_BASE_URL", "/v1"],
])("%s", (name, label, variable, path) => {
  const mock = new LLMock({ port: 0, host: "127.0.0.1" });
  const beginning = label === "Ollama" ? `{"message":{"content":"Hi"},"done":false}\n` : ": hi\n\n";

  beforeAll(async () => {
    const limited = { error: { message: "Slow down." }, status: 429, retryAfter: 0 };
    mock
      .onMessage("locked", { error: { message: `Incorrect key: ${KEY}` }, status: 401 })
      .on({ userMessage: "busy once", sequenceIndex: 0 }, limited)
      .onMessage("busy once", { content: "Now I can." })
      .onMessage("busy", limited)
      .onMessage("later", { ...limited, retryAfter: 3600 })
      .onMessage("broken", { error: { message: `It broke. ${KEY}` }, status: 500 })
      .onMessage("unknown", { error: { message: "no such model" }, status: 404 });
    await mock.start();
  });
  afterAll(async () => {
    await mock.stop();
  });
  afterEach(() => {
    vi.restoreAllMocks();
    mock.clearRequests();
    stopServers();
  });

  const choose = async (url: string, settings: ModelOptions = {}): Promise<ChosenModel> =>
    chooseModel({
      model: name,
      env: { ...KEYS, [variable]: url + path, OLLAMA_CONTEXT_LENGTH: "8192" },
      settings: { maxRetries: 0, ...settings },
    });

  /** The one line for a failure of this model, by `invoke` and by `stream`, which must agree. */
  const failure = async (url: string, prompt = "hello", settings: ModelOptions = {}): Promise<string> => {
    const chosen = await choose(url, settings);
    const explain = (error: unknown): string => explainModelError(error, { ...chosen, env: KEYS });
    const whole = await chosen.model.invoke(prompt).then(() => "no error", explain);
    const pieces = await drained(chosen, prompt).then(() => "no error", explain);
    expect(pieces).toBe(whole);
    expect(whole).not.toContain(KEY);
    expect(whole).not.toMatch(/\n|\.[jt]s:\d/);
    return whole.replaceAll(url, "URL");
  };

  it("says which key was not accepted", async () => {
    const key = variable.replace("BASE_URL", "API_KEY");
    const keyless: Record<string, string> = { Ollama: "Ollama wants a login (401): check OLLAMA_BASE_URL." };
    expect(await failure(mock.url, "locked", { maxRetries: 3 })).toBe(
      keyless[label] ?? `${label} did not accept the API key (401): check ${key}.`,
    );
    expect(mock.getRequests()).toHaveLength(2);
  });

  it("tries again when the server is busy", async () => {
    const { model } = await choose(mock.url, { maxRetries: 1 });
    expect((await model.invoke("busy once")).text).toBe("Now I can.");
    expect(mock.getRequests().map(({ response }) => response.status)).toEqual([429, 200]);
  });

  it("gives up on a server that stays busy", async () => {
    expect(await failure(mock.url, "busy", { maxRetries: 2 })).toBe(
      `${label} still limits requests (429) after retries: wait a little, or raise maxRetries.`,
    );
    expect(mock.getRequests()).toHaveLength(2 * 3);
  });

  it("says how long a server wants to be left alone", async () => {
    // Ollama's client does not hand on what the server asks for.
    const expected = label === "Ollama" ? "still limits requests (429)" : "asks to wait 3600 s";
    expect(await failure(mock.url, "later", { maxRetries: 2 })).toContain(expected);
    expect(mock.getRequests()).toHaveLength(2);
  });

  it("reports the server's own message when the server fails", async () => {
    expect(await failure(mock.url, "broken")).toContain(
      `${label} failed (500) and did not recover: It broke. [hidden]. Try again later`,
    );
  });

  it("says how to get a missing model", async () => {
    const advice: Record<string, string> = {
      Ollama: "get it with `ollama pull qwen3:8b`.",
      "LM Studio": "load it with `lms load qwen/qwen3-8b`.",
    };
    expect(await failure(mock.url, "unknown")).toContain(advice[label] ?? "has no model");
  });

  it("reports at once that no server listens", async () => {
    const url = await serve(() => {});
    stopServers();
    const start: Record<string, string> = {
      Ollama: "No Ollama server at URL: start it with `ollama serve`, or set OLLAMA_BASE_URL.",
      "LM Studio":
        "No LM Studio server at URL/v1: start it with `lms server start`, or set LM_STUDIO_BASE_URL.",
    };
    const other = `No server answers at URL${path}: check the network, or set ${variable}.`;
    expect(await failure(url, "hello", { maxRetries: 9 })).toBe(start[label] ?? other);
  });

  it("gives up on a silent server", async () => {
    const url = await serve(() => {});
    expect(await failure(url, "hello", { timeout: 50 })).toMatch(SILENT);
  });

  it("lets the server know that a call was cancelled", async () => {
    const cancel = new AbortController();
    let closed: Promise<unknown> | undefined;
    const url = await serve((_, response) => {
      closed = once(response, "close");
      cancel.abort();
    });
    const { model } = await choose(url, { maxRetries: 3 });
    await expect(model.invoke("hello", { signal: cancel.signal })).rejects.toThrow(/abort/i);
    await closed;
  });

  it("gives up on a server that falls silent", async () => {
    const url = await serve((_, response) => response.writeHead(200, STREAM).write(beginning));
    expect(await failure(url, "hello", { timeout: 50 })).toMatch(SILENT);
  });

  it.each([
    ["before the answer", (_: IncomingMessage, response: ServerResponse) => response.destroy()],
    [
      "within it",
      (_: IncomingMessage, response: ServerResponse) =>
        response.writeHead(200, JSON_TYPE).write(`{"id":`, () => response.destroy()),
    ],
    [
      "within a stream",
      (_: IncomingMessage, response: ServerResponse) =>
        response.writeHead(200, STREAM).write(beginning, () => response.destroy()),
    ],
  ])("says that the connection was cut %s", async (_, handler) => {
    expect(await failure(await serve(handler))).toContain("broke off before it was complete: try again");
  });

  it.each([
    ["malformed JSON", `{"id": oops`, "did not answer with JSON"],
    ["a web page", "<html><body>Welcome</body></html>", "did not answer with JSON"],
    ["an error of status 200", `{"error":"Unexpected endpoint"}`, "an error: Unexpected endpoint"],
    ["other JSON", "{}", "answered with JSON that is not an answer of a model"],
  ])("says that the server answers with %s", async (_, body, expected) => {
    const url = await serve((__, response) => response.writeHead(200, JSON_TYPE).end(body));
    const message = await failure(url);
    expect(message).toMatch(/^URL\/\S+ (did not answer|answered) /);
    expect(message).toContain(expected);
    expect(message).toContain(`Check ${variable}.`);
  });

  it("says that a stream cannot be read", async () => {
    // Ollama's client warns of every line it leaves out.
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const url = await serve((_, response) =>
      response.writeHead(200, STREAM).end("event: message_start\ndata: {oops\n\n"),
    );
    const chosen = await choose(url);
    const error = await drained(chosen).catch((reason: unknown) => reason);
    expect(explainModelError(error, { ...chosen, env: KEYS })).toMatch(/cannot be read|broke off/);
  });

  it("explains what an agent throws", async () => {
    const chosen = await choose(mock.url);
    const agent = createAgent({ model: chosen.model, tools: [], middleware: [planMiddleware()] });
    const error = await agent
      .invoke({ messages: [{ role: "user", content: "locked" }] })
      .catch((reason: unknown) => reason);
    expect(explainModelError(error, { ...chosen, env: KEYS })).toContain(`${label} `);
    expect(explainModelError(error, { ...chosen, env: KEYS })).toContain("(401): check ");
  });
});

const SILENT = /^URL\S+ was silent for 0\.05 s\. .* wait longer with --timeout or HOLDFAST_TIMEOUT/;
const STREAM = { "content-type": "text/event-stream" };
const JSON_TYPE = { "content-type": "application/json" };

const servers: Server[] = [];

/** Starts a server on a free port of this machine; `stopServers` ends it. */
async function serve(handler: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => handler(request, response));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function stopServers(): void {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
}

async function drained({ model }: ChosenModel, prompt = "hello"): Promise<void> {
  for await (const chunk of await model.stream(prompt)) expect(chunk).toBeDefined();
}
