import type { DeepAgentOptions } from "holdfast";
import { createServer, listen } from "holdfast/server";
import { sqliteSaver } from "holdfast/storage";
import { createMyAgent } from "./agent.ts";

/** Serves the agent: a page for people, and LangGraph's protocol for programs. Threads are kept in `file`. */
export async function startServer({
  model,
  file,
  port,
}: {
  model: NonNullable<DeepAgentOptions["model"]>;
  file: string;
  port: number;
}) {
  const checkpointer = await sqliteSaver(file);
  const graphs = { agent: createMyAgent({ model }) };
  const server = await createServer({ graphs, checkpointer, page: true });
  const { url, close } = await listen(server, { port, hostname: "127.0.0.1" });
  return {
    url,
    token: server.token!,
    stop: async () => {
      await server.close();
      await close();
      checkpointer.close();
    },
  };
}
