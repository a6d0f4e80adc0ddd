import { resolve } from "node:path";
import { HarnessError } from "../../../errors.ts";
import type { Terminal } from "../terminal.ts";
import type { Finding } from "./finding.ts";

/** Starts the MCP servers of files, and says what tools they have. */
export async function serverFindings(
  files: readonly string[] | undefined,
  { env, cwd }: Terminal,
): Promise<Finding[]> {
  if (files === undefined) return [];
  // With LangChain, which a look at everything else does without.
  const { McpServers } = await import("../../../mcp/index.ts");
  const { readMcpFile } = await import("../../../threads/prepare/mcp-servers.ts");
  const found = files.map(async (file): Promise<Finding[]> => {
    try {
      const { mcpServers } = await readMcpFile(resolve(cwd, file));
      return await Promise.all(
        Object.entries(mcpServers).map(async ([name, server]): Promise<Finding> => {
          const options = { mcpServers: { [name]: server }, env, dir: cwd, onNote: () => {} };
          const servers = new McpServers(options);
          const { length } = await servers.tools();
          await servers.close();
          const [note] = servers.notes;
          if (note !== undefined) return { area: "mcp", level: "problem", tested: true, text: note };
          const tools = server.disabled ? "disabled" : `${length} ${length === 1 ? "tool" : "tools"}`;
          return { area: "mcp", level: "ok", tested: !server.disabled, text: `MCP server ${name}: ${tools}` };
        }),
      );
    } catch (error) {
      const text = HarnessError.from(error)?.message ?? String(error);
      return [{ area: "mcp", level: "problem", tested: true, text }];
    }
  });
  return (await Promise.all(found)).flat();
}
