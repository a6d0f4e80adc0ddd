import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HTTPException } from "hono/http-exception";
import { failure } from "../http/answers.ts";
import type { ServerContext, ServerEnv } from "../http/context.ts";

/** A body above this is a mistake, or an attack. */
const MOST_BYTES = 8 * 1024 * 1024;

/** Answers 413 for a body that is too large. */
export function limitBody(): MiddlewareHandler<ServerEnv> {
  const counted = bodyLimit({ maxSize: MOST_BYTES, onError: refuse });
  return async (c, next) => {
    const { method } = c.req;
    if (method === "GET" || method === "HEAD") return next();
    const length = c.req.header("content-length");
    // Hono's own would make a stream of the platform of every body to look for one, and Node counts this one.
    if (length === undefined || c.req.header("transfer-encoding") !== undefined) return counted(c, next);
    return Number(length) > MOST_BYTES ? refuse(c) : next();
  };
}

function refuse(c: ServerContext): Response {
  return failure(new HTTPException(413, { message: "The body is larger than 8 MB." }), c);
}
