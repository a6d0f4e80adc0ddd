import { Hono } from "hono";
import type { ServerEnv } from "./context.ts";
import type { ServerParts } from "./parts.ts";

/** Routes for operators: readiness, and metrics. */
export function operationRoutes({ host }: ServerParts): Hono<ServerEnv> {
  return new Hono<ServerEnv>()
    .get("/ready", async (c) => {
      const isReady = await host.isReady();
      return c.json({ ready: isReady }, isReady ? 200 : 503);
    })
    .get("/metrics", async (c) => {
      const { metrics } = host;
      return metrics ? c.text(await metrics()) : c.notFound();
    });
}
