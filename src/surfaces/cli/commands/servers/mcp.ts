import { localHost } from "../../../../threads/host/index.ts";
import { tracesFrom } from "../../../../threads/traces/index.ts";
import { serveMcp } from "../../../mcp/index.ts";
import { ownOutput } from "../../editors/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { interruptible } from "../../interruption.ts";
import type { Terminal } from "../../terminal.ts";
import { statePath, withSaver } from "../../threads/index.ts";
import { graphOptions, type AgentFlags } from "./worker.ts";

/** `holdfast mcp`: threads as tools for other agents, over standard input and output, until the caller goes away. */
export async function mcp(flags: AgentFlags, terminal: Terminal): Promise<number> {
  const { stdin, stdout, env } = terminal;
  const options = await graphOptions(flags, terminal, { isWatched: false });
  const output = ownOutput(terminal);
  return withSaver(statePath(flags, terminal), async (saver) => {
    const host = localHost({ ...options, saver, traces: tracesFrom(env) });
    return interruptible(stdout, async (signal) => {
      try {
        await serveMcp({ host, saver }, { input: stdin, output, signal });
        return EXIT.done;
      } finally {
        // Runs are stopped where nothing is lost.
        await host.stop();
        await options.servers.close();
      }
    });
  });
}
