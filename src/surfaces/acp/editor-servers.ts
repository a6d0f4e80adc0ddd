import type { McpServer } from "@agentclientprotocol/sdk";
import type { McpConfig } from "../../mcp/index.ts";

/** The MCP servers that an editor names, as a file would name them. */
export function editorServers(servers: readonly McpServer[]): Record<string, unknown> {
  return Object.fromEntries(servers.map((server) => [server.name, configOf(server)]));
}

function configOf(server: McpServer): McpConfig["mcpServers"][string] | { type: string; url: string } {
  if (!("type" in server)) {
    const { command, args, env } = server;
    return { command, args, env: record(env) };
  }
  if (server.type === "http") return { type: "http", url: server.url, headers: record(server.headers) };
  // Not offered, and said so by whoever reads it.
  return { type: server.type, url: server.url };
}

function record(list: readonly { name: string; value: string }[]): Record<string, string> {
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}
