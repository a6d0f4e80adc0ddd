import { ChatAnthropic } from "@langchain/anthropic";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "langchain";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { startModelServer } from "../../test/helpers/models/model-server.ts";
import { changed } from "../models/deferred.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";
import { createDeepAgent } from "./index.ts";

const go = { messages: [new HumanMessage("go")] };

describe("prompt caching", () => {
  it("sets breakpoints in requests to Anthropic", async () => {
    const bodies: string[] = [];
    const turn = (content: object[], stop_reason: string): Response =>
      Response.json({
        id: `msg_${bodies.length}`,
        type: "message",
        role: "assistant",
        model: "claude-sonnet-4-5",
        content,
        stop_reason,
        usage: { input_tokens: 1, output_tokens: 1 },
      });
    const model = new ChatAnthropic({
      model: "claude-sonnet-4-5",
      apiKey: "test",
      clientOptions: {
        fetch: async (_url, init) => {
          bodies.push(init!.body as string);
          return bodies.length === 1
            ? turn([{ type: "tool_use", id: "t1", name: "ls", input: {} }], "tool_use")
            : turn([{ type: "text", text: "done" }], "end_turn");
        },
      },
    });
    await createDeepAgent({ model }).invoke(go);
    expect(bodies).toHaveLength(2);
    expect(bodies[1]).toContain('"cache_control":{"type":"ephemeral"');
  });

  it("sets them too where the model is named and chosen when it is first used", async () => {
    const server = await startModelServer(({ messages }) => {
      if ((messages as object[]).length > 1) return undefined;
      const content = [{ type: "tool_use", id: "t1", name: "ls", input: {} }];
      const usage = { input_tokens: 1, output_tokens: 1 };
      const message = {
        id: "m0",
        type: "message",
        role: "assistant",
        content,
        stop_reason: "tool_use",
        usage,
      };
      return { status: 200, body: message };
    });
    vi.stubEnv("ANTHROPIC_API_KEY", "test").stubEnv("ANTHROPIC_BASE_URL", server.url);
    try {
      await createDeepAgent({ model: "anthropic:claude-sonnet-4-5" }).invoke(go);
      expect(server.requests).toHaveLength(2);
      expect(JSON.stringify(server.requests[1])).toContain('"cache_control":{"type":"ephemeral"');
    } finally {
      vi.unstubAllEnvs();
      server.stop();
    }
  });
});

describe("summarization", () => {
  const big = tool(() => "word ".repeat(400), { name: "big", description: "b", schema: z.looseObject({}) });

  /** How many requests the agent's model got before one had a summary in it. */
  async function summarizedAt(maxInputTokens: number | undefined, isDeferred = false): Promise<number> {
    const steps: Step[] = [...Array.from({ length: 8 }, (_, n) => callTool("big", { n })), "done"];
    const model = new ScriptedModel(steps);
    const summarizer = new ScriptedModel([new AIMessage("They talked.")], { loop: true });
    for (const one of [model, summarizer]) {
      if (maxInputTokens !== undefined) Object.defineProperty(one, "profile", { value: { maxInputTokens } });
    }
    const writer = isDeferred
      ? changed({ _getModelInstance: async () => summarizer } as never, (chosen) => chosen)
      : summarizer;
    const agent = createDeepAgent({ model, tools: [big], plan: false, summarization: { model: writer } });
    await agent.invoke(go, { recursionLimit: 100 });
    return model.requests.findIndex(({ messages }) =>
      messages.some((message) => message.text.includes("They talked.")),
    );
  }

  it("starts near the end of the model's input when the profile gives its length", async () => {
    const small = await summarizedAt(2000);
    const larger = await summarizedAt(3500);
    expect(small).toBeGreaterThan(1);
    expect(larger).toBeGreaterThan(small);
    expect(await summarizedAt(undefined)).toBe(-1);
    expect(await summarizedAt(2000, true)).toBe(small);
  });
});
