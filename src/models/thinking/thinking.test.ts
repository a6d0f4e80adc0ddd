import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { startModelServer, type ModelServer } from "../../../test/helpers/models/model-server.ts";
import { createDeepAgent } from "../../deep/index.ts";
import { ScriptedModel } from "../../testing/index.ts";
import { toModel } from "../deferred.ts";
import { chooseModel } from "../index.ts";
import { withThinking, type Thinking } from "./thinking.ts";

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterEach(() => void vi.unstubAllEnvs());
afterAll(() => server.stop());

const ON: Thinking = { enabled: true, effort: undefined };
const OFF: Thinking = { enabled: false, effort: undefined };
const HIGH: Thinking = { enabled: undefined, effort: "high" };
const LOW: Thinking = { enabled: true, effort: "low" };

const noted = tool(() => "noted", { name: "note", description: "n", schema: z.object({}) });

const chosen = async (name: string, settings = {}) => {
  const baseUrl = server.url + (/^(openai|lm-studio|deepseek)/.test(name) ? "/v1" : "");
  const { model } = await chooseModel({
    model: name,
    env: {},
    settings: { apiKey: "test", maxRetries: 0, baseUrl, ...settings },
  });
  return model;
};

/** What a model is sent, with tools as an agent sends it, and what was said of it. */
async function sent(model: Awaited<ReturnType<typeof chosen>>, thinking: Thinking) {
  const warnings: string[] = [];
  const thinks = withThinking(model, thinking, (message) => void warnings.push(message));
  await thinks.bindTools!([noted]).invoke("hi");
  const { body } = server.requests.at(-1)!;
  const { generationConfig = {} } = body as { generationConfig?: Record<string, unknown> };
  const fields = { ...body, ...generationConfig };
  const told = ["reasoning", "reasoning_effort", "thinking", "output_config", "think", "thinkingConfig"];
  const said = Object.fromEntries(
    told.flatMap((key) => (fields[key] === undefined ? [] : [[key, fields[key]]])),
  );
  return { said, warnings, body };
}

describe("the request to think follows the documentation of the provider", () => {
  it.each([
    ["openai:gpt-5.1", ON, { reasoning_effort: "medium" }],
    ["openai:gpt-5.1", HIGH, { reasoning_effort: "high" }],
    ["openai:gpt-5.1", OFF, { reasoning_effort: "none" }],
    ["openai:gpt-5.4", OFF, { reasoning_effort: "none" }],
    ["openai:gpt-5.4", HIGH, { reasoning: { effort: "high" } }],
    ["openai:gpt-5-mini", OFF, { reasoning_effort: "minimal" }],
    ["openai:gpt-5-pro", ON, { reasoning_effort: "high" }],
    ["openai:o3", LOW, { reasoning_effort: "low" }],
    ["anthropic:claude-sonnet-5", ON, { thinking: { type: "adaptive" } }],
    [
      "anthropic:claude-sonnet-5",
      HIGH,
      { thinking: { type: "adaptive" }, output_config: { effort: "high" } },
    ],
    ["anthropic:claude-opus-4-6", LOW, { thinking: { type: "adaptive" }, output_config: { effort: "low" } }],
    ["anthropic:claude-sonnet-5", OFF, { thinking: { type: "disabled" } }],
    ["anthropic:claude-mythos-preview", ON, { thinking: { type: "adaptive" } }],
    ["anthropic:claude-sonnet-4-5", ON, { thinking: { type: "enabled", budget_tokens: 8192 } }],
    ["anthropic:claude-opus-4-20250514", HIGH, { thinking: { type: "enabled", budget_tokens: 12_288 } }],
    ["anthropic:claude-3-7-sonnet-latest", HIGH, { thinking: { type: "enabled", budget_tokens: 6144 } }],
    ["ollama:qwen3:8b", ON, { think: true }],
    ["ollama:qwen3:8b", OFF, { think: false }],
    ["ollama:llama3.2", OFF, { think: false }],
    ["ollama:hf.co/unsloth/deepseek-r1:8b", ON, { think: true }],
    ["ollama:gpt-oss:20b", HIGH, { think: "high" }],
    ["google-genai:gemini-2.5-flash", LOW, { thinkingConfig: { thinkingBudget: 2048 } }],
    ["google-genai:gemini-2.5-flash", OFF, { thinkingConfig: { thinkingBudget: 0 } }],
    ["google-genai:gemini-flash-latest", HIGH, { thinkingConfig: { thinkingBudget: 24_576 } }],
    ["google-genai:gemini-3-flash-preview", ON, { thinkingConfig: { thinkingLevel: "MEDIUM" } }],
    ["google-genai:gemini-3-pro-preview", ON, { thinkingConfig: { thinkingLevel: "HIGH" } }],
    ["lm-studio:openai/gpt-oss-20b", LOW, { reasoning_effort: "low" }],
    ["openai-compatible:openai/gpt-5.1", ON, { reasoning_effort: "medium" }],
    ["openai-compatible:deepseek-v4-flash", OFF, { thinking: { type: "disabled" } }],
    ["deepseek:deepseek-chat", OFF, { thinking: { type: "disabled" } }],
    ["groq:openai/gpt-oss-120b", HIGH, { reasoning_effort: "high" }],
    ["groq:qwen/qwen3-32b", OFF, { reasoning_effort: "none" }],
  ] as const)("%s, %o", async (name, thinking, expected) => {
    const { said, warnings, body } = await sent(await chosen(name), thinking);
    expect(said).toEqual(expected);
    expect(warnings).toEqual([]);
    const { budget_tokens: budget = 0 } = (body["thinking"] ?? {}) as { budget_tokens?: number };
    expect(budget).toBeLessThan((body["max_tokens"] as number | undefined) ?? Number.POSITIVE_INFINITY);
  });

  it("over OpenAI's responses API too", async () => {
    const fields = { apiKey: "test", configuration: { baseURL: `${server.url}/v1` }, useResponsesApi: true };
    const model = new ChatOpenAI({ model: "gpt-5.1", ...fields });
    expect((await sent(model, HIGH)).said).toEqual({ reasoning: { effort: "high" } });
    const local = new ChatOpenAI({ model: "openai/gpt-oss-20b", ...fields });
    expect((await sent(local, HIGH)).said).toEqual({ reasoning: { effort: "high" } });
    expect(server.requests.at(-1)!.path).toBe("/v1/responses");
  });

  it("when the model is chosen at its first use, too", async () => {
    vi.stubEnv("OPENAI_API_KEY", "test");
    vi.stubEnv("OPENAI_BASE_URL", `${server.url}/v1`);
    const warnings: string[] = [];
    const warn = (message: string) => void warnings.push(message);
    await withThinking(toModel("openai:gpt-5.1"), HIGH, warn).invoke("hi");
    expect(server.requests.at(-1)!.body).toMatchObject({ reasoning_effort: "high" });
    await withThinking(toModel("openai:gpt-4o"), HIGH, warn).invoke("hi");
    expect(server.requests.at(-1)!.body).not.toHaveProperty("reasoning_effort");
    expect(warnings).toEqual(["gpt-4o is not known to think; reasoning_effort is ignored"]);
  });
});

describe("a model that cannot think as asked gets no invalid option, and the user a note", () => {
  it.each([
    ["openai:gpt-4o", ON, "gpt-4o is not known to think; thinking_enabled is ignored"],
    ["openai:gpt-4o", HIGH, "gpt-4o is not known to think; reasoning_effort is ignored"],
    ["openai:gpt-5-chat-latest", ON, "gpt-5-chat-latest is not known to think; thinking_enabled is ignored"],
    [
      "openai:gpt-5-pro",
      LOW,
      'gpt-5-pro has no effort "low", only high; thinking_enabled and reasoning_effort are ignored',
    ],
    [
      "openai-compatible:gpt-5.4",
      ON,
      "gpt-5.4 can think and call tools only over OpenAI's responses API; thinking_enabled is ignored",
    ],
    ["openai:o3", OFF, "o3 cannot be kept from thinking; thinking_enabled: false is ignored"],
    [
      "anthropic:claude-3-5-haiku-latest",
      ON,
      "claude-3-5-haiku-latest is not known to think; thinking_enabled is ignored",
    ],
    [
      "anthropic:claude-fable-5",
      OFF,
      "claude-fable-5 cannot be kept from thinking; thinking_enabled: false is ignored",
    ],
    [
      "ollama:gpt-oss:20b",
      OFF,
      "gpt-oss:20b cannot be kept from thinking; thinking_enabled: false is ignored",
    ],
    ["ollama:llama3.2", ON, "llama3.2 is not known to think; thinking_enabled is ignored"],
    ["ollama:qwen3-coder:30b", HIGH, "qwen3-coder:30b is not known to think; reasoning_effort is ignored"],
    [
      "mistralai:magistral-medium-latest",
      OFF,
      "magistral-medium-latest cannot be kept from thinking; thinking_enabled: false is ignored",
    ],
    [
      "google-genai:gemini-2.0-flash",
      ON,
      "gemini-2.0-flash is not known to think; thinking_enabled is ignored",
    ],
    [
      "google-genai:gemini-2.5-pro",
      OFF,
      "gemini-2.5-pro cannot be kept from thinking; thinking_enabled: false is ignored",
    ],
    ["lm-studio:qwen/qwen3-8b", ON, "qwen/qwen3-8b is not known to think; thinking_enabled is ignored"],
    [
      "openai-compatible:deepseek-reasoner",
      ON,
      "deepseek-reasoner cannot think and call tools through this client; thinking_enabled is ignored",
    ],
    [
      "groq:llama-3.3-70b-versatile",
      ON,
      "llama-3.3-70b-versatile is not known to think; thinking_enabled is ignored",
    ],
    [
      "mistralai:mistral-large-latest",
      ON,
      "ChatMistralAI has no setting for thinking; thinking_enabled is ignored",
    ],
  ] as const)("%s, %o", async (name, thinking, warning) => {
    const { said, warnings } = await sent(await chosen(name), thinking);
    expect(said).toEqual({});
    expect(warnings).toEqual([warning]);
  });

  it.each([
    "lm-studio:qwen/qwen3-8b",
    "openai-compatible:anything",
    "groq:deepseek-r1-distill-llama-70b",
    "google-genai:gemma-9",
    "mistralai:something-new",
  ])("%s, told not to think, which it may do", async (name) => {
    const { said, warnings } = await sent(await chosen(name), OFF);
    expect(said).toEqual({});
    expect(warnings).toEqual([
      `${name.slice(name.indexOf(":") + 1)} may think, and it is not known how to keep it from that; thinking_enabled: false is ignored`,
    ]);
  });

  it("an unknown client, with thinking switched off", () => {
    const warnings: string[] = [];
    withThinking(new ScriptedModel(["ok"]), OFF, (message) => void warnings.push(message));
    expect(warnings).toEqual([expect.stringMatching(/may think, .*; thinking_enabled: false is ignored$/)]);
  });

  it.each([
    "openai:gpt-4o",
    "google-genai:gemini-2.0-flash",
    "groq:llama-3.3-70b-versatile",
    "mistralai:mistral-large-latest",
  ])("%s, told not to think: there is nothing to say", async (name) => {
    const { said, warnings } = await sent(await chosen(name), OFF);
    expect([said, warnings]).toEqual([{}, []]);
  });

  it("only the unsupported part is left out", async () => {
    const levels = await sent(await chosen("ollama:qwen3"), HIGH);
    expect(levels.said).toEqual({ think: true });
    expect(levels.warnings).toEqual([
      "qwen3 has no levels of thinking; reasoning_effort only switches it on",
    ]);
    const warm = await sent(await chosen("anthropic:claude-sonnet-4-5", { temperature: 0 }), ON);
    expect(warm.body).not.toHaveProperty("temperature");
    expect(warm.warnings).toEqual([
      "claude-sonnet-4-5 takes no temperature, topP and topK while it thinks; they are left out",
    ]);
    const small = await sent(await chosen("anthropic:claude-sonnet-4-5", { maxTokens: 1000 }), ON);
    expect(small.said).toEqual({});
    expect(small.warnings).toEqual([
      "maxTokens 1000 leaves claude-sonnet-4-5 no room to think; thinking_enabled is ignored",
    ]);
  });

  it("an agent has an effort as an option", async () => {
    const effortOf = async (options: object): Promise<unknown> => {
      const agent = createDeepAgent({ model: await chosen("openai:gpt-5.1"), plan: false, ...options });
      await agent.invoke({ messages: [{ role: "user", content: "hi" }] });
      return server.requests.at(-1)!.body["reasoning_effort"];
    };
    expect(await effortOf({})).toBeUndefined();
    expect(await effortOf({ effort: "high" })).toBe("high");
    expect(await effortOf({ effort: "off" })).toBe("none");
    expect(() => createDeepAgent({ effort: "most" } as never)).toThrow("effort");
  });

  it("the model itself stays as it was", async () => {
    const model = await chosen("openai:gpt-5.1");
    await sent(model, HIGH);
    await model.invoke("hi");
    expect(server.requests.at(-1)!.body).not.toHaveProperty("reasoning_effort");
  });
});
