import type { ServerResponse } from "node:http";
import type { Context } from "hono";

/** Where an answer goes, where that is known: what answers piece by piece writes to it by itself. */
export interface Answering {
  outgoing?: ServerResponse;
}

/** What every request carries: who sent it, where users are told apart. */
export interface ServerEnv {
  Bindings: Answering;
  Variables: { user: string | undefined };
}

export type ServerContext = Context<ServerEnv>;
