import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { anthropicWire } from "./anthropic.ts";
import { deepseekWire, groqWire, mistralWire, openaiWire, openrouterWire } from "./compatible.ts";
import { geminiWire } from "./gemini.ts";
import { ollamaWire } from "./ollama.ts";
import { responsesWire } from "./responses.ts";
import type { Json, ProviderStep, Wire, WireTurn, WireUsage } from "./wire.ts";

export type { ProviderStep, ProviderTurn } from "./wire.ts";

const WIRES = {
  openai: openaiWire,
  "openai-responses": responsesWire,
  anthropic: anthropicWire,
  "google-genai": geminiWire,
  mistralai: mistralWire,
  groq: groqWire,
  deepseek: deepseekWire,
  openrouter: openrouterWire,
  ollama: ollamaWire,
} satisfies Record<string, Wire>;

/** A provider that has a mock server. */
export type ProviderName = keyof typeof WIRES;

/** A mock server with a provider's protocol, which refuses what the provider refuses. */
export interface ProviderServer {
  /** The address without a path. */
  url: string;
  /** The bodies of all requests for an answer. */
  requests: Json[];
  /** The provider's errors for invalid requests. Each was answered with a 400. */
  refusals: string[];
  stop: () => Promise<void>;
}

/** The usage of every answer. `cached` is 0 if the provider caches only on request and the request does not ask for it. */
export const PROVIDER_USAGE: WireUsage = { input: 100, cached: 40, output: 70, reasoning: 20 };

/**
 * Starts a mock server of a provider, with and without streaming, that plays a script. A request that breaks a
 * documented rule of the provider gets the provider's error and takes no step of the script. Running past the end is a
 * 500.
 *
 * @example
 * ```ts
 * import { ChatOpenAI } from "@langchain/openai";
 * import { startProvider } from "holdfast/testing";
 *
 * const { url, stop } = await startProvider("openai", [{ text: "Hello!" }]);
 * const configuration = { baseURL: `${url}/v1` };
 * const model = new ChatOpenAI({ model: "gpt-5.1", apiKey: "test", configuration });
 * console.log((await model.invoke("Hi")).text);
 * await stop();
 * ```
 */
export async function startProvider(
  name: ProviderName,
  script: readonly ProviderStep[],
): Promise<ProviderServer> {
  const wire: Wire = WIRES[name];
  const requests: Json[] = [];
  const refusals: string[] = [];
  let next = 0;
  const answerTo = (path: string, body: Json): ProviderAnswer => {
    const fail = (status: number, message: string): ProviderAnswer =>
      json(status, wire.error(status, message));
    const other = wire.other?.[path];
    if (other) return json(200, other(body));
    if (!wire.path.test(path)) return fail(404, `There is no ${path}.`);
    requests.push(body);
    const refusal = wire.refusal(body, path);
    if (refusal !== undefined) {
      refusals.push(refusal);
      return fail(400, refusal);
    }
    const step = script[next++];
    if (step === undefined)
      return fail(500, `The script has ${script.length} steps; this is request ${next}.`);
    if ("status" in step) return fail(step.status, step.error);
    const turn = turnOf(step, next, wire, body);
    if (!wire.streams(body, path)) return json(200, wire.whole(turn, body));
    return { status: 200, type: wire.contentType, body: wire.streamed(turn, body) };
  };
  // Closing an idle connection would fail a request that a slow client is just sending.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    void (async () => {
      const answer = answerTo(new URL(request.url!, "http://localhost").pathname, await read(request));
      response.writeHead(answer.status, { "content-type": answer.type }).end(answer.body);
    })();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    refusals,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

interface ProviderAnswer {
  status: number;
  type: string;
  body: string;
}

function json(status: number, body: Json): ProviderAnswer {
  return { status, type: "application/json", body: JSON.stringify(body) };
}

async function read(request: IncomingMessage): Promise<Json> {
  const body = await text(request);
  return body === "" ? {} : JSON.parse(body);
}

function turnOf(
  step: Exclude<ProviderStep, { status: number }>,
  at: number,
  wire: Wire,
  body: Json,
): WireTurn {
  const { thoughts = "", text: words = "", calls = [], cut } = step;
  return {
    at,
    thoughts,
    text: words,
    cut,
    calls: calls.map(({ name, args, id }, index) => ({
      name,
      args,
      id: id ?? wire.callId?.(at, index) ?? "",
    })),
    usage: { ...PROVIDER_USAGE, ...(wire.hints?.(body) === false && { cached: 0 }) },
  };
}
