import { localHost } from "../../../../threads/host/index.ts";
import { tracesFrom } from "../../../../threads/traces/index.ts";
import { serveMcp } from "../../../mcp/index.ts";
import { ownOutput } from "../../editors/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { interruptible } from "../../interruption.ts";
import type { Terminal } from "../../terminal.ts";
import { statePath, withSaver } from "../../threads/index.ts";
import { graphOptions, type AgentFlags } from "./worker.ts";

/** `holdfast mcp`: an MCP server over standard input and output, with threads as tools, until the client disconnects. */
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
        await host.stop();
        await options.servers.close();
      }
    });
  });
}
