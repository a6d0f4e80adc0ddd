import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HTTPException } from "hono/http-exception";
import { failure, type ServerContext, type ServerEnv } from "../http/index.ts";

/** A body above this is a mistake, or an attack. */
const MOST_BYTES = 8 * 1024 * 1024;
/** The most of one user's bodies at a time, where users are told apart, and of all together. */
const MOST_OF_USER = 8 * MOST_BYTES;
const MOST_OF_ALL = 32 * MOST_BYTES;

/**
 * Answers 413 for a body that is too large, and 503 while too many are being read. A body is counted as long as
 * it was announced to be until its request is answered; one that was not announced counts as the largest.
 */
export function limitBody(): MiddlewareHandler<ServerEnv> {
  const counted = bodyLimit({ maxSize: MOST_BYTES, onError: refuse });
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
    // Hono's own would make a stream of the platform of every body to look for one, and Node counts this one.
    const isCounted = length === undefined || c.req.header("transfer-encoding") !== undefined;
    const bytes = isCounted ? MOST_BYTES : Number(length);
    if (bytes > MOST_BYTES) return refuse(c);
    const user = c.get("user");
    const most = user === undefined ? MOST_OF_ALL : MOST_OF_USER;
    if (all + bytes > MOST_OF_ALL || (users.get(user) ?? 0) + bytes > most) {
      const message = "Too much is being sent at the same time: try again later.";
      return failure(new HTTPException(503, { message }), c);
    }
    count(user, bytes);
    try {
      return await (isCounted ? counted(c, next) : next());
    } finally {
      count(user, -bytes);
    }
  };
}

function refuse(c: ServerContext): Response {
  return failure(new HTTPException(413, { message: "The body is larger than 8 MB." }), c);
}
