import { fileURLToPath } from "node:url";
import type { McpOptions } from "holdfast/mcp";

const SERVER = "../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";

/** The folder of documents through a public MCP server. One object: all agents of a process share the server. */
export const LIBRARY: McpOptions = {
  mcpServers: {
    library: {
      command: process.execPath,
      args: [fileURLToPath(new URL(SERVER, import.meta.url)), "documents"],
      cwd: fileURLToPath(new URL(".", import.meta.url)),
    },
  },
  onNote: (note) => console.log(note),
};
