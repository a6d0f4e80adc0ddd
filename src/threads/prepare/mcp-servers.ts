import { readFile } from "node:fs/promises";
import { HarnessError } from "../../errors.ts";
import { McpServers, readMcpConfig, type McpConfig } from "../../mcp/index.ts";
import type { Environment } from "../../models/index.ts";
import { PinnedTools, type Project } from "../../project/index.ts";
import type { RunSettings } from "./settings.ts";

/** The MCP servers of runs: those of the same files are shared, until they are closed together. */
export class RunServers {
  readonly #known = new Map<string, McpServers>();
  readonly #env: Environment;
  readonly #onNote: (note: string) => void;

  constructor({ env, onNote }: { env: Environment; onNote: (note: string) => void }) {
    this.#env = env;
    this.#onNote = onNote;
  }

  /**
   * The servers that settings name, and those of the user and of a trusted project, not started yet; of two with one
   * name that of the settings counts. Throws `invalid-options` for what cannot be used.
   */
  async of(
    { mcp: files = [], dir }: Pick<RunSettings, "mcp" | "dir">,
    project?: Pick<Project, "mcp">,
  ): Promise<McpServers | undefined> {
    const named = Object.keys(project?.mcp.mcpServers ?? {}).length > 0 ? [project!.mcp] : [];
    if (files.length + named.length === 0) return undefined;
    const key = JSON.stringify([files, dir, named]);
    const known = this.#known.get(key);
    if (known) return known;
    const configs = [
      ...named.map((json) => this.#usable(json)),
      ...(await Promise.all(files.map(readMcpFile))),
    ];
    const servers = new McpServers({
      mcpServers: Object.assign(
        {},
        ...configs.map(({ mcpServers }) => mcpServers),
      ) as McpConfig["mcpServers"],
      ...(dir !== undefined && { dir }),
      env: this.#env,
      // The rules of the run say which calls are asked for.
      ask: "none",
      pins: new PinnedTools(dir, this.#env),
      onNote: this.#onNote,
    });
    this.#known.set(key, servers);
    return servers;
  }

  /** The servers of a project that can be used: other agents, which know other kinds, share its file. */
  #usable({ mcpServers }: Project["mcp"]): McpConfig {
    const usable = Object.entries(mcpServers).flatMap(([name, server]) => {
      try {
        return Object.entries(readMcpConfig({ mcpServers: { [name]: server } }).mcpServers);
      } catch (error) {
        this.#onNote(`An MCP server is left out. ${HarnessError.from(error)?.message ?? String(error)}`);
        return [];
      }
    });
    return { mcpServers: Object.fromEntries(usable) };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#known.values()].map((servers) => servers.close()));
  }
}

/** Reads a file with MCP servers. Throws `invalid-options`. */
export async function readMcpFile(file: string): Promise<McpConfig> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(file, "utf8"));
  } catch (cause) {
    const reason = cause instanceof SyntaxError ? `is no JSON (${cause.message})` : "cannot be read";
    throw new HarnessError("invalid-options", `The MCP servers in ${file}: the file ${reason}.`, { cause });
  }
  return readMcpConfig(json, file);
}
