import { AIMessage, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { tool } from "langchain";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { startModelServer } from "../../../test/helpers/models/model-server.ts";
import { createDeepAgent } from "../../deep/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";

const note = tool(() => "noted", { name: "note", description: "n", schema: z.object({}) });
const go = { messages: [new HumanMessage("the task")] };
const tooLong = (words = "prompt is too long: 9 tokens > 8 maximum") =>
  Object.assign(new Error(words), { status: 400 });

function agentOf(steps: Step[], summaries: Step[] = ["They talked."], trigger = { messages: 1000 }) {
  const model = new ScriptedModel(steps);
  const summarizer = new ScriptedModel(summaries);
  const summarization = { model: summarizer, trigger, keep: { messages: 6 } };
  return { model, summarizer, agent: createDeepAgent({ model, tools: [note], plan: false, summarization }) };
}
const texts = (messages: readonly BaseMessage[]): string[] => messages.map((message) => message.text);

describe("a conversation that the model finds too long", () => {
  it("is summarized and sent once more, and kept as in any other summary", async () => {
    const work = [callTool("note"), callTool("note"), callTool("note")];
    const { model, summarizer, agent } = agentOf([...work, tooLong(), "done"]);
    const { messages, files } = await agent.invoke(go);
    expect(model.requests).toHaveLength(5);
    expect(summarizer.requests).toHaveLength(1);
    const [sent, again] = [model.requests[3]!.messages, model.requests[4]!.messages];
    expect(again.length).toBeLessThan(sent.length);
    expect(texts(again)[1]).toMatch(
      /<said>\nthe task\n<\/said>[^]*They talked\.[^]*\/.history\/conversation\.md/,
    );
    expect(texts(messages)[0]).toBe("the task");
    expect(texts(messages).at(-1)).toBe("done");
    expect(files).toEqual({});
    // What the model has asked for and got stays in pairs.
    const calls = messages.flatMap((one) => (AIMessage.isInstance(one) ? (one.tool_calls ?? []) : []));
    expect(messages.filter((one) => one.getType() === "tool")).toHaveLength(calls.length);
  });

  it("fails with the provider's first error when it still does not fit", async () => {
    const { model, summarizer, agent } = agentOf([
      callTool("note"),
      tooLong("context window: first"),
      tooLong("context window: second"),
    ]);
    await expect(agent.invoke(go)).rejects.toThrow("context window: first");
    expect(model.requests).toHaveLength(3);
    expect(summarizer.requests).toHaveLength(1);
  });

  it("is summarized once more where the usual summary was not enough", async () => {
    const work = [callTool("note"), callTool("note"), callTool("note"), callTool("note")];
    const { model, agent } = agentOf([...work, tooLong(), "done"], ["Long.", "Short."], { messages: 9 });
    await agent.invoke(go);
    const [sent, again] = [model.requests[4]!.messages, model.requests[5]!.messages];
    expect(texts(sent)[1]).toContain("Long.");
    expect(texts(again)[1]).toContain("Short.");
    expect(again.length).toBeLessThan(sent.length);
  });

  it.each([
    ["there is nothing to leave out", [tooLong()], ["unused"], 0],
    ["there is no summary to be had", [callTool("note"), tooLong()], [new Error("down")], 1],
  ])("fails as it did where %s", async (_when, steps, summaries, asked) => {
    const { summarizer, agent } = agentOf(steps, summaries);
    await expect(agent.invoke(go)).rejects.toThrow("prompt is too long");
    expect(summarizer.requests).toHaveLength(asked);
  });

  it("is not assumed after other failures", async () => {
    const { summarizer, agent } = agentOf([
      callTool("note"),
      Object.assign(new Error("no such field"), { status: 400 }),
    ]);
    await expect(agent.invoke(go)).rejects.toThrow("no such field");
    expect(summarizer.requests).toHaveLength(0);
  });
});

describe("over the wire", () => {
  afterEach(() => void vi.unstubAllEnvs());

  const OPENAI = {
    error: {
      message:
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens. Please reduce the length of the messages.",
      type: "invalid_request_error",
      param: "messages",
      code: "context_length_exceeded",
    },
  };
  const ANTHROPIC = {
    type: "error",
    error: { type: "invalid_request_error", message: "prompt is too long: 213456 tokens > 200000 maximum" },
  };

  const LOADED =
    "Trying to keep the first 40000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.";
  const LM_STUDIO = { error: { message: LOADED } };
  const LLAMA = { error: { code: 500, message: "the request exceeds the available context size" } };

  const chunk = (delta: object, finish_reason: string | null) =>
    `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const OKAY = `${chunk({ role: "assistant", content: "ok" }, null)}${chunk({}, "stop")}data: [DONE]\n\n`;

  const conversation = [
    ...Array.from({ length: 10 }, (_, n) => [
      new HumanMessage(`question ${n} ${"why ".repeat(2500)}`),
      new AIMessage(`answer ${n} ${"so ".repeat(3000)}`),
    ]).flat(),
    new HumanMessage("and now?"),
  ];

  it.each([
    ["openai:gpt-5.1", "OPENAI", "/v1", 400, OPENAI],
    ["openai:some-new-model", "OPENAI", "/v1", 400, OPENAI],
    ["anthropic:claude-sonnet-5", "ANTHROPIC", "", 400, ANTHROPIC],
    ["openai-compatible:llama", "HOLDFAST", "/v1", 500, LLAMA],
    ["lm-studio:qwen", "LM_STUDIO", "/v1", 200, LM_STUDIO],
  ])("%s, %s%s, %i", async (model, prefix, path, status, error) => {
    const server = await startModelServer((body) =>
      JSON.stringify(body).length > 120_000 ? { status, body: error } : undefined,
    );
    try {
      vi.stubEnv(`${prefix}_API_KEY`, "test");
      vi.stubEnv(`${prefix}_BASE_URL`, server.url + path);
      const agent = createDeepAgent({ model });
      const result = await agent.invoke({ messages: conversation });
      expect(result.messages.at(-1)!.text).toBe("ok");
      expect(result.messages[0]!.text).toContain("question 0");
      // Too long, the summary in parts that fit, and once more.
      expect(server.requests.length).toBeGreaterThan(2);
      for (const { body } of server.requests.slice(1)) {
        expect(JSON.stringify(body).length).toBeLessThan(120_000);
      }
      const again = JSON.stringify(server.requests.at(-1)!.body);
      expect(again).toContain("conversation_so_far");
      expect(again).toContain("question 0");
      expect(again).toContain("and now?");
    } finally {
      server.stop();
    }
  });

  it.each([
    ["an event of LM Studio's", 200, `event: error\ndata: ${JSON.stringify(LM_STUDIO)}\n\n`],
    ["a code alone", 200, `data: {"error":{"message":"No.","code":"context_length_exceeded"}}\n\n`],
    ["JSON in its place", 200, LM_STUDIO],
    ["a failure of llama.cpp's", 500, LLAMA],
  ])("in a stream, by %s", async (_, status, body) => {
    const server = await startModelServer((sent) => {
      if (JSON.stringify(sent).length > 120_000) return { status, body };
      return sent["stream"] ? { status: 200, body: OKAY } : undefined;
    });
    try {
      vi.stubEnv("LM_STUDIO_BASE_URL", `${server.url}/v1`);
      const agent = createDeepAgent({ model: "lm-studio:qwen" });
      const pieces = await agent.stream({ messages: conversation }, { streamMode: "messages" });
      let said = "";
      for await (const [message] of pieces) if (AIMessage.isInstance(message)) said += message.text;
      expect(said).toContain("ok");
      expect(server.requests.length).toBeGreaterThan(2);
      expect(server.requests[0]!.body["stream"]).toBe(true);
    } finally {
      server.stop();
    }
  });
});
