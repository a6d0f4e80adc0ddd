import type { ServerState } from "../../../../mcp/index.ts";
import { oneLine, shown } from "../../output/index.ts";
import type { SlashCommand } from "../conversation.ts";

export const mcp: SlashCommand = {
  name: "mcp",
  usage: "[restart server]",
  about: "the MCP servers, with their tools or why one is not used; start one again",
  isBeside: true,
  run: async (args, conversation) => {
    const { say } = conversation;
    const servers = await conversation.servers();
    if (!servers) return say(shown`There are no MCP servers: --mcp-config names a file with some.`);
    const [, name] = /^restart\s+(.+)$/s.exec(args) ?? [];
    if (name === undefined && args) return say(oneLine(`/mcp takes restart and a server, not ${args}`));
    if (name !== undefined && !(await servers.restart(name)))
      return say(oneLine(`${name} cannot be started. /mcp lists the servers.`));
    const states = await servers.states();
    // A note has told of a server that did not start again.
    const told = name === undefined ? states : states.filter((one) => one.name === name && !one.reason);
    say(...told.map((state) => oneLine(`${state.name}: ${stateWords(state)}`)));
  },
};

function stateWords({ toolCount, reason }: ServerState): string {
  if (reason !== undefined) return `not used: ${reason}`;
  if (toolCount === undefined) return "off";
  return toolCount === 1 ? "1 tool" : `${toolCount} tools`;
}
