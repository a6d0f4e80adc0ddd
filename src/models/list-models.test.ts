import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { PROVIDERS } from "./clients/providers.ts";
import { listModels } from "./describe.ts";

let server: Server;
let url: string;
let asked: IncomingMessage[];
let reply: { status: number; body: unknown };

beforeEach(async () => {
  asked = [];
  reply = { status: 200, body: { data: [{ id: "one" }, { id: "two" }] } };
  server = createServer((request, response) => {
    asked.push(request);
    response.writeHead(reply.status, { "content-type": "application/json" });
    response.end(JSON.stringify(reply.body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
});

const list = (id: string) => {
  const { baseUrl, keys } = PROVIDERS[id]!.endpoints[0];
  const env = { [baseUrl]: `${url}/base`, ...(keys[0] !== undefined && { [keys[0]]: "the-key" }) };
  return listModels(id, { env, timeoutMs: 120_000 });
};

it.each([
  ["anthropic", "/base/v1/models?limit=1000", { "x-api-key": "the-key", "anthropic-version": "2023-06-01" }],
  ["openai", "/base/models", { authorization: "Bearer the-key" }],
  ["google-genai", "/base/v1beta/models?pageSize=1000", { "x-goog-api-key": "the-key" }],
  ["mistralai", "/base/v1/models", { authorization: "Bearer the-key" }],
  ["groq", "/base/openai/v1/models", { authorization: "Bearer the-key" }],
  ["deepseek", "/base/models", { authorization: "Bearer the-key" }],
  ["ollama", "/base/api/tags", {}],
  ["lm-studio", "/base/models", { authorization: "Bearer the-key" }],
  ["openai-compatible", "/base/models", { authorization: "Bearer the-key" }],
])("Holdfast asks %s for its models at its list address, with its key", async (id, path, headers) => {
  expect(await list(id)).toEqual(["one", "two"]);
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatchObject({ method: "GET", url: path, headers });
});

it("names are read as Ollama and Google write them", async () => {
  reply.body = { models: [{ name: "qwen3:latest" }, { name: "models/gemini-flash" }] };
  expect(await list("ollama")).toEqual(["qwen3:latest", "gemini-flash"]);
});

it("a server without a list is no failure, and a refused key is one", async () => {
  reply.status = 404;
  expect(await list("openai-compatible")).toBeUndefined();
  reply = { status: 401, body: { error: { message: "Wrong key" } } };
  await expect(list("openai")).rejects.toMatchObject({ status: 401 });
});
