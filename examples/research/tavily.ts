import type { Hit } from "./documents.ts";

export interface TavilyOptions {
  apiKey: string;
  /** Default Tavily's own server. */
  baseUrl?: string;
  /** Milliseconds. Default 20,000. */
  timeout?: number;
  signal?: AbortSignal;
}

/** Searches the web with Tavily. Throws an error whose message is fit for the model. */
export async function searchTavily(
  query: string,
  { apiKey, baseUrl = "https://api.tavily.com", timeout = 20_000, signal }: TavilyOptions,
): Promise<Hit[]> {
  const limit = AbortSignal.timeout(timeout);
  try {
    const response = await fetch(`${baseUrl}/search`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ query, max_results: 6 }),
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
    if (!response.ok) throw new Error(refusal(response.status));
    const { results } = (await response.json()) as { results: Record<string, unknown>[] };
    return results.map(({ title, url, content }) => ({
      title: String(title),
      source: String(url),
      snippet: String(content),
    }));
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(
      `Tavily search failed: ${limit.aborted ? `no answer in ${timeout / 1000} s` : reason(error)}.`,
      {
        cause: error,
      },
    );
  }
}

function refusal(status: number): string {
  if (status === 401 || status === 403) return `it did not accept TAVILY_API_KEY (${status})`;
  if (status === 429 || status === 432)
    return `the limit of requests is reached (${status}); go on without it`;
  return `it answered with status ${status}; try once more, then go on without it`;
}

function reason(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message} (${cause.message})` : message;
}
