import { type ConsentOptions, type ConsentRule, ALL } from "../middleware/consent/index.ts";
import type { McpOptions } from "./options.ts";
import { serversOf, type McpServers } from "./servers.ts";
import { PREFIX } from "./tools/tool-names.ts";

interface WithMcp {
  mcp?: McpOptions | McpServers;
  interruptOn?: ConsentOptions["interruptOn"];
}

/**
 * The options of a harness with its servers in them, and what `ask` says of these among its rules; a rule of its own
 * goes first. `name`: whose options they are.
 */
export function withServers<Options extends WithMcp>(options: Options, name: string): Options {
  if (!options.mcp) return options;
  const mcp = serversOf(options.mcp, name);
  const { ask = "none", pins } = mcp.options;
  if (ask === "none" && !pins) return { ...options, mcp };
  const isAsked = ({ toolCall }: { toolCall: { name: string } }): boolean =>
    mcp.changeOf(toolCall.name) !== undefined ||
    ask === "all" ||
    (ask === "writes" && !mcp.isReadOnly(toolCall.name));
  const rule: ConsentRule = { ...ALL, when: isAsked, notice: (call) => mcp.changeOf(call.name) };
  return { ...options, mcp, interruptOn: { [`${PREFIX}*`]: rule, ...options.interruptOn } };
}
