import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { LLMock, type ChatCompletionRequest } from "@copilotkit/aimock";
import type { AIMessageChunk } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createAgent } from "langchain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { planMiddleware } from "../middleware/plan/index.ts";
import { PRESETS } from "../plan/index.ts";
import { chooseModel, type ChosenModel } from "./index.ts";

const usage = { prompt_tokens: 11, completion_tokens: 7, input_tokens: 11, output_tokens: 7 };
const weather = tool(() => "rain", {
  name: "weather",
  description: "The weather in a city.",
  schema: z.object({ city: z.string() }),
});

describe.each([
  ["openai:gpt-5.1", "OPENAI_BASE_URL", "/v1", 11],
  ["anthropic:claude-sonnet-5", "ANTHROPIC_BASE_URL", "", 11],
  // The mock server counts no tokens here; at the end of the file is one that does.
  ["ollama:qwen3:8b", "OLLAMA_BASE_URL", "", 0],
  ["lm-studio:qwen/qwen3-8b", "LM_STUDIO_BASE_URL", "", 11],
])("%s", (name, variable, path, tokens) => {
  const server = new LLMock({ port: 0, host: "127.0.0.1" });
  let chosen: ChosenModel;

  beforeAll(async () => {
    server
      .onMessage("hello", { content: "Hello, friend.", usage })
      .onMessage("weather", { toolCalls: [{ name: "weather", arguments: `{"city":"Oslo"}` }] });
    server.onMessage("inline", () => INLINE[server.getRequests().length]!);
    server.on({ toolName: "write_todos" }, () => PLAN[server.getRequests().length]!);
    await server.start();
    const keys = { OPENAI_API_KEY: "sk-secret-1", ANTHROPIC_API_KEY: "sk-ant-secret-1" };
    const env = { ...keys, [variable]: server.url + path };
    chosen = await chooseModel({ model: name, env, settings: { maxRetries: 0 } });
  });

  afterAll(async () => {
    await server.stop();
  });

  it("answers", async () => {
    const answer = await chosen.model.invoke("hello");
    expect(answer.text).toBe("Hello, friend.");
    const { body } = server.getLastRequest()!;
    expect(body).toMatchObject({ model: name.slice(name.indexOf(":") + 1) });
  });

  it("counts tokens", async () => {
    const counted = { usage_metadata: { input_tokens: tokens } };
    expect(await chosen.model.invoke("hello")).toMatchObject(counted);
    expect(await joined(await chosen.model.stream("hello"))).toMatchObject(counted);
  });

  it("calls tools", async () => {
    const answer = await chosen.model.bindTools!([weather]).invoke("weather?");
    expect(answer.tool_calls).toMatchObject([{ name: "weather", args: { city: "Oslo" } }]);
    expect(answer.tool_calls?.[0]?.id).toEqual(expect.any(String));
  });

  it("streams text and tool calls", async () => {
    const text = await joined(await chosen.model.stream("hello"));
    expect(text.text).toBe("Hello, friend.");
    const call = await joined(await chosen.model.bindTools!([weather]).stream("weather?"));
    expect(call.tool_calls).toMatchObject([{ name: "weather", args: { city: "Oslo" } }]);
  });

  it.each(["invoke", "stream"] as const)("keeps a plan to its end with %s", async (method) => {
    server.clearRequests();
    const looked: string[] = [];
    const look = tool(({ at }) => `${looked.push(at)} file`, {
      name: "look",
      description: "Look at a path.",
      schema: z.object({ at: z.string() }),
    });
    const agent = createAgent({
      model: chosen.model,
      tools: [look],
      middleware: [planMiddleware({ verify: false })],
      systemPrompt: "You are careful.",
    });
    const input = { messages: [{ role: "user" as const, content: "Look and report." }] };
    let state: Awaited<ReturnType<typeof agent.invoke>> | undefined;
    if (method === "invoke") state = await agent.invoke(input);
    else {
      for await (const [mode, part] of await agent.stream(input, { streamMode: ["values", "messages"] })) {
        if (mode === "values") state = part;
      }
    }

    expect(looked).toEqual(["src"]);
    expect(state?.messages.at(-1)?.text).toBe("One file.");
    expect(state?.todos.map(({ content, status }) => `${content}: ${status}`)).toEqual([
      "Look around: completed",
      "Count: completed",
      "Report: completed",
    ]);
    const requests = server.getRequests().map(({ body }) => body as ChatCompletionRequest);
    expect(requests).toHaveLength(PLAN.length);
    expect(definitions(requests[0]!)).toMatchObject({
      look: { properties: { at: { type: "string" } } },
      write_todos: PRESETS.lean.tools.write.schema,
      update_todos: PRESETS.lean.tools.update!.schema,
    });
    expect(textOf(requests[0]!, ["system", "developer"])).toMatch(/^You are careful\.\s+## Plan/);
    expect(textOf(requests[2]!, ["tool"])).toContain("1/3 done");
    expect(textOf(requests[3]!, ["user"])).toContain("<system_reminder>");
  });

  it.each(["invoke", "stream"] as const)("reports in its work calls with %s", async (method) => {
    server.clearRequests();
    const looked: unknown[] = [];
    const look = tool((args) => `${looked.push(args)} file`, {
      name: "look",
      description: "Look at a path.",
      schema: z.strictObject({ at: z.string() }),
    });
    const agent = createAgent({
      model: chosen.model,
      tools: [look],
      middleware: [planMiddleware({ verify: false, reports: "inline" })],
    });
    const input = { messages: [{ role: "user" as const, content: "Look inline." }] };
    let state: Awaited<ReturnType<typeof agent.invoke>> | undefined;
    if (method === "invoke") state = await agent.invoke(input);
    else {
      for await (const [mode, part] of await agent.stream(input, { streamMode: ["values", "messages"] })) {
        if (mode === "values") state = part;
      }
    }

    expect(looked).toEqual([{ at: "src" }, { at: "test" }]);
    expect(state?.todos.map(({ status }) => status)).toEqual(["completed", "completed"]);
    const requests = server.getRequests().map(({ body }) => body as ChatCompletionRequest);
    expect(requests).toHaveLength(3);
    expect(definitions(requests[0]!)["look"]).toMatchObject({
      properties: { at: { type: "string" }, todo_done: { type: "string" } },
      required: ["at"],
    });
    const calls = requests[2]!.messages.flatMap(({ tool_calls = [] }) => tool_calls);
    const sent = calls.map((call) => JSON.parse(call.function.arguments) as object);
    expect(sent.slice(1)).toEqual([{ at: "src" }, { at: "test", todo_done: "1" }]);
  });
});

/** What the model says in each turn: the plan, work, an answer too early, and after the reminder the rest. */
const PLAN = [
  {
    toolCalls: [
      {
        name: "write_todos",
        arguments: JSON.stringify({ todos: ["Look around", "Count", { content: "Report" }] }),
      },
    ],
  },
  {
    toolCalls: [
      { name: "update_todos", arguments: `{"done":"1"}` },
      { name: "look", arguments: `{"at":"src"}` },
    ],
  },
  { content: "One file!" },
  { toolCalls: [{ name: "update_todos", arguments: `{"done":"2,3"}` }] },
  { content: "One file." },
];

/** The same with reports in work calls, one of them beside the plan and one alone. */
const INLINE = [
  {
    toolCalls: [
      { name: "write_todos", arguments: JSON.stringify({ todos: ["Look around", "Count"] }) },
      { name: "look", arguments: `{"at":"src"}` },
    ],
  },
  { toolCalls: [{ name: "look", arguments: `{"at":"test","todo_done":"1"}` }] },
  { content: "One file." },
];

describe("Ollama as it is", () => {
  it("streams each tool call on its own line, and counts tokens", async () => {
    const message = (part: object) => ({ role: "assistant", content: "", ...part });
    const call = (name: string) => message({ tool_calls: [{ function: { name, arguments: { at: name } } }] });
    const lines = [
      { message: call("look"), done: false },
      { message: call("update_todos"), done: false },
      { message: message({}), done: true, done_reason: "stop", prompt_eval_count: 11, eval_count: 7 },
    ];
    const server = createServer((request, response) => {
      request.resume();
      response.setHeader("content-type", "application/x-ndjson");
      response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const { model } = await chooseModel({ model: "ollama:qwen3", env: {}, settings: { baseUrl } });
      const answer = await model.invoke("go");
      expect(answer).toMatchObject({
        tool_calls: [{ name: "look" }, { name: "update_todos" }],
        usage_metadata: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
      });
      expect(new Set(answer.tool_calls?.map(({ id }) => id)).size).toBe(2);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

async function joined(stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  const chunks: AIMessageChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks.reduce((whole, chunk) => whole.concat(chunk));
}

function definitions({ tools = [] }: ChatCompletionRequest): Record<string, unknown> {
  return Object.fromEntries(tools.map(({ function: { name, parameters } }) => [name, parameters]));
}

function textOf({ messages }: ChatCompletionRequest, roles: string[]): string {
  return messages
    .filter(({ role }) => roles.includes(role))
    .map(({ content }) =>
      typeof content === "string" ? content : (content ?? []).map((part) => part.text).join("\n"),
    )
    .join("\n");
}
