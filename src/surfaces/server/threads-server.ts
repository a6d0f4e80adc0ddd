import { InMemoryStore } from "@langchain/langgraph";
import { threadsGraph, type ThreadsGraphOptions } from "../../runs/host/threads-graph.ts";
import type { Prices } from "../../runs/prices.ts";
import type { Auth } from "./access.ts";
import { pageRoutes } from "./page/index.ts";
import { assemble, type Server } from "./server.ts";

export interface ThreadsServerOptions extends ThreadsGraphOptions {
  token?: string | undefined;
  auth?: Auth | undefined;
  hosts?: readonly string[] | undefined;
  origins?: readonly string[] | undefined;
  /** Whether it is reached from other machines. */
  isOpen: boolean;
  prices?: Prices | undefined;
}

/** The name of Holdfast's own threads to LangGraph's clients. */
export const GRAPH = "holdfast";

/** The server of `holdfast serve`: the threads of the command line, for a page and for LangGraph's clients. */
export async function createThreadsServer(options: ThreadsServerOptions): Promise<Server> {
  const { saver, defaults, token, auth, hosts, origins, isOpen, prices } = options;
  // What is wrong with the model is said now rather than by the first run.
  const { name: model } = await options.modelOf(defaults.model);
  const { server } = await assemble({
    graphs: new Map([[GRAPH, threadsGraph(options)]]),
    checkpointer: saver,
    store: new InMemoryStore(),
    isOpen,
    ...(token !== undefined && { token }),
    ...(auth && { auth }),
    ...(hosts && { hosts }),
    ...(origins && { origins }),
    more: (parts) => pageRoutes(parts, { saver, graph: GRAPH, defaults, model, prices }),
  });
  return server;
}
