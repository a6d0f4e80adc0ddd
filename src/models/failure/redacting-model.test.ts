import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chooseModel } from "../choose.ts";
import { explainModelError } from "../index.ts";
import { withSettings } from "../model-settings.ts";

const KEY = "abra-cadabra+simsalabim/1";
const OTHER = "hocus-pocus-fidibus-22";

let server: Server;
let url: string;
let answer: (sent: string, response: ServerResponse) => void;

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume().on("end", () => answer(secretsOf(request), response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** What a careless server says about a request: all of its headers. */
const secretsOf = ({ headers, url: path }: IncomingMessage): string =>
  `You sent ${path} with ${JSON.stringify(headers)}, and ${OTHER} is no better`;

function refuse(sent: string, response: ServerResponse): void {
  response.writeHead(400, { "content-type": "application/json", "x-echo": KEY });
  response.end(JSON.stringify({ error: { message: sent, type: "invalid" }, message: sent }));
}

/** An answer that begins well and then breaks off with an error, as OpenAI's protocol has it. */
function breakOff(sent: string, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const choices = [{ index: 0, delta: { role: "assistant", content: "Well, " } }];
  response.write(`data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", choices })}\n\n`);
  response.end(`data: ${JSON.stringify({ error: { message: sent, type: "invalid" } })}\n\n`);
}

const PROVIDERS = [
  ["openai:gpt-5.1", "OPENAI"],
  ["openai-compatible:any", "HOLDFAST"],
  ["anthropic:claude-sonnet-5", "ANTHROPIC"],
  ["groq:any", "GROQ"],
  ["mistralai:any", "MISTRAL"],
  ["google-genai:gemini-flash-latest", "GOOGLE"],
] as const;

async function chosen(model: string, prefix: string): Promise<BaseChatModel> {
  const env = {
    [`${prefix}_API_KEY`]: KEY,
    [prefix === "GOOGLE" ? "GOOGLE_GEMINI_BASE_URL" : `${prefix}_BASE_URL`]: url,
    DEEPSEEK_API_KEY: OTHER,
  };
  return (await chooseModel({ model, env, settings: { maxRetries: 0 } })).model;
}

async function failure(call: () => Promise<unknown>): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error("It did not fail.");
}

async function read(model: Pick<BaseChatModel, "stream">): Promise<void> {
  for await (const _ of await model.stream("Hello"));
}

/** Everything of an error that anybody could print, except the response itself. */
const all = (error: unknown): string =>
  inspect(error, { depth: 20, showHidden: true }).replaceAll(/Headers \{[^]*?\n\s*\}/g, "");

/** The secrets that are left in an error of our server. */
function leftIn(error: unknown): string[] {
  const shown = all(error) + (error as Error).stack;
  if (!shown.includes("You sent")) throw new Error("This is not what the server said.", { cause: error });
  return [KEY, encodeURIComponent(KEY), OTHER].filter((secret) => shown.includes(secret));
}

describe.each(PROVIDERS)("a server that repeats the key of %s", (name, prefix) => {
  it("is quoted without the key when the model is invoked, bound to tools or streamed", async () => {
    answer = refuse;
    const model = await chosen(name, prefix);
    const tools = [{ name: "ls", description: "Lists.", schema: { type: "object", properties: {} } }];
    expect(leftIn(await failure(() => model.invoke("Hello")))).toEqual([]);
    expect(leftIn(await failure(() => read(model)))).toEqual([]);
    expect(leftIn(await failure(() => model.bindTools!(tools).invoke("Hello")))).toEqual([]);
    const told: unknown[] = [];
    const callbacks = [{ handleLLMError: (error: unknown) => void told.push(error) }];
    await failure(() => model.invoke("Hello", { callbacks }));
    expect(leftIn(told[0])).toEqual([]);
  });

  it("is not quoted with it by a copy that has other settings", async () => {
    answer = refuse;
    const copy = withSettings(await chosen(name, prefix), { maxTokens: 2000 }, "helper");
    expect(leftIn(await failure(() => copy.invoke("Hello")))).toEqual([]);
  });
});

it("an error in the middle of an answer hides the key and keeps its kind", async () => {
  answer = breakOff;
  const model = await chosen("openai-compatible:any", "HOLDFAST");
  expect(leftIn(await failure(() => read(model)))).toEqual([]);
  answer = refuse;
  const error = await failure(() => model.invoke("Hello"));
  expect(error).toMatchObject({ status: 400 });
  expect(explainModelError(error, { name: "openai-compatible:any", env: {} })).toMatch(
    /^openai-compatible:any rejected the request \(400\): You sent/,
  );
});

it("a password in an address is not repeated by the client that refuses it", async () => {
  const env = {
    HOLDFAST_BASE_URL: "http://me:open-sesame@127.0.0.1:9/v1?token=abcdefgh-1",
    HOLDFAST_API_KEY: KEY,
  };
  const { model } = await chooseModel({ model: "openai-compatible:x", env, settings: { maxRetries: 0 } });
  expect(all(await failure(() => model.invoke("Hello")))).not.toMatch(/open-sesame|abcdefgh/);
});
