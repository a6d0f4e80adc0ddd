import { createRequire } from "node:module";
import { attempt } from "../errors.ts";
import { PROVIDERS, type Provider } from "./clients/providers.ts";
import { type Environment, read } from "./secrets/index.ts";
import { pickBaseUrl, setVariables, withoutCredentials, findSet, pickEndpoint } from "./settings.ts";

/** The state of one provider. */
export interface ModelReport {
  provider: string;
  package: string;
  installed: boolean;
  /** The command that installs the package. */
  install: string;
  /** The variables of the provider that are set: names, never values. */
  variables: string[];
  /** The address of requests, without credentials. Absent if it is not set or invalid. */
  baseUrl?: string;
}

/** Reports for every provider whether its package is installed, and its variables. Default `process.env`. */
export function describeModels(env: Environment = process.env): ModelReport[] {
  const { resolve } = createRequire(import.meta.url);
  return Object.entries(PROVIDERS).map(([id, provider]) => {
    const baseUrl = attempt(() => pickBaseUrl(provider, env));
    return {
      provider: id,
      package: provider.package,
      installed: attempt(() => resolve(provider.package)) !== undefined,
      install: `npm install ${provider.install}`,
      variables: setVariables(provider, env),
      ...(baseUrl !== undefined && { baseUrl: withoutCredentials(baseUrl) }),
    };
  });
}

/**
 * Gets the list of a provider's models, which is free and checks address and key. Undefined if the server has no such
 * list. Throws what `fetch` throws, or an error with the status of the answer.
 */
export async function listModels(
  id: string,
  { env, timeoutMs }: { env: Environment; timeoutMs: number },
): Promise<string[] | undefined> {
  const provider = PROVIDERS[id];
  const baseUrl = provider && pickBaseUrl(provider, env);
  if (!provider || baseUrl === undefined) return undefined;
  const response = await fetch(baseUrl + provider.list, {
    headers: headersFor(provider, read(env, findSet(env, pickEndpoint(provider, env).keys))),
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (response.status === 404 || response.status === 405) return undefined;
  if (!response.ok) throw Object.assign(new Error(await response.text()), { status: response.status });
  return modelNames(await response.json());
}

function headersFor({ keyHeader }: Provider, key: string | undefined): Record<string, string> {
  if (key === undefined) return {};
  if (keyHeader === undefined) return { authorization: `Bearer ${key}` };
  return { [keyHeader]: key, ...(keyHeader === "x-api-key" && { "anthropic-version": "2023-06-01" }) };
}

/** Ollama and Google list `models[].name`, all others `data[].id`. */
function modelNames(body: unknown): string[] {
  const { models, data } = (body ?? {}) as { models?: { name?: unknown }[]; data?: { id?: unknown }[] };
  return [...(models ?? []).map(({ name }) => name), ...(data ?? []).map(({ id }) => id)]
    .filter((name) => typeof name === "string")
    .map((name) => name.replace(/^models\//, ""));
}
