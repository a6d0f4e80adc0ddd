import { HarnessError } from "../errors.ts";
import type { Endpoint, Provider } from "./clients/providers.ts";
import { read, type Environment } from "./secrets/index.ts";

/** Options that are passed to the model. */
export interface ModelOptions {
  /** Default: the variables of the provider. */
  apiKey?: string;
  baseUrl?: string;
  /** Default: the provider's. */
  temperature?: number;
  maxTokens?: number;
  /**
   * The window that Ollama is to give a model. Default `OLLAMA_CONTEXT_LENGTH`, or the model's own up to 65,536 tokens.
   */
  contextTokens?: number;
  /** The retries of a call after a 429, a 5xx, a cut connection or an incomplete answer. Default 4. */
  maxRetries?: number;
  /**
   * After how many milliseconds a server is given up that is silent, before its answer or within it. Default
   * `HOLDFAST_TIMEOUT` in seconds, or 5 minutes. The clients of Google and Mistral do not know it.
   */
  timeout?: number;
}

/** The names of those variables of a provider that are set. */
export function setVariables({ endpoints, modelVariable }: Provider, env: Environment): string[] {
  const variables = endpoints.flatMap(({ baseUrl, keys }) => [...keys, baseUrl]);
  return [...variables, ...(modelVariable ? [modelVariable] : [])].filter((variable) => read(env, variable));
}

/** The endpoint to use: the first whose address is set, or else the first. */
export function pickEndpoint(
  { endpoints }: Provider,
  env: Environment,
  options: ModelOptions = {},
): Endpoint {
  const found = options.baseUrl ? undefined : endpoints.find(({ baseUrl }) => read(env, baseUrl));
  return found ?? endpoints[0];
}

/** The first of these variables that is set. */
export function findSet(env: Environment, variables: readonly string[]): string | undefined {
  return variables.find((variable) => read(env, variable));
}

/** The address to use, complete. Throws `invalid-options` when it is no URL. */
export function pickBaseUrl(
  provider: Provider,
  env: Environment,
  options: ModelOptions = {},
): string | undefined {
  const variable = pickEndpoint(provider, env, options).baseUrl;
  const given = options.baseUrl ?? read(env, variable);
  if (given === undefined) return provider.baseUrl;
  const url = completeUrl(given, provider.completeUrl);
  if (url) return url;
  const where = options.baseUrl === undefined ? variable : "baseUrl";
  const example = provider.baseUrl ?? "http://localhost:8000/v1";
  throw new HarnessError("invalid-options", `${where} is not a URL; write it like ${example}.`);
}

/** An address without its user name and password, and without its query, which may hold a key. */
export function withoutCredentials(baseUrl: string): string {
  return baseUrl.replace(/^([a-z]+:\/\/)[^/]*@/i, "$1").replace(/[?#].*$/s, "");
}

/** `OLLAMA_HOST` in particular is often just a host, a port, or the address that a server binds to. */
function completeUrl(
  given: string,
  { port, path = "" }: NonNullable<Provider["completeUrl"]> = {},
): string | undefined {
  const hasScheme = given.includes("://");
  const full = hasScheme ? given : `http://${given.replace(/^:/, "127.0.0.1:")}`;
  if (!URL.canParse(full)) return undefined;
  const url = new URL(full);
  if (url.protocol !== "http:" && url.protocol !== "https:") return undefined;
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "127.0.0.1";
  if (!hasScheme && url.port === "" && port !== undefined) url.port = String(port);
  if (url.pathname === "/") url.pathname = path;
  return url.href.replace(/\/+$/, "");
}
