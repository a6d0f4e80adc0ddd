import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { LLMock } from "@copilotkit/aimock";
import { createAgent } from "langchain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { planMiddleware } from "../../middleware/plan/index.ts";
import { chooseModel, explainModelError, type ChosenModel, type ModelOptions } from "../index.ts";
import { MODEL_RETRY, type ModelRetry } from "./retries.ts";

const KEYS = {
  // Without it Ollama is asked for it.
  OLLAMA_CONTEXT_LENGTH: "8192",
  MISTRAL_API_KEY: "secret-1",
  GOOGLE_API_KEY: "secret-1",
  OPENAI_API_KEY: "sk-secret-1",
  ANTHROPIC_API_KEY: "sk-ant-secret-1",
};
const WORDS = "A long answer that comes in a good many pieces, one after the other.";

type Fault = (response: ServerResponse) => void;
const cut: Fault = (response) => void response.destroy();
const end: Fault = (response) => void response.end();
const says =
  (text: string): Fault =>
  (response) =>
    void response.end(text);
const OVERLOADED = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`;
const FAILED = `{"error":{"message":"The server had an error.","type":"server_error","code":null}}`;

describe.each([
  ["openai:gpt-5.1", "OPENAI_BASE_URL", "/v1", says(`data: ${FAILED}\n\n`)],
  ["anthropic:claude-sonnet-5", "ANTHROPIC_BASE_URL", "", says(`event: error\ndata: ${OVERLOADED}\n\n`)],
  ["ollama:qwen3:8b", "OLLAMA_BASE_URL", "", says(`{"error":"unexpected EOF"}\n`)],
  ["mistralai:mistral-large-latest", "MISTRAL_BASE_URL", "", undefined],
  ["google-genai:gemini-2.5-flash", "GOOGLE_GEMINI_BASE_URL", "", undefined],
])("%s", (name, variable, path, errorInStream) => {
  const mock = new LLMock({ port: 0, host: "127.0.0.1" });
  beforeAll(async () => {
    mock.onMessage(/.*/, { content: WORDS });
    await mock.start();
  });
  afterAll(async () => {
    await mock.stop();
  });
  /** A server for one test, that breaks off the stream of a request that holds a word: many wait, at the same time. */
  const serve = async (
    fault: { word: string; times: number; does: Fault },
    onTestFinished: (end: () => void) => void,
  ) => {
    const requests: string[] = [];
    const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const body = (await buffer(request)).toString();
      requests.push(body);
      const headers = { "content-type": "application/json" };
      const answer = await fetch(mock.url + request.url!, { method: "POST", headers, body });
      const text = await answer.text();
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
      if (!body.includes(fault.word) || fault.times <= 0) {
        response.end(text);
        return;
      }
      fault.times -= 1;
      const events = text.split(/(?<=\n\n)|(?<=\}\n)(?!\n)/);
      response.write(events.slice(0, events.length / 2).join(""), () => fault.does(response));
    };
    const server = createServer((request, response) => void pass(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const choose = (settings: ModelOptions = {}): Promise<ChosenModel> =>
      chooseModel({ model: name, env: { ...KEYS, [variable]: url + path }, settings });
    return { requests, choose };
  };

  /** Runs an agent that streams, and says what was heard of it by its own callbacks. */
  const run = async (chosen: ChosenModel, prompt: string, signal?: AbortSignal) => {
    const heard: string[] = [];
    const agent = createAgent({ model: chosen.model, tools: [], middleware: [planMiddleware()] });
    const callbacks = [
      {
        lc_prefer_streaming: true,
        name: "listener",
        handleChatModelStart: () => void heard.push("start"),
        handleLLMNewToken: (text: string) => void heard.push(text),
        handleCustomEvent: (event: string, { reason }: ModelRetry) =>
          void (event === MODEL_RETRY && heard.push(`retry: ${reason}`)),
      },
    ];
    const options = { callbacks, signal };
    const { messages } = await agent.invoke({ messages: [{ role: "user", content: prompt }] }, options);
    return { answer: messages.at(-1)!.text, heard };
  };

  it.concurrent.for<readonly [string, Fault, string]>([
    ["the stream ends before the answer does", end, "the connection was cut"],
    ["the connection is cut", cut, "the connection was cut"],
    ...(errorInStream
      ? [["the server says that it failed", errorInStream, "the server broke off its answer"] as const]
      : []),
  ])("asks again when %s in the middle of a stream", async ([, does, reason], { onTestFinished }) => {
    const { requests, choose } = await serve({ word: "hello", times: 1, does }, onTestFinished);
    const { answer, heard } = await run(await choose(), "hello");
    expect(answer).toBe(WORDS);
    expect(requests).toHaveLength(2);
    const retry = heard.indexOf(`retry: ${reason}`);
    expect(heard.slice(1, retry).join("").length).toBeGreaterThan(0);
    expect(WORDS.startsWith(heard.slice(1, retry).join(""))).toBe(true);
    expect(heard[retry + 1]).toBe("start");
    expect(heard.slice(retry + 2).join("")).toBe(WORDS);
  });

  it.concurrent("asks again without a stream, and with tools bound", async ({ onTestFinished }) => {
    const { requests, choose } = await serve({ word: "hello", times: 1, does: cut }, onTestFinished);
    const { model } = await choose();
    const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
    expect((await model.bindTools!(tools).invoke("hello")).text).toBe(WORDS);
    expect(requests).toHaveLength(2);
  });

  it.concurrent("gives up after as many attempts as it may make", async ({ onTestFinished }) => {
    const { requests, choose } = await serve(
      { word: "hello", times: 9, does: errorInStream ?? cut },
      onTestFinished,
    );
    const chosen = await choose({ maxRetries: 1 });
    const error = await run(chosen, "hello").catch((reason: unknown) => reason);
    expect(explainModelError(error, { ...chosen, env: KEYS })).toMatch(
      errorInStream ? /^\w+ broke off its answer: / : /broke off before it was complete/,
    );
    expect(requests).toHaveLength(2);
  });

  it.concurrent("tells the run that waits, and no other on the same model", async ({ onTestFinished }) => {
    const { choose } = await serve({ word: "first", times: 1, does: cut }, onTestFinished);
    const chosen = await choose();
    const [first, second] = await Promise.all([run(chosen, "first"), run(chosen, "second")]);
    expect(first.heard.filter((each) => each.startsWith("retry"))).toHaveLength(1);
    expect(second.heard.filter((each) => each.startsWith("retry"))).toEqual([]);
    expect([first.answer, second.answer]).toEqual([WORDS, WORDS]);
  });

  it.concurrent("stops waiting at once when the run is cancelled", async ({ onTestFinished }) => {
    const cancel = new AbortController();
    const { requests, choose } = await serve(
      {
        word: "hello",
        times: 9,
        does: (response) => {
          cut(response);
          setTimeout(() => cancel.abort(), 50);
        },
      },
      onTestFinished,
    );
    await expect(run(await choose({ maxRetries: 9 }), "hello", cancel.signal)).rejects.toThrow(/abort/i);
    expect(requests).toHaveLength(1);
  });
});
