import type { DynamicStructuredTool } from "@langchain/core/tools";
import { z } from "zod";
import { checkOptions } from "../middleware/options/index.ts";
import { fromOutside } from "../middleware/text/index.ts";
import { callId, checkedTool, failure } from "../middleware/tools/index.ts";
import { WEB_OPTIONS } from "./check-options.ts";
import { decode, fetchPage, MAX_PAGE_BYTES, PageError, type Page } from "./fetch-page.ts";
import { toMarkdown } from "./markdown.ts";
import type { WebOptions } from "./options.ts";
import { Places } from "./places.ts";
import { searchOf, type Search } from "./search.ts";
import { WEB_FETCH_DESCRIPTION, WEB_SEARCH_DESCRIPTION } from "./web.prompt.ts";

export const WEB_TOOLS = ["web_fetch", "web_search"];

/**
 * Tools to read web pages and to search the web, for any agent. Their results are marked as data. Throws
 * `invalid-options`, and `missing-setting` for a search service without a key.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { webTools } from "holdfast/web";
 *
 * const tools = webTools({ search: { provider: "tavily" }, allow: ["*.wikipedia.org"] });
 * const agent = createAgent({ model: "openai:gpt-5.1", tools });
 * ```
 */
export function webTools(options: WebOptions = {}): DynamicStructuredTool[] {
  checkOptions(options, { name: "webTools", schema: WEB_OPTIONS });
  const places = new Places(options);
  const search = searchOf(options.search, options.env ?? process.env);
  const tools = [
    ...(options.fetch === false ? [] : [fetchTool(places)]),
    ...(search ? [searchTool(search, places)] : []),
  ];
  // They change nothing, so a repetition is harmless.
  for (const tool of tools) tool.metadata = { annotations: { readOnlyHint: true, openWorldHint: true } };
  return tools;
}

/** The tools of an option `web`. */
export function webToolsOf(web: boolean | WebOptions | undefined): DynamicStructuredTool[] {
  return web ? webTools(web === true ? {} : web) : [];
}

function fetchTool(places: Places): DynamicStructuredTool {
  const name = "web_fetch";
  const schema = z.object({ url: z.string() });
  return checkedTool({ name, description: WEB_FETCH_DESCRIPTION, schema }, async ({ url }, runtime) => {
    try {
      const page = await fetchPage(url, { places, signal: runtime.signal });
      const text = fromOutside(await readable(page), page.url.href);
      return page.status < 400
        ? text
        : failure(name, callId(runtime), `The page has status ${page.status}.\n${text}`);
    } catch (error) {
      if (error instanceof PageError) return failure(name, callId(runtime), error.message);
      throw error;
    }
  });
}

async function readable({ body, type, url, isCut }: Page): Promise<string> {
  const text = decode(body, type);
  const isPage =
    type.includes("html") || (!type.startsWith("text/markdown") && /^\s*<(?:!doctype html|html)/i.test(text));
  const { title, text: content } = isPage ? await toMarkdown(text, url) : { title: "", text };
  const note = isCut
    ? `[The page is longer than ${MAX_PAGE_BYTES / 1_000_000} MB; the rest was left out.]`
    : "";
  return [title, content || "[The page has no text.]", note].filter(Boolean).join("\n\n");
}

function searchTool({ provider, find }: Search, places: Places): DynamicStructuredTool {
  const name = "web_search";
  const schema = z.object({ query: z.string().min(1) });
  return checkedTool({ name, description: WEB_SEARCH_DESCRIPTION, schema }, async ({ query }, runtime) => {
    const outcome = await find(query, runtime.signal);
    if ("problem" in outcome) return failure(name, callId(runtime), outcome.problem);
    const lines = outcome.results
      // Leaves out pages that may not be read.
      .filter(({ url }) => URL.canParse(url) && places.problem(new URL(url)) === undefined)
      .map(({ title, url, text }, at) => `${at + 1}. ${title}\n   ${url}\n   ${text}`);
    return lines.length === 0
      ? "Nothing was found."
      : fromOutside(lines.join("\n"), `web_search, ${provider}`);
  });
}
