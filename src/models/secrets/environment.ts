/** Variables by name. Empty ones count as not set. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a variable. */
export function read(env: Environment, variable: string | undefined): string | undefined {
  return (variable && env[variable]?.trim()) || undefined;
}

/** The variables of an address and of the keys that belong to it. A key is never sent to another's address. */
export interface Endpoint {
  baseUrl: string;
  keys: readonly string[];
}

type Endpoints = readonly [Endpoint, ...Endpoint[]];

const usual = (name: string): Endpoints => [{ baseUrl: `${name}_BASE_URL`, keys: [`${name}_API_KEY`] }];

/** Every provider's endpoints, in order of preference. */
export const ENDPOINTS = {
  anthropic: usual("ANTHROPIC"),
  openai: usual("OPENAI"),
  "google-genai": [{ baseUrl: "GOOGLE_GEMINI_BASE_URL", keys: ["GOOGLE_API_KEY", "GEMINI_API_KEY"] }],
  mistralai: usual("MISTRAL"),
  groq: usual("GROQ"),
  deepseek: usual("DEEPSEEK"),
  xai: usual("XAI"),
  openrouter: usual("OPENROUTER"),
  together: usual("TOGETHER"),
  fireworks: usual("FIREWORKS"),
  azure: [{ baseUrl: "AZURE_OPENAI_ENDPOINT", keys: ["AZURE_OPENAI_API_KEY"] }],
  ollama: [
    { baseUrl: "OLLAMA_BASE_URL", keys: [] },
    { baseUrl: "OLLAMA_HOST", keys: [] },
  ],
  "lm-studio": usual("LM_STUDIO"),
  "openai-compatible": [usual("HOLDFAST")[0], usual("OPENAI")[0]],
} satisfies Readonly<Record<string, Endpoints>>;
