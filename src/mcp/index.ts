import type { DynamicStructuredTool } from "@langchain/core/tools";
import { loadSdk } from "./connection/sdk.ts";
import type { McpOptions } from "./options.ts";
import { McpServers } from "./servers.ts";

/** Tools of MCP servers for any agent. */
export interface McpTools {
  tools: DynamicStructuredTool[];
  /** Servers that cannot be used, with the reasons. */
  notes: readonly string[];
  /** Ends the servers. */
  close: () => Promise<void>;
}

/**
 * Starts MCP servers and returns their tools, for any `createAgent` and for sub-agents with their own tools. A server that
 * cannot be used is a note. `createDeepAgent` and `makeLeadAgent` do the same with their option `mcp`, and add a search
 * tool for many tools. Throws `invalid-options`, and `missing-package` without `@modelcontextprotocol/client`.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { mcpTools } from "holdfast/mcp";
 *
 * const args = ["-y", "@modelcontextprotocol/server-filesystem", "."];
 * const mcp = await mcpTools({ mcpServers: { files: { command: "npx", args } } });
 * const agent = createAgent({ model: "openai:gpt-5.1", tools: mcp.tools });
 * await agent.invoke({ messages: "List the files" });
 * await mcp.close();
 * ```
 */
export async function mcpTools(options: McpOptions): Promise<McpTools> {
  const servers = new McpServers(options);
  await loadSdk();
  const tools = [...(await servers.tools())];
  return { tools, notes: servers.notes, close: () => servers.close() };
}

export { readMcpConfig, MCP } from "./config.ts";
export { mcpMiddleware } from "./middleware.ts";
export type {
  AddressServer,
  McpConfig,
  McpOptions,
  McpServer,
  McpSettings,
  ProgramServer,
} from "./options.ts";
export { McpServers, type ServerState, serversOf, withServers } from "./servers.ts";
export type { ToolDefinition, ToolPins } from "./tools/definition.ts";
export { FIND_TOOLS } from "./tools/find-tools.ts";
export { PREFIX } from "./tools/tool-names.ts";
