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
   * The context window to request from Ollama. Default `OLLAMA_CONTEXT_LENGTH`, or the model's own up to 65,536 tokens.
   */
  contextTokens?: number;
  /** The retries of a call after a 429, a 5xx, a cut connection or an incomplete answer. Default 4. */
  maxRetries?: number;
  /**
   * The longest silence of a server in milliseconds, before its answer or within it. Default `HOLDFAST_TIMEOUT` in
   * seconds, or 5 minutes.
   */
  timeout?: number;
}

/** The names of the variables of a provider that are set. */
export function setVariables({ endpoints, modelVariable }: Provider, env: Environment): string[] {
  const variables = endpoints.flatMap(({ baseUrl, keys }) => [...keys, baseUrl]);
  return [...variables, ...(modelVariable ? [modelVariable] : [])].filter((variable) => read(env, variable));
}

/** The endpoint to use: the first one with an address, else the first one. */
export function pickEndpoint(
  { endpoints }: Provider,
  env: Environment,
  options: ModelOptions = {},
): Endpoint {
  const configured = options.baseUrl ? undefined : endpoints.find(({ baseUrl }) => read(env, baseUrl));
  return configured ?? endpoints[0];
}

/** The first of these variables that is set. */
export function findSet(env: Environment, variables: readonly string[]): string | undefined {
  return variables.find((variable) => read(env, variable));
}

/** The complete address to use. Throws `invalid-options` if it is no URL. */
export function pickBaseUrl(
  provider: Provider,
  env: Environment,
  options: ModelOptions = {},
): string | undefined {
  const variable = pickEndpoint(provider, env, options).baseUrl;
  const address = options.baseUrl ?? read(env, variable);
  if (address === undefined) return provider.baseUrl;
  const url = completeUrl(address, provider.completeUrl);
  if (url) return url;
  const where = options.baseUrl === undefined ? variable : "baseUrl";
  const example = provider.baseUrl ?? "http://localhost:8000/v1";
  throw new HarnessError("invalid-options", `${where} is not a URL; write it like ${example}.`);
}

/** A URL without user name, password and query, which may contain a key. */
export function withoutCredentials(baseUrl: string): string {
  return baseUrl.replace(/^([a-z]+:\/\/)[^/]*@/i, "$1").replace(/[?#].*$/s, "");
}

/** Completes an address. `OLLAMA_HOST` in particular is often just a host, a port, or a bind address. */
function completeUrl(
  address: string,
  { port, path = "" }: NonNullable<Provider["completeUrl"]> = {},
): string | undefined {
  const hasScheme = address.includes("://");
  const full = hasScheme ? address : `http://${address.replace(/^:/, "127.0.0.1:")}`;
  if (!URL.canParse(full)) return undefined;
  const url = new URL(full);
  if (url.protocol !== "http:" && url.protocol !== "https:") return undefined;
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "127.0.0.1";
  if (!hasScheme && url.port === "" && port !== undefined) url.port = String(port);
  if (url.pathname === "/") url.pathname = path;
  return url.href.replace(/\/+$/, "");
}
