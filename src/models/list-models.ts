import { PROVIDERS, type Provider } from "./clients/providers.ts";
import { read, type Environment } from "./secrets/environment.ts";
import { findSet, pickBaseUrl, pickEndpoint } from "./settings.ts";

/**
 * Asks a provider which models it has. That costs nothing anywhere, and shows that address and key are good. Undefined
 * where the server has no such list. Throws what `fetch` throws, or an error with the status of the answer.
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
