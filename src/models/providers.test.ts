import { describe, expect, it } from "vitest";
import {
  EXPECTED_TOKENS,
  HARNESSES,
  PROVIDERS,
  runProvider,
  tokensOf,
} from "../../test/helpers/models/providers.ts";
import { isRelease } from "../../test/helpers/runner/rounds.ts";
import { startProvider, type ProviderName } from "../testing/index.ts";
import { chooseModel } from "./index.ts";
import { thoughtsOf } from "./thinking/thoughts.ts";

describe.each(Object.keys(PROVIDERS) as ProviderName[])("%s", (provider) => {
  it.each(isRelease ? HARNESSES : HARNESSES.slice(0, 1))(
    "refuses nothing that %s sends, with thoughts, calls side by side and reminders",
    async (harness) => {
      const run = await runProvider({ provider, harness });
      expect({ refusals: run.server.refusals, error: run.error }).toEqual({ refusals: [], error: undefined });
      expect(run.answer).toBe("Two files.");
      expect(run.todos).toEqual(["Look: completed", "Report: completed"]);
      expect(JSON.stringify(run.server.requests)).toContain("system_reminder");
      // Later requests have the words beside the calls.
      expect(JSON.stringify(run.server.requests.at(-1))).toMatch(/First a("},{"text":")? plan\./);
      // Groq's client does not read them.
      expect(run.messages.map(thoughtsOf).includes("Two at once.")).toBe(provider !== "groq");
      for (const { inputTokens, outputTokens, cachedTokens } of tokensOf(run)) {
        expect(cachedTokens).toBeOneOf([0, 40]);
        expect(inputTokens).toBe(EXPECTED_TOKENS.inputTokens);
        // Anthropic's client adds the one token that a stream begins with.
        expect(outputTokens - EXPECTED_TOKENS.outputTokens).toBeOneOf([0, 1]);
      }
    },
  );

  it.runIf(isRelease)("takes the definitions of 100 MCP tools", async () => {
    const run = await runProvider({ provider, tools: 100 });
    expect({ refusals: run.server.refusals, error: run.error }).toEqual({ refusals: [], error: undefined });
    expect(run.answer).toBe("Two files.");
  });

  it("explains the cause of a 404", async () => {
    const steps = [{ status: 404, error: "This model is only supported in v1/responses" }];
    const { error } = await runProvider({ provider, steps });
    expect(error).toContain(provider === "ollama" ? "ollama pull" : "only supported in v1/responses");
  });
});

it.each(HARNESSES)("%s asks Anthropic to cache, and counts the cached tokens", async (harness) => {
  const run = await runProvider({ provider: "anthropic", harness });
  expect(tokensOf(run).at(-1)).toMatchObject({ cachedTokens: 40 });
});

describe("Ollama", () => {
  it("tells the window of its model, by which conversations are summarized", async () => {
    const server = await startProvider("ollama", []);
    const choose = async (env: Record<string, string>) =>
      chooseModel({ model: "ollama:qwen3", env: { OLLAMA_BASE_URL: server.url, ...env } });
    try {
      expect((await choose({})).model.profile).toMatchObject({ maxInputTokens: 40_960 });
      const small = await choose({ OLLAMA_CONTEXT_LENGTH: "8192" });
      expect(small.model).toMatchObject({ numCtx: 8192, profile: { maxInputTokens: 8192 } });
    } finally {
      await server.stop();
    }
  });

  it("receives the window of its model, and the names of tools and thoughts", async () => {
    const { server } = await runProvider({ provider: "ollama" });
    expect(server.requests.at(-1)).toMatchObject({ options: { num_ctx: 40_960 } });
    const messages = server.requests.at(-1).messages as Record<string, unknown>[];
    expect(messages.filter(({ role }) => role === "tool").map(({ tool_name: name }) => name)).toEqual(
      expect.arrayContaining(["write_todos", "look_0", "update_todos"]),
    );
    expect(messages.map(({ thinking }) => thinking)).toContain("Two at once.");
  });
});
