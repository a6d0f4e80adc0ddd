import { missingKey } from "./check-options.ts";
import type { SearchOptions, WebOptions } from "./options.ts";

const TIME_MS = 20_000;
const MAX_RESPONSE_BYTES = 2_000_000;
const COUNT = 8;

interface SearchResult {
  title: string;
  url: string;
  text: string;
}

type Environment = NonNullable<WebOptions["env"]>;

/** A search API: its request, and the results in its response. */
interface Service {
  variables: readonly string[];
  baseUrl: string;
  request: (query: string, key: string) => { path: string; headers: Record<string, string>; body?: object };
  results: (answer: never) => unknown;
  read: (result: never) => { title?: unknown; url?: unknown; text?: unknown };
}

const SERVICES: Record<SearchOptions["provider"], Service> = {
  tavily: {
    variables: ["TAVILY_API_KEY"],
    baseUrl: "https://api.tavily.com",
    request: (query, key) => ({
      path: "/search",
      headers: { authorization: `Bearer ${key}` },
      body: { query, max_results: COUNT },
    }),
    results: ({ results }: { results?: unknown }) => results,
    read: ({ title, url, content }: Record<string, unknown>) => ({ title, url, text: content }),
  },
  exa: {
    variables: ["EXA_API_KEY"],
    baseUrl: "https://api.exa.ai",
    request: (query, key) => ({
      path: "/search",
      headers: { "x-api-key": key },
      body: { query, numResults: COUNT, contents: { text: { maxCharacters: 500 } } },
    }),
    results: ({ results }: { results?: unknown }) => results,
    read: ({ title, url, text }: Record<string, unknown>) => ({ title, url, text }),
  },
  brave: {
    variables: ["BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"],
    baseUrl: "https://api.search.brave.com",
    request: (query, key) => ({
      path: `/res/v1/web/search?${new URLSearchParams({ q: query, count: String(COUNT) }).toString()}`,
      headers: { "x-subscription-token": key },
    }),
    results: ({ web }: { web?: { results?: unknown } }) => web?.results,
    read: ({ title, url, description }: Record<string, unknown>) => ({ title, url, text: description }),
  },
};

/** A search service with its key. */
export interface Search {
  provider: string;
  /** Throws only the reason of the signal. */
  find: (query: string, signal?: AbortSignal) => Promise<{ results: SearchResult[] } | { problem: string }>;
}

/** The service in the options, or the first one with a key. Throws `missing-setting`. */
export function searchOf(options: WebOptions["search"], env: Environment): Search | undefined {
  if (options === false) return undefined;
  const keyOf = ({ variables }: Service): string | undefined =>
    variables.map((name) => env[name]).find(Boolean);
  if (options) {
    const service = SERVICES[options.provider];
    const key = options.apiKey ?? keyOf(service) ?? missingKey(options.provider, service.variables[0]!);
    return searchWith(options.provider, { ...service, baseUrl: options.baseUrl ?? service.baseUrl }, key);
  }
  for (const [provider, service] of Object.entries(SERVICES)) {
    const key = keyOf(service);
    if (key !== undefined) return searchWith(provider, service, key);
  }
  return undefined;
}

function searchWith(provider: string, service: Service, key: string): Search {
  const find = async (query: string, signal?: AbortSignal): Promise<SearchResult[]> => {
    const { path, headers, body } = service.request(query, key);
    const limit = AbortSignal.timeout(TIME_MS);
    const response = await fetch(service.baseUrl.replace(/\/$/, "") + path, {
      headers: {
        accept: "application/json",
        ...headers,
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
      redirect: "error",
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
    const text = await readText(response);
    if (!response.ok) throw new Error(problemOf(response.status, text));
    const results = service.results(JSON.parse(text) as never);
    return (Array.isArray(results) ? results : []).map((result) => toResult(service.read(result as never)));
  };
  return {
    provider,
    find: async (query, signal) => {
      try {
        return { results: await find(query, signal) };
      } catch (error) {
        signal?.throwIfAborted();
        const { name, message } = error as Error;
        const what = name === "TimeoutError" ? `no answer within ${TIME_MS / 1000} s` : message;
        // Without the cause, which may contain the key.
        return { problem: `${provider}: ${what}`.replaceAll(key, "[hidden]") };
      }
    },
  };
}

function problemOf(status: number, text: string): string {
  if (status === 401 || status === 403) return "the key was rejected; the user must set another one";
  if (status === 429) return "too many searches for now; wait, or continue without one";
  return `status ${status}, ${text.slice(0, 200)}`;
}

/** Reads a response. Throws when it is too long. */
async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_RESPONSE_BYTES) throw new Error("the answer is too long");
  }
  return Buffer.concat(chunks).toString("utf8");
}

function toResult({ title, url, text }: ReturnType<Service["read"]>): SearchResult {
  const plain = (value: unknown): string =>
    (typeof value === "string" ? value : "")
      .replaceAll(/<\/?strong>/g, "")
      .replaceAll(/\s+/g, " ")
      .trim();
  return { title: plain(title).slice(0, 200), url: plain(url), text: plain(text).slice(0, 500) };
}
