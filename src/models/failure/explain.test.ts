import { describe, expect, it } from "vitest";
import { HarnessError } from "../../errors.ts";
import { explainModelError } from "../index.ts";

const KEY = "very-secret-value-1";
const env = { OPENAI_API_KEY: KEY };
const explain = (error: unknown, name = "openai:gpt-5"): string => explainModelError(error, { name, env });

const failed = (status: number, message: string): Error => Object.assign(new Error(message), { status });
const coded = (code: string): Error => Object.assign(new Error(`connect ${code}`), { code });

describe("an explanation", () => {
  it.each([
    [
      "a host that does not exist",
      coded("ENOTFOUND"),
      "The host of https://api.openai.com/v1 was not found: check the network, or set OPENAI_BASE_URL.",
    ],
    [
      "a certificate",
      coded("SELF_SIGNED_CERT_IN_CHAIN"),
      "The certificate of https://api.openai.com/v1 is not trusted: behind a proxy, set NODE_EXTRA_CA_CERTS to its certificate.",
    ],
    [
      "an empty account",
      failed(429, "You exceeded your current quota, please check your plan"),
      "The OpenAI account has nothing left to spend (429): check its plan and billing.",
    ],
    [
      "a quota of this minute",
      failed(429, "You exceeded your current quota. Please retry in 38s."),
      "OpenAI still limits requests (429) after retries: wait a little, or raise maxRetries.",
    ],
    [
      "a request that is too long",
      failed(400, "This model's maximum context length is 8192 tokens."),
      "The conversation is too long for openai:gpt-5: shorten it, or use a model with a larger context.",
    ],
    ...[
      "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length",
      "Your input exceeds the context window of this model. Please adjust your input and try again.",
      "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
      "the request exceeds the available context size, try increasing it",
      "Please reduce the length of the messages or completion.",
    ].map((words): [string, Error, string] => [
      `one that is too long in other words: ${words}`,
      failed(400, words),
      "The conversation is too long for openai:gpt-5: shorten it, or use a model with a larger context.",
    ]),
    ...[
      failed(422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096"),
      failed(500, "the request exceeds the available context size"),
      Object.assign(new Error("No."), { code: "context_length_exceeded" }),
      Object.assign(new Error("No."), { error: { type: "exceed_context_size_error" } }),
    ].map((error): [string, Error, string] => [
      `one that is too long, said otherwise: ${JSON.stringify(error)}`,
      error,
      "The conversation is too long for openai:gpt-5: shorten it, or use a model with a larger context.",
    ]),
    [
      "a limit of tokens in a minute",
      failed(429, "Too many tokens, please wait before trying again."),
      "OpenAI still limits requests (429) after retries: wait a little, or raise maxRetries.",
    ],
    [
      "a model without tools",
      failed(400, "registry.ollama.ai/library/x does not support tools"),
      "openai:gpt-5 cannot call tools: use a model that can.",
    ],
    [
      "a refused request",
      failed(422, `422 {"error":{"message":"Unknown field."}}`),
      "openai:gpt-5 rejected the request (422): Unknown field",
    ],
    [
      "a permission",
      failed(403, "403 Your project may not use this model."),
      "OpenAI does not allow this (403): Your project may not use this model. Check what the API key may use.",
    ],
    [
      "a cancelled request",
      Object.assign(new Error("Aborted"), { name: "AbortError" }),
      "The request was cancelled.",
    ],
    ["anything else", new Error("Something\nwith a second line"), "openai:gpt-5 failed: Something"],
    ["what is not an error", "just text", "openai:gpt-5 failed: just text"],
    ["nothing", undefined, "openai:gpt-5 failed: undefined"],
  ])("covers %s", (_, error, expected) => {
    expect(explain(error)).toBe(expected);
  });

  it("finds the cause inside any wrapped error", () => {
    const several = new AggregateError([new Error("first"), coded("ECONNREFUSED")]);
    const wrapped = new Error("agent", { cause: new TypeError("fetch failed", { cause: several }) });
    expect(explain(wrapped)).toMatch(/^No server answers at https:\/\/api\.openai\.com\/v1/);
    expect(explain(new Error("agent", { cause: new HarnessError("no-model", "Set a model.") }))).toBe(
      "Set a model.",
    );
    const circle = new Error("round");
    circle.cause = circle;
    expect(explain(circle)).toBe("openai:gpt-5 failed: round");
  });

  it("works for a provider it does not know", () => {
    expect(explain(failed(401, "no"), "mine:model")).toBe(
      "mine did not accept the API key (401): check its API key.",
    );
    expect(explain(coded("ECONNREFUSED"), "mine")).toBe(
      "No server answers at the server: check the network, or set its base URL.",
    );
  });

  it.each([
    `Bad key ${KEY} given`,
    "Incorrect API key provided: sk-proj-abcdef***wxyz.",
    "header authorization: Bearer abcdef0123456789",
    'sent {"api_key":"abcdef0123456789"}',
    "GET https://host/path?key=abcdef0123456789&x=1",
    "GET https://user:abcdef0123456789@host/path",
    "key AIzaSyabcdef0123456789 is not valid",
    "key gsk_abcdef0123456789 is not valid",
  ])("hides the key in: %s", (message) => {
    const shown = explain(failed(400, message));
    expect(shown).toContain("[hidden]");
    expect(shown).not.toMatch(/secret-value|abcdef/);
  });

  it("does not show the password of a base URL", () => {
    const error = coded("ECONNREFUSED");
    const shown = explainModelError(error, { name: "ollama:x", baseUrl: "http://me:word@box:1", env });
    expect(shown).toBe(
      "No Ollama server at http://box:1: start it with `ollama serve`, or set OLLAMA_BASE_URL.",
    );
  });
});
