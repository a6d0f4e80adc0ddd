import { tool, type StructuredTool } from "@langchain/core/tools";
import { createDeepAgent, makeLeadAgent } from "../../../src/index.ts";
import { usedTokens, type UsageSource } from "../../../src/middleware/prices/index.ts";
import { chooseModel, explainModelError } from "../../../src/models/index.ts";
import { thoughtsOf } from "../../../src/models/thinking/thoughts.ts";
import {
  callTool,
  startProvider,
  type ProviderName,
  type ProviderServer,
  type ProviderStep,
} from "../../../src/testing/index.ts";
import { PROVIDER_USAGE } from "../../../src/testing/providers/index.ts";

/** Providers by the model that is asked of them, and where their address is set. */
export const PROVIDERS: Record<ProviderName, { model: string; variable: string; path?: string }> = {
  openai: { model: "openai:gpt-5.1", variable: "OPENAI_BASE_URL", path: "/v1" },
  "openai-responses": { model: "openai:gpt-5.1-codex", variable: "OPENAI_BASE_URL", path: "/v1" },
  anthropic: { model: "anthropic:claude-sonnet-5", variable: "ANTHROPIC_BASE_URL" },
  "google-genai": { model: "google-genai:gemini-3-flash", variable: "GOOGLE_GEMINI_BASE_URL" },
  mistralai: { model: "mistralai:magistral-medium-latest", variable: "MISTRAL_BASE_URL" },
  groq: { model: "groq:openai/gpt-oss-120b", variable: "GROQ_BASE_URL" },
  deepseek: { model: "deepseek:deepseek-reasoner", variable: "DEEPSEEK_BASE_URL", path: "/v1" },
  openrouter: { model: "openai-compatible:qwen/qwen3-coder", variable: "HOLDFAST_BASE_URL", path: "/api/v1" },
  ollama: { model: "ollama:qwen3:8b", variable: "OLLAMA_BASE_URL" },
};

export const HARNESSES = ["createDeepAgent", "makeLeadAgent"] as const;
export type Harness = (typeof HARNESSES)[number];

/** A tool as MCP servers describe theirs: definitions, references, lists of types, names of properties. */
const MCP_SCHEMA = {
  $schema: "http://json-schema.org/draft-07/schema#",
  type: "object",
  properties: {
    at: { type: "string", description: "A path." },
    owner: { anyOf: [{ $ref: "#/$defs/user" }, { type: "null" }] },
    depth: { type: ["integer", "null"], exclusiveMinimum: 0 },
    level: { enum: [1, 2, 3] },
    kind: { const: "file" },
    labels: {
      type: "object",
      propertyNames: { pattern: "^[a-z]+$" },
      additionalProperties: { type: "string" },
    },
    tree: { $ref: "#/$defs/node" },
    range: { type: "array", prefixItems: [{ type: "number" }, { type: "number" }] },
    any: {},
  },
  required: ["at"],
  additionalProperties: false,
  $defs: {
    user: { type: "object", properties: { login: { type: "string", format: "uri" } }, required: ["login"] },
    node: {
      type: "object",
      properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
    },
  },
} as const;

/** So many tools of MCP servers; the first is `look_0`. */
export function mcpTools(count: number): StructuredTool[] {
  return Array.from({ length: count }, (_, at) =>
    tool(({ at: path }: { at: string }) => `One file in ${path}.`, {
      name: `look_${at}`,
      description: "Look at a path.",
      schema: MCP_SCHEMA as never,
    }),
  );
}

const look = (at: string) => callTool("look_0", { at });
const done = ["Look", "Report"].map((content) => ({ content, status: "completed" }));

/** A plan, two calls side by side, four rounds without a plan call, so that a reminder comes, and the answer. */
const SCRIPTS: Record<Harness, ProviderStep[]> = {
  createDeepAgent: script(["Look", "Report"], callTool("update_todos", { done: "1,2" })),
  makeLeadAgent: script(
    ["Look", "Report"].map((content) => ({ content, status: "pending" })),
    callTool("write_todos", { todos: done }),
  ),
};

function script(todos: unknown[], close: ReturnType<typeof callTool>): ProviderStep[] {
  return [
    { thoughts: "I need a plan.", text: "First a plan.", calls: [callTool("write_todos", { todos })] },
    { thoughts: "Two at once.", text: "Now both.", calls: [look("src"), look("test")] },
    ...[1, 2, 3, 4, 5].map((at) => ({ calls: [look(`folder-${at}`)] })),
    { calls: [close, look("docs")] },
    { thoughts: "All seen.", text: "Two files." },
  ];
}

/** One run of a harness against a provider that refuses. */
export interface ProviderRun {
  server: Pick<ProviderServer, "requests" | "refusals">;
  /** Why the run failed, as people read it. */
  error?: string;
  answer: string;
  todos: string[];
  messages: (UsageSource & { type: string; text: string; additional_kwargs?: Record<string, unknown> })[];
}

export interface ProviderRunOptions {
  provider: ProviderName;
  harness?: Harness;
  tools?: number;
  steps?: ProviderStep[];
  /** Default: thoughts are asked for where the script has some. */
  effort?: "low" | "medium" | "high";
}

interface State {
  messages: ProviderRun["messages"];
  todos: { content: string; status: string }[];
}

const THREAD = { configurable: { thread_id: "thread-1" } };

export async function runProvider({
  provider,
  harness = "createDeepAgent",
  tools = 1,
  steps = SCRIPTS[harness],
  effort,
}: ProviderRunOptions): Promise<ProviderRun> {
  const server = await startProvider(provider, steps);
  const { model: name, variable, path = "" } = PROVIDERS[provider];
  const env = { ...KEYS, [variable]: server.url + path };
  try {
    const chosen = await chooseModel({ model: name, env, settings: { maxRetries: 0 } });
    const given = { model: chosen.model, tools: mcpTools(tools) };
    const agent =
      harness === "createDeepAgent"
        ? createDeepAgent({ ...given, plan: { verify: false } })
        : makeLeadAgent(
            { configurable: { is_plan_mode: true, ...(effort && { reasoning_effort: effort }) } },
            { ...given, onWarning: () => {} },
          );
    const input = { messages: [{ role: "user" as const, content: "Look and report." }] };
    try {
      let state!: State;
      if (harness === "makeLeadAgent") state = (await agent.invoke(input as never, THREAD)) as never;
      // Streamed as surfaces do it.
      else {
        const stream = await agent.stream(input as never, { ...THREAD, streamMode: ["values", "messages"] });
        for await (const [mode, part] of stream as AsyncIterable<[string, unknown]>)
          if (mode === "values") state = part as State;
      }
      return {
        server,
        answer: state.messages.at(-1)!.text,
        todos: state.todos.map(({ content, status }) => `${content}: ${status}`),
        messages: state.messages,
      };
    } catch (error) {
      return {
        server,
        answer: "",
        todos: [],
        messages: [],
        error: explainModelError(error, { ...chosen, env }),
      };
    }
  } finally {
    await server.stop();
  }
}

/** Stand-ins for the keys of all providers. */
export const KEYS = Object.fromEntries(
  ["OPENAI", "ANTHROPIC", "GOOGLE", "MISTRAL", "GROQ", "DEEPSEEK", "HOLDFAST"].map((name) => [
    `${name}_API_KEY`,
    "key-of-a-test",
  ]),
);

/** The tokens of each answer, as budgets count them. */
export function tokensOf({ messages }: ProviderRun) {
  return messages.filter(({ type }) => type === "ai").map((message) => usedTokens(message));
}

export const EXPECTED_TOKENS = { inputTokens: PROVIDER_USAGE.input, outputTokens: PROVIDER_USAGE.output };

/** What a provider takes and tells: `✓`, or `✗` with the reason. */
export interface ProviderRow {
  "parallel calls": string;
  thinking: string;
  cache: string;
  usage: string;
  "100 MCP tools": string;
  "words of a 404": string;
}

/** Providers that keep the beginning of a request unasked, and those whose answers do not tell what came from there. */
const CACHE: Partial<Record<ProviderName, string>> = {
  ollama: "on the server, not told",
  groq: "unasked, not told",
  mistralai: "unasked, not told",
};

export async function providerRow(provider: ProviderName): Promise<ProviderRow> {
  const runs: ProviderRun[] = [];
  for (const harness of HARNESSES) runs.push(await runProvider({ provider, harness, effort: "low" }));
  const many = await runProvider({ provider, tools: 100 });
  const words = "The model is not here, says the provider";
  const { error = "" } = await runProvider({ provider, steps: [{ status: 404, error: words }] });
  const all = (isRight: (run: ProviderRun) => boolean): string => {
    const wrong = runs.find((run) => !isRight(run));
    return wrong ? `✗ ${wrong.server.refusals[0] ?? wrong.error ?? "missing"}` : "✓";
  };
  const counted = (run: ProviderRun, key: "inputTokens" | "outputTokens" | "cachedTokens"): number =>
    Math.max(...tokensOf(run).map((tokens) => tokens[key]));
  return {
    "parallel calls": all(({ answer, todos }) => answer !== "" && todos.length === 2),
    thinking:
      provider === "groq"
        ? "✓, not read by its client"
        : all(({ messages }) => messages.some((message) => thoughtsOf(message).includes("Two at once."))),
    cache: CACHE[provider] ?? all((run) => counted(run, "cachedTokens") === PROVIDER_USAGE.cached),
    usage: all(
      (run) =>
        counted(run, "inputTokens") === PROVIDER_USAGE.input &&
        counted(run, "outputTokens") - PROVIDER_USAGE.output <= 1,
    ),
    "100 MCP tools": many.answer === "" ? `✗ ${many.error}` : "✓",
    "words of a 404": error.includes(words) || provider === "ollama" ? "✓" : `✗ ${error}`,
  };
}
