import { localHost } from "../../../../threads/host/threads-graph.ts";
import { tracesFrom } from "../../../../threads/traces/index.ts";
import { serveMcp } from "../../../mcp/index.ts";
import { ownOutput } from "../../editors/protocol-output.ts";
import { EXIT } from "../../exit-codes.ts";
import { Interruption } from "../../interruption.ts";
import type { Terminal } from "../../terminal.ts";
import { statePath, withSaver } from "../../threads/threads.ts";
import type { RunFlags } from "../run.ts";
import { graphOptions } from "./worker.ts";

export type McpFlags = Omit<RunFlags, "task" | "thread" | "json" | "quiet">;

/** `holdfast mcp`: threads as tools for other agents, over standard input and output, until the caller goes away. */
export async function mcp(flags: McpFlags, terminal: Terminal): Promise<number> {
  const { stdin, env } = terminal;
  const options = await graphOptions(flags, terminal, { isWatched: false });
  const output = ownOutput(terminal);
  const interruption = new Interruption(terminal.stdout, () => {});
  return withSaver(statePath(flags, terminal), async (saver) => {
    const host = localHost({ ...options, saver, traces: tracesFrom(env) });
    try {
      await serveMcp({ host, saver }, { input: stdin, output, signal: interruption.signal });
      return EXIT.done;
    } finally {
      // Runs are stopped where nothing is lost.
      await host.stop();
      interruption.dispose();
      await options.servers.close();
    }
  });
}
