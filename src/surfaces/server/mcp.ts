import { Hono } from "hono";
import type { ThreadStore } from "../../storage/index.ts";
import type { ServerEnv } from "./http/context.ts";
import type { ServerParts } from "./http/parts.ts";

/** Threads as tools of the Model Context Protocol, for callers that have the token. */
export function mcpRoutes({ host }: Pick<ServerParts, "host">, saver: ThreadStore): Hono<ServerEnv> {
  let handler: Promise<(request: Request) => Promise<Response>> | undefined;
  const opened = (): NonNullable<typeof handler> =>
    // Loaded when somebody calls: most servers have a page and nothing else.
    (handler ??= import("../mcp/index.ts").then(({ mcpHandler }) => mcpHandler({ host, saver })));
  return new Hono<ServerEnv>().all("/mcp", async (c) => {
    try {
      return await (
        await opened()
      )(c.req.raw);
    } catch (error) {
      handler = undefined;
      throw error;
    }
  });
}
