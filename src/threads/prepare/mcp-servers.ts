import { readFile } from "node:fs/promises";
import { HarnessError } from "../../errors.ts";
import { McpServers, readMcpConfig, type McpConfig } from "../../mcp/index.ts";
import type { Environment } from "../../models/index.ts";
import { PinnedTools, type Project } from "../../project/index.ts";
import type { RunSettings } from "./settings.ts";

/** The MCP servers of runs. Runs with the same files share theirs; all are closed together. */
export class RunServers {
  readonly #cache = new Map<string, McpServers>();
  readonly #env: Environment;
  readonly #onNote: (note: string) => void;

  constructor({ env, onNote }: { env: Environment; onNote: (note: string) => void }) {
    this.#env = env;
    this.#onNote = onNote;
  }

  /**
   * The servers of the settings, of the user and of a trusted project, not started yet. Those of the settings win over
   * others of the same name. Throws `invalid-options` for an invalid file.
   */
  async of(
    { mcp: files = [], dir }: Pick<RunSettings, "mcp" | "dir">,
    project?: Pick<Project, "mcp">,
  ): Promise<McpServers | undefined> {
    const projectServers = Object.keys(project?.mcp.mcpServers ?? {}).length > 0 ? [project!.mcp] : [];
    if (files.length + projectServers.length === 0) return undefined;
    const key = JSON.stringify([files, dir, projectServers]);
    const cached = this.#cache.get(key);
    if (cached) return cached;
    const configs = [
      ...projectServers.map((json) => this.#usable(json)),
      ...(await Promise.all(files.map(readMcpFile))),
    ];
    const servers = new McpServers({
      mcpServers: Object.assign(
        {},
        ...configs.map(({ mcpServers }) => mcpServers),
      ) as McpConfig["mcpServers"],
      dir,
      env: this.#env,
      // The run's own consent rules decide.
      ask: "none",
      pins: new PinnedTools(dir, this.#env),
      onNote: this.#onNote,
    });
    this.#cache.set(key, servers);
    return servers;
  }

  /** The usable servers of a project. Its file may have other kinds, for other agents. */
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
    await Promise.all([...this.#cache.values()].map((servers) => servers.close()));
  }
}

/** Throws `invalid-options`. */
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
