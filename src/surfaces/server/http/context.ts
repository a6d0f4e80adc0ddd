import type { Context } from "hono";

/** Variables of every request: its sender, if users are told apart. */
export interface ServerEnv {
  Variables: { user: string | undefined };
}

export type ServerContext = Context<ServerEnv>;
