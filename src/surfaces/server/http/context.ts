import type { Context } from "hono";

/** Variables of every request; `user` is the sender, on a server with `auth`. */
export interface ServerEnv {
  Variables: { user: string | undefined };
}

export type ServerContext = Context<ServerEnv>;
