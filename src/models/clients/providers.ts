import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import {
  createAnthropic,
  createCompatible,
  createGroq,
  createOpenAI,
  type ClientOptions,
} from "./clients.ts";
import { createDeepSeek } from "./deepseek.ts";
import { createGoogle } from "./google.ts";
import { createMistral } from "./mistral.ts";
import { createOllama } from "./ollama.ts";

/** The variables of an address and of its keys. A key is never sent to another address. */
export interface Endpoint {
  baseUrl: string;
  keys: readonly string[];
}

type Endpoints = readonly [Endpoint, ...Endpoint[]];

const usual = (name: string): Endpoints => [{ baseUrl: `${name}_BASE_URL`, keys: [`${name}_API_KEY`] }];

/** A model provider. */
export interface Provider {
  label: string;
  package: string;
  /** The argument of `npm install`. */
  install: string;
  /** In order of preference. */
  endpoints: Endpoints;
  needsKey: boolean;
  /** Default address. Absent: the user has to set one. */
  baseUrl?: string;
  /** The path of the list of models, appended to the address. */
  list: string;
  /** The header of the key. Default: `authorization`, with a bearer token. */
  keyHeader?: string;
  /** Defaults for an address without a port or a path. */
  completeUrl?: { port?: number; path?: string };
  /** The default model. */
  model?: string;
  /** The variable of another default model. */
  modelVariable?: string;
  /** Matches model names that only this provider has. */
  owns?: RegExp;
  /** For a server on the user's machine: how to start it, and how to load a model. */
  local?: { start: string; get: (model: string) => string };
  create: (options: ClientOptions) => Promise<BaseChatModel>;
}

// From 1.5.9 on it needs Node 22.
const OPENAI = { package: "@langchain/openai", install: "@langchain/openai@1.5.8" };
const client = (name: string): Pick<Provider, "package" | "install"> => ({ package: name, install: name });

/** A provider of OpenAI's chat completions protocol, with variables named after it. */
const compatible = (label: string, baseUrl: string): Provider => ({
  ...OPENAI,
  label,
  endpoints: usual(label.toUpperCase()),
  needsKey: true,
  baseUrl,
  list: "/models",
  create: createCompatible,
});

/** Every provider by the name before the colon, in the order in which keys are looked up. */
export const PROVIDERS: Readonly<Record<string, Provider>> = {
  anthropic: {
    ...client("@langchain/anthropic"),
    label: "Anthropic",
    endpoints: usual("ANTHROPIC"),
    needsKey: true,
    baseUrl: "https://api.anthropic.com",
    model: "claude-sonnet-5",
    owns: /^claude-/,
    list: "/v1/models?limit=1000",
    keyHeader: "x-api-key",
    create: createAnthropic,
  },
  openai: {
    ...OPENAI,
    label: "OpenAI",
    endpoints: usual("OPENAI"),
    needsKey: true,
    baseUrl: "https://api.openai.com/v1",
    model: "gpt-5.1",
    // Not gpt-oss, which OpenAI itself does not serve.
    owns: /^(gpt-\d|chatgpt-|o\d)/,
    list: "/models",
    create: createOpenAI,
  },
  "google-genai": {
    ...client("@langchain/google-genai"),
    label: "Google",
    endpoints: [{ baseUrl: "GOOGLE_GEMINI_BASE_URL", keys: ["GOOGLE_API_KEY", "GEMINI_API_KEY"] }],
    needsKey: true,
    baseUrl: "https://generativelanguage.googleapis.com",
    model: "gemini-flash-latest",
    owns: /^gemini-/,
    list: "/v1beta/models?pageSize=1000",
    keyHeader: "x-goog-api-key",
    create: createGoogle,
  },
  mistralai: {
    ...client("@langchain/mistralai"),
    label: "Mistral",
    endpoints: usual("MISTRAL"),
    needsKey: true,
    baseUrl: "https://api.mistral.ai",
    model: "mistral-large-latest",
    list: "/v1/models",
    create: createMistral,
  },
  groq: {
    ...client("@langchain/groq"),
    label: "Groq",
    endpoints: usual("GROQ"),
    needsKey: true,
    baseUrl: "https://api.groq.com",
    model: "openai/gpt-oss-120b",
    list: "/openai/v1/models",
    create: createGroq,
  },
  deepseek: {
    ...compatible("DeepSeek", "https://api.deepseek.com/v1"),
    model: "deepseek-chat",
    create: createDeepSeek,
  },
  xai: { ...compatible("xAI", "https://api.x.ai/v1"), model: "grok-4.6", owns: /^grok-/ },
  openrouter: { ...compatible("OpenRouter", "https://openrouter.ai/api/v1"), model: "openrouter/auto" },
  together: compatible("Together", "https://api.together.xyz/v1"),
  fireworks: compatible("Fireworks", "https://api.fireworks.ai/inference/v1"),
  // Azure's v1 API, which is OpenAI's. The model is the name of a deployment.
  azure: {
    ...OPENAI,
    label: "Azure OpenAI",
    endpoints: [{ baseUrl: "AZURE_OPENAI_ENDPOINT", keys: ["AZURE_OPENAI_API_KEY"] }],
    needsKey: true,
    completeUrl: { path: "/openai/v1" },
    list: "/models",
    create: createOpenAI,
  },
  ollama: {
    ...client("@langchain/ollama"),
    label: "Ollama",
    endpoints: [
      { baseUrl: "OLLAMA_BASE_URL", keys: [] },
      { baseUrl: "OLLAMA_HOST", keys: [] },
    ],
    needsKey: false,
    baseUrl: "http://127.0.0.1:11434",
    completeUrl: { port: 11434 },
    modelVariable: "OLLAMA_MODEL_NAME",
    local: { start: "`ollama serve`", get: (model) => `get it with \`ollama pull ${model}\`` },
    list: "/api/tags",
    create: createOllama,
  },
  "lm-studio": {
    ...OPENAI,
    label: "LM Studio",
    endpoints: usual("LM_STUDIO"),
    needsKey: false,
    baseUrl: "http://localhost:1234/v1",
    completeUrl: { port: 1234, path: "/v1" },
    modelVariable: "LM_STUDIO_MODEL_NAME",
    local: { start: "`lms server start`", get: (model) => `load it with \`lms load ${model}\`` },
    list: "/models",
    create: createCompatible,
  },
  "openai-compatible": {
    ...OPENAI,
    label: "OpenAI-compatible",
    endpoints: [usual("HOLDFAST")[0], usual("OPENAI")[0]],
    needsKey: false,
    list: "/models",
    create: createCompatible,
  },
};
