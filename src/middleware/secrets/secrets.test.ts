import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { ChatAnthropic } from "@langchain/anthropic";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { ChatGroq } from "@langchain/groq";
import { ChatMistralAI } from "@langchain/mistralai";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, modelRetryMiddleware, type AnyAgentMiddleware } from "langchain";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createDeepAgent } from "../../deep/index.ts";
import { makeLeadAgent } from "../../lead/index.ts";
import { sqliteSaver, type SqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel } from "../../testing/index.ts";
import { planMiddleware } from "../plan/index.ts";

// Nothing that looks like a key: it is known because the model was made with it.
const KEY = "open.sesame-mountain~7";
const config = { configurable: { thread_id: "t" } };
const go = { messages: [new HumanMessage("go")] };

let server: Server;
let url: string;
let folder: string;
let saver: SqliteSaver;
beforeAll(async () => {
  // What a careless server says about a request: all of its headers.
  server = createServer((request, response) => {
    request.resume().on("end", () => {
      const message = `You sent ${JSON.stringify(request.headers)} to ${request.url}`;
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message, type: "invalid" }, message }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-secrets-"));
  saver = await sqliteSaver(join(folder, "threads.db"));
});
afterEach(() => {
  saver.close();
  rmSync(folder, { recursive: true });
});

const openai = (): ChatOpenAI =>
  new ChatOpenAI({ model: "gpt-5.1", apiKey: KEY, configuration: { baseURL: url }, maxRetries: 0 });

const MODELS: [string, () => BaseChatModel][] = [
  ["OpenAI", openai],
  ["OpenAI, with a config", () => openai().withConfig({ tags: ["mine"] }) as unknown as BaseChatModel],
  [
    "Anthropic",
    () => new ChatAnthropic({ model: "claude-sonnet-5", apiKey: KEY, anthropicApiUrl: url, maxRetries: 0 }),
  ],
  ["Groq", () => new ChatGroq({ model: "any", apiKey: KEY, baseUrl: url, maxRetries: 0 })],
  ["Mistral", () => new ChatMistralAI({ model: "any", apiKey: KEY, serverURL: url, maxRetries: 0 })],
  [
    "Google",
    () => new ChatGoogleGenerativeAI({ model: "gemini-any", apiKey: KEY, baseUrl: url, maxRetries: 0 }),
  ],
];

interface Agent {
  invoke: (input: typeof go, config: object) => Promise<{ messages: BaseMessage[] }>;
}
const lead = (model: BaseChatModel): Agent =>
  makeLeadAgent(config, { model, checkpointer: saver, baseDir: folder }) as Agent;
const AGENTS: [string, (model: BaseChatModel) => Agent][] = [
  ["a deep agent", (model) => createDeepAgent({ model, checkpointer: saver }) as Agent],
  [
    "a deep agent without a plan",
    (model) => createDeepAgent({ model, plan: false, checkpointer: saver }) as Agent,
  ],
  ["a lead agent", lead],
  [
    "an agent with a plan",
    (model) => createAgent({ model, middleware: [planMiddleware()], checkpointer: saver }) as Agent,
  ],
];

/** Every byte that was kept: the file of threads, and what stands beside it. */
const kept = (): string =>
  readdirSync(folder)
    .filter((name) => name.startsWith("threads.db"))
    .map((name) => readFileSync(join(folder, name), "latin1"))
    .join("");

describe.each(MODELS)("the user's own API key that a model server repeats (%s)", (_, make) => {
  it.each(AGENTS)("is neither stored nor thrown by %s", async (_name, build) => {
    const model = make();
    const error: unknown = await build(model)
      .invoke(go, config)
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    const shown = inspect(error, { depth: 20 }) + kept();
    expect(shown).toContain("You sent");
    expect(shown).not.toContain(KEY);
    // The model itself has it still.
    expect(model.getName()).toBe(make().getName());
    await expect(model.invoke("Hello")).rejects.toThrow(KEY);
  });
});

it("no key goes back to the model in the error of a sub-agent", async () => {
  const task = callTool("task", { description: "Look", subagent_type: "helper" });
  const model = new ScriptedModel([task, "It failed."]);
  const subagents = [{ name: "helper", description: "Helps.", model: openai(), plan: false as const }];
  const agent = createDeepAgent({ model, subagents, checkpointer: saver }) as Agent;
  await agent.invoke(go, config);
  const sent = model.requests[1]!.messages.at(-1)!.text;
  expect(sent).toContain("You sent");
  expect(sent + kept()).not.toContain(KEY);
});

it("an answer that a user's middleware makes of the error contains no key", async () => {
  const retry = modelRetryMiddleware({ maxRetries: 0, onFailure: "continue" });
  const middleware = [retry as unknown as AnyAgentMiddleware];
  const agents = [
    createDeepAgent({ model: openai(), plan: false, middleware, checkpointer: saver }),
    createAgent({ model: openai(), middleware: [planMiddleware(), ...middleware], checkpointer: saver }),
  ] as unknown as Agent[];
  for (const agent of agents) {
    const { messages } = await agent.invoke(go, config);
    expect(messages.at(-1)!.text).toContain("You sent");
    expect(inspect(messages) + kept()).not.toContain(KEY);
  }
});
