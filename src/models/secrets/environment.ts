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

/** Every provider's endpoints, in order of preference. */
export const ENDPOINTS = {
  anthropic: [{ baseUrl: "ANTHROPIC_BASE_URL", keys: ["ANTHROPIC_API_KEY"] }],
  openai: [{ baseUrl: "OPENAI_BASE_URL", keys: ["OPENAI_API_KEY"] }],
  "google-genai": [{ baseUrl: "GOOGLE_GEMINI_BASE_URL", keys: ["GOOGLE_API_KEY", "GEMINI_API_KEY"] }],
  mistralai: [{ baseUrl: "MISTRAL_BASE_URL", keys: ["MISTRAL_API_KEY"] }],
  groq: [{ baseUrl: "GROQ_BASE_URL", keys: ["GROQ_API_KEY"] }],
  deepseek: [{ baseUrl: "DEEPSEEK_BASE_URL", keys: ["DEEPSEEK_API_KEY"] }],
  ollama: [
    { baseUrl: "OLLAMA_BASE_URL", keys: [] },
    { baseUrl: "OLLAMA_HOST", keys: [] },
  ],
  "lm-studio": [{ baseUrl: "LM_STUDIO_BASE_URL", keys: ["LM_STUDIO_API_KEY"] }],
  "openai-compatible": [
    { baseUrl: "HOLDFAST_BASE_URL", keys: ["HOLDFAST_API_KEY"] },
    { baseUrl: "OPENAI_BASE_URL", keys: ["OPENAI_API_KEY"] },
  ],
} as const satisfies Readonly<Record<string, readonly [Endpoint, ...Endpoint[]]>>;
