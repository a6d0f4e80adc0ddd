import { Hono } from "hono";
import type { ServerEnv, ServerParts } from "../http/index.ts";
import { Assistants, assistantRoutes } from "./assistants.ts";
import { CronRoutes } from "./crons.ts";
import { protocolRoutes } from "./protocol.ts";
import { RunRoutes } from "./runs.ts";
import { storeRoutes } from "./store.ts";
import { threadRoutes } from "./threads.ts";

export function langgraphRoutes(parts: ServerParts, version: string): Hono<ServerEnv> {
  const assistants = new Assistants(parts.host);
  const runs = new RunRoutes(parts, assistants);
  const crons = new CronRoutes(parts, assistants);
  return new Hono<ServerEnv>()
    .get("/ok", (c) => c.json({ ok: true }))
    .get("/info", (c) =>
      c.json({
        version,
        context: "js",
        flags: { assistants: true, crons: true, langsmith: false },
      }),
    )
    .route("/assistants", assistantRoutes(parts, assistants))
    .route("/threads/:thread/runs/crons", crons.ofThread())
    .route("/threads/:thread/runs", runs.ofThread())
    .route("/threads", protocolRoutes(parts, assistants))
    .route("/threads", threadRoutes(parts, assistants))
    .route("/runs/crons", crons.stateless())
    .route("/runs", runs.stateless())
    .route("/store", storeRoutes(parts));
}
