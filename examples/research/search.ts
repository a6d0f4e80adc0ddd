import { tool } from "langchain";
import { z } from "zod";
import { searchDocuments, type Hit } from "./documents.ts";
import { searchTavily, type TavilyOptions } from "./tavily.ts";

type Environment = Record<string, string | undefined>;

/** Says where `internet_search` looks, when it is not the internet. */
export function searchNotice(env: Environment): string | undefined {
  return env["TAVILY_API_KEY"]
    ? undefined
    : "TAVILY_API_KEY is not set: internet_search looks through the documents of this example instead.";
}

/** Where documents of this example can be read whole. */
const PAGES = "Whole pages are at ";

/** `internet_search`: Tavily where its key is set, the documents of this example otherwise. */
export function searchTool(
  env: Environment,
  { pages, ...options }: Omit<TavilyOptions, "apiKey" | "signal"> & { pages?: string } = {},
) {
  const apiKey = env["TAVILY_API_KEY"];
  return tool(
    async ({ query }, { signal }: { signal?: AbortSignal }) => {
      const hits = apiKey
        ? await searchTavily(query, { ...options, apiKey, signal })
        : await searchDocuments(query);
      const whole = !apiKey && pages !== undefined ? `${PAGES}${pages}/` : [];
      return [searchNotice(env) ?? [], whole, renderHits(hits)].flat().join("\n\n");
    },
    {
      name: "internet_search",
      description: "Search the web. Returns passages with title and source.",
      schema: z.object({ query: z.string() }),
    },
  );
}

function renderHits(hits: readonly Hit[]): string {
  if (hits.length === 0) return "No results.";
  return hits
    .map(({ title, source, snippet }) => `## ${oneLine(title)}\n${source}\n${oneLine(snippet)}`)
    .join("\n\n");
}

/** Reads what `internet_search` returned. */
export function readHits(text: string): Hit[] {
  return [...text.matchAll(/^## (.+)\n(\S+)\n(.+)$/gm)].map(([, title, source, snippet]) => ({
    title: title!,
    source: source!,
    snippet: snippet!,
  }));
}

/** The address of the whole page that a hit is from, for `web_fetch`. */
export function pageOf({ source }: Pick<Hit, "source">, text: string): string | undefined {
  const start = text.split("\n").find((line) => line.startsWith(PAGES));
  return start && new URL(source, start.slice(PAGES.length)).href;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
