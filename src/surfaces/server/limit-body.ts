import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { ServerContext, ServerEnv } from "./context.ts";

/**
 * Refuses a body that is too large. Where its size is said, the sender is held to it, and nothing else is looked at: to
 * look at a body makes a request and two streams of the platform, which stay for as long as the answer does.
 */
export function limitBody(
  most: number,
  refuse: (c: ServerContext) => Response | Promise<Response>,
): MiddlewareHandler<ServerEnv> {
  const counted = bodyLimit({ maxSize: most, onError: (c) => refuse(c as ServerContext) });
  return async (c, next) => {
    const { method } = c.req;
    if (method === "GET" || method === "HEAD") return next();
    const size = c.req.header("content-length");
    if (size === undefined || c.req.header("transfer-encoding") !== undefined) return counted(c, next);
    return Number.parseInt(size, 10) > most ? refuse(c) : next();
  };
}
