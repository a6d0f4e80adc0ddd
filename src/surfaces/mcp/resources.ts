import type { McpServer } from "@modelcontextprotocol/server";
import { planText } from "../../threads/plan/index.ts";
import type { Sdk } from "./sdk.ts";
import type { Threads } from "./threads.ts";

const LISTED = 50;

/** Registers the plans and files of threads as resources. */
export function registerResources(sdk: Sdk, server: McpServer, threads: Threads): void {
  server.registerResource(
    "plan",
    new sdk.ResourceTemplate("holdfast://threads/{thread}/plan", {
      list: async () => ({
        resources: (await threads.list(LISTED)).map(({ id, title }) => ({
          uri: `holdfast://threads/${encodeURIComponent(id)}/plan`,
          name: id,
          mimeType: MARKDOWN,
          description: title,
        })),
      }),
    }),
    { title: "Plan", description: "The plan of a thread", mimeType: MARKDOWN },
    async (uri, { thread }) => {
      const { todos, rules } = await threads.report(decoded(thread));
      return { contents: [{ uri: uri.href, mimeType: MARKDOWN, text: planText(todos, rules) }] };
    },
  );
  server.registerResource(
    "file",
    new sdk.ResourceTemplate("holdfast://threads/{thread}/files/{+path}", { list: undefined }),
    { title: "File", description: "A file that lives in a thread" },
    async (uri, { thread, path }) => {
      const text = await threads.file(decoded(thread), `/${decoded(path)}`);
      return { contents: [{ uri: uri.href, text }] };
    },
  );
}

const MARKDOWN = "text/markdown";

/** Decodes a variable of a URI. */
function decoded(part: string | string[] | undefined): string {
  return decodeURIComponent([part ?? ""].flat().join("/"));
}
