import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HTTPException } from "hono/http-exception";
import { failure, type ServerContext, type ServerEnv } from "../http/index.ts";

/** The largest body. */
const MOST_BYTES = 8 * 1024 * 1024;
/** The bodies of one user at a time, on a server with `auth`, and of all users together. */
const MOST_OF_USER = 8 * MOST_BYTES;
const MOST_OF_ALL = 32 * MOST_BYTES;

/**
 * Answers 413 for a body that is too large, and 503 while too many are in progress. A body counts with its
 * `content-length`, or with the maximum if it has none, until its request is answered.
 */
export function limitBody(): MiddlewareHandler<ServerEnv> {
  const countBytes = bodyLimit({ maxSize: MOST_BYTES, onError: refuse });
  const users = new Map<string | undefined, number>();
  let all = 0;
  const count = (user: string | undefined, bytes: number): void => {
    all += bytes;
    const own = (users.get(user) ?? 0) + bytes;
    if (own > 0) users.set(user, own);
    else users.delete(user);
  };
  return async (c, next) => {
    const { method } = c.req;
    if (method === "GET" || method === "HEAD") return next();
    const length = c.req.header("content-length");
    // With a length, Node enforces it. Hono's limit would wrap every body in a web stream.
    const isUnsized = length === undefined || c.req.header("transfer-encoding") !== undefined;
    const bytes = isUnsized ? MOST_BYTES : Number(length);
    if (bytes > MOST_BYTES) return refuse(c);
    const user = c.get("user");
    const most = user === undefined ? MOST_OF_ALL : MOST_OF_USER;
    if (all + bytes > MOST_OF_ALL || (users.get(user) ?? 0) + bytes > most) {
      const message = "The server is reading too many bodies: try again later.";
      return failure(new HTTPException(503, { message }), c);
    }
    count(user, bytes);
    try {
      return await (isUnsized ? countBytes(c, next) : next());
    } finally {
      count(user, -bytes);
    }
  };
}

function refuse(c: ServerContext): Response {
  return failure(new HTTPException(413, { message: "The body is larger than 8 MB." }), c);
}
