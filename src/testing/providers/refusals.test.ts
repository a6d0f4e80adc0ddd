import { describe, expect, it } from "vitest";
import { startProvider, type ProviderName } from "../index.ts";

const user = { role: "user", content: "Look." };
const call = (id: string) => ({ id, type: "function", function: { name: "look", arguments: "{}" } });
const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "One file." });
const asked = (...ids: string[]) => ({ role: "assistant", content: "", tool_calls: ids.map(call) });
const use = (id: string) => ({ type: "tool_use", id, name: "look", input: {} });
const functionCall = { functionCall: { name: "look", args: {} }, thoughtSignature: "s" };
const functionResponse = { functionResponse: { name: "look", response: { result: "One file." } } };
const declared = (parameters: object) => [{ functionDeclarations: [{ name: "look", parameters }] }];
const CHAT = "/v1/chat/completions";
const GEMINI = "/v1beta/models/gemini-3-flash:generateContent";

/** Requests that break one rule each, and the words of the provider. */
const BROKEN: [ProviderName, string, object, string][] = [
  ["openai", CHAT, { messages: [user, asked("a", "b"), result("a")] }, "did not have response messages: b"],
  ["openai", CHAT, { messages: [user, result("a")] }, "must be a response to a preceding message"],
  ["openai", CHAT, { messages: [user], stream_options: {} }, "only allowed when 'stream' is enabled"],
  ["openai", CHAT, { model: "gpt-5.1", messages: [user], max_tokens: 1 }, "max_completion_tokens"],
  [
    "openai-responses",
    "/v1/responses",
    { input: [user, { type: "function_call", call_id: "a", name: "look", arguments: "{}" }] },
    "No tool output found for function call a",
  ],
  [
    "openai-responses",
    "/v1/responses",
    { input: [{ type: "reasoning", id: "rs", summary: [] }, user] },
    "without its required following item",
  ],
  [
    "anthropic",
    "/v1/messages",
    { max_tokens: 9, messages: [user, { role: "assistant", content: [use("a")] }, user] },
    "without `tool_result` blocks immediately after",
  ],
  [
    "anthropic",
    "/v1/messages",
    { max_tokens: 9, messages: [{ role: "user", content: [{ type: "text", text: "" }] }] },
    "must be non-empty",
  ],
  [
    "google-genai",
    GEMINI,
    {
      contents: [
        { role: "user", parts: [{ text: "Look." }] },
        { role: "model", parts: [functionCall, functionCall] },
        { role: "user", parts: [functionResponse] },
        { role: "user", parts: [functionResponse] },
      ],
    },
    "the number of function response parts",
  ],
  [
    "google-genai",
    GEMINI,
    {
      contents: [{ role: "user", parts: [{ text: "Look." }] }],
      tools: declared({ type: "object", $defs: {} }),
    },
    'Unknown name "$defs"',
  ],
  [
    "google-genai",
    GEMINI,
    { contents: [{ role: "user", parts: [{ text: "Look." }] }], tools: declared({ type: ["object"] }) },
    "cannot start list",
  ],
  ["mistralai", CHAT, { messages: [user, asked("call-1"), result("call-1")] }, "with a length of 9"],
  [
    "mistralai",
    CHAT,
    { messages: [user, asked("abcdefghi"), result("abcdefghi"), user] },
    "Unexpected role 'user' after role 'tool'",
  ],
  ["groq", CHAT, { messages: [{ ...user, name: "me" }] }, "property 'name' is unsupported"],
  ["groq", CHAT, { messages: [user], store: true }, "property 'store' is unsupported"],
  [
    "deepseek",
    CHAT,
    { model: "deepseek-reasoner", messages: [user, asked("a"), result("a")] },
    "must be passed back to the API",
  ],
  ["openrouter", CHAT, { model: "qwen3", messages: [user] }, "is not a valid model ID"],
  ["ollama", "/api/chat", { model: "llama3", think: true, messages: [user] }, "does not support thinking"],
];

describe("a provider for tests", () => {
  it.each(BROKEN)("%s refuses what breaks a rule", async (name, path, body, words) => {
    const server = await startProvider(name, [{ text: "Done." }]);
    try {
      const send = async (json: object) =>
        fetch(server.url + path, { method: "POST", body: JSON.stringify({ model: "a/b", ...json }) });
      const response = await send(body);
      expect(response.status).toBe(400);
      expect(await response.text()).toContain(words.replaceAll('"', '\\"'));
      expect(server.refusals).toHaveLength(1);
    } finally {
      await server.stop();
    }
  });
});
