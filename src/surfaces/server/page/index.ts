import { Hono } from "hono";
import { version } from "../../../version.ts";
import { json, type ServerEnv, type ServerParts } from "../http/index.ts";
import { pageEvents } from "./events.ts";
import { pageFiles } from "./files.ts";
import type { PageOptions, PageParts } from "./parts.ts";
import { pageFilesStatic } from "./static.ts";
import { pageThreads } from "./threads.ts";

export type { AllowRules } from "./parts.ts";

/** Routes of the page besides LangGraph's protocol, and the page's own files. */
export function pageRoutes(server: ServerParts, options: PageOptions): Hono<ServerEnv> {
  const { defaults, mode, model, prices } = options.own ?? {};
  const parts: PageParts = { ...server, ...options };
  return new Hono<ServerEnv>()
    .route("/", pageFilesStatic())
    .get("/holdfast/info", async (c) =>
      json(c, {
        version: version(),
        graphs: [...server.host.graphs.keys()],
        ...(model !== undefined && { model }),
        ...(defaults?.dir !== undefined && { dir: defaults.dir }),
        ...(mode && { defaults: { ...defaults, mode: await mode() } }),
        ...(prices && { prices }),
      }),
    )
    .route("/holdfast/events", pageEvents(parts))
    .route("/holdfast/threads", pageThreads(parts))
    .route("/holdfast/threads", pageFiles(parts));
}
