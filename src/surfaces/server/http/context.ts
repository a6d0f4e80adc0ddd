import type { Context } from "hono";

/** What every request carries: who sent it, where users are told apart. */
export interface ServerEnv {
  Variables: { user: string | undefined };
}

export type ServerContext = Context<ServerEnv>;
