import { isDeepStrictEqual } from "node:util";
import type { DynamicStructuredTool } from "@langchain/core/tools";
import type { Tool } from "@modelcontextprotocol/client";
import { ALL, type ConsentOptions, type ConsentRule } from "../middleware/consent/index.ts";
import { checkMcpOptions, withVariables } from "./config.ts";
import { Connection, messageOf } from "./connection/connection.ts";
import { WaitingCalls } from "./connection/live-call.ts";
import { Secrets } from "./connection/secrets.ts";
import type { McpOptions } from "./options.ts";
import { changeNotice, definitionOf } from "./tools/definition.ts";
import { PREFIX, toolName } from "./tools/tool-names.ts";
import { serverTool, type ServerParts } from "./tools/tool.ts";

/** The time without use after which servers are ended. They are started again on demand. */
const IDLE_MS = 5 * 60_000;

/** A server that is used, with the number of its tools, or one that is not, with the reason; neither if it is off. */
export interface ServerState {
  name: string;
  toolCount?: number;
  reason?: string;
}

/**
 * The MCP servers of one or more agents. They are started together when their tools are first needed; a server that cannot
 * be used is a note, and never fails a run.
 *
 * @example
 * ```ts
 * import { createDeepAgent } from "holdfast";
 * import { McpServers } from "holdfast/mcp";
 *
 * const mcp = new McpServers({ mcpServers: { docs: { url: "https://example.com/mcp" } } });
 * const writer = createDeepAgent({ model: "openai:gpt-5.1", mcp });
 * const reviewer = createDeepAgent({ model: "openai:gpt-5.1", mcp });
 * console.log(await mcp.states());
 * await mcp.close();
 * ```
 */
export class McpServers {
  readonly options: McpOptions;
  readonly #servers: readonly ServerParts[];
  readonly #notes: string[] = [];
  /** Why servers cannot be used, by their names. */
  readonly #reasons = new Map<string, string>();
  /** Timers after which failed servers are tried again, by name. */
  readonly #retries = new Map<string, NodeJS.Timeout>();
  /** The servers that lack variables, until they are notes. */
  readonly #lacking: string[] = [];
  /** The last list of each server: the same list gives the same tools, so that requests stay the same. */
  readonly #lists = new Map<Connection, { source: object; tools: readonly DynamicStructuredTool[] }>();
  #tools: readonly DynamicStructuredTool[] = [];
  /** The notices about tools that differ from their agreed definition, by the tool's name. */
  readonly #changes = new Map<string, string>();
  #idle: NodeJS.Timeout | undefined;

  constructor(options: McpOptions, { name = "mcpTools" }: { name?: string } = {}) {
    checkMcpOptions(options, name);
    this.options = options;
    const waiting = new WaitingCalls();
    this.#servers = Object.entries(options.mcpServers).flatMap(([server, config]) => {
      if (config.disabled) return [];
      const result = withVariables(config, options.env ?? process.env);
      if ("missing" in result) {
        this.#reasons.set(server, `it needs ${result.missing.join(", ")}, which is not set.`);
        this.#lacking.push(server);
        return [];
      }
      const secrets = new Secrets(result.server);
      const connection = new Connection({ name: server, server: result.server, settings: options, secrets });
      return [{ connection, secrets, waiting }];
    });
  }

  /** Servers and tools that cannot be used, with the reasons. */
  get notes(): readonly string[] {
    return this.#notes;
  }

  /** Starts the servers and returns their tools; the same list as long as the tools are the same. Does not throw. */
  async tools(): Promise<readonly DynamicStructuredTool[]> {
    this.#restartIdleTimer();
    for (const server of this.#lacking.splice(0)) this.#noteUnused(server);
    const all = await Promise.all(this.#servers.map((server) => this.#toolsOf(server)));
    // A server may list a name twice.
    const tools = [...new Map(all.flat().map((tool) => [tool.name, tool])).values()];
    const isSame = tools.length === this.#tools.length && tools.every((tool, at) => tool === this.#tools[at]);
    if (!isSame) this.#tools = tools;
    return this.#tools;
  }

  /** The tool of a call, from the last list. */
  find(name: string): DynamicStructuredTool | undefined {
    this.#restartIdleTimer();
    return this.#tools.find((tool) => tool.name === name);
  }

  isReadOnly(name: string): boolean {
    const { annotations } = (this.find(name)?.metadata ?? {}) as { annotations?: { readOnlyHint?: unknown } };
    return annotations?.readOnlyHint === true;
  }

  /** The difference between a tool and its agreed definition, if any: calls of the tool then wait for consent. */
  changeOf(name: string): string | undefined {
    return this.#changes.get(name);
  }

  /** The state of each server, all of which are started. Does not throw. */
  async states(): Promise<ServerState[]> {
    await this.tools();
    return Object.entries(this.options.mcpServers).map(([name, { disabled }]) => {
      const reason = this.#reasons.get(name);
      if (disabled) return { name };
      if (reason !== undefined) return { name, reason };
      const server = this.#servers.find(({ connection }) => connection.name === name);
      return { name, toolCount: (server && this.#lists.get(server.connection)?.tools.length) ?? 0 };
    });
  }

  /** Ends a server, which is started again on demand, also if it has just failed. False if there is none to start. */
  async restart(name: string): Promise<boolean> {
    const server = this.#servers.find(({ connection }) => connection.name === name);
    if (!server) return false;
    await server.connection.close();
    this.#reasons.delete(name);
    return true;
  }

  /** Some of these servers and tools, by the name of the server or tool (`mcp__server__tool`). */
  named(names: readonly string[]): McpServers {
    return new NamedServers(this, names);
  }

  /** Ends all servers. They are started again on demand. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await Promise.all(this.#servers.map(({ connection }) => connection.close()));
  }

  async #toolsOf(server: ServerParts): Promise<readonly DynamicStructuredTool[]> {
    const { connection } = server;
    const last = this.#lists.get(connection);
    // A failed server is left alone for a while: every model call would wait for one that hangs.
    if (this.#reasons.has(connection.name)) return last?.tools ?? [];
    try {
      const source = await connection.tools();
      if (last?.source === source) return last.tools;
      const tools = await this.#toTools(source, server);
      for (const name of connection.refused)
        this.#tell(
          `The tool ${name} of the MCP server ${connection.name} is not used: its schema is not valid.`,
        );
      this.#lists.set(connection, { source, tools });
      return tools;
    } catch (error) {
      this.#reasons.set(connection.name, messageOf(error));
      clearTimeout(this.#retries.get(connection.name));
      const retry = setTimeout(() => this.#reasons.delete(connection.name), IDLE_MS).unref();
      this.#retries.set(connection.name, retry);
      this.#noteUnused(connection.name);
      // Earlier tools stay: a call of one returns the reason.
      return last?.tools ?? [];
    }
  }

  /**
   * Creates the tools of a list with their agreed definitions, and records the changes. A changed tool keeps its agreed
   * definition, without hints, until a call of it is made. The first list of a server counts as agreed.
   */
  async #toTools(list: readonly Tool[], parts: ServerParts): Promise<DynamicStructuredTool[]> {
    const { pins } = this.options;
    const { name: server } = parts.connection;
    const all = list.map((tool) => ({ tool, definition: definitionOf(tool) }));
    const agreed = await pins?.of(server);
    if (pins && !agreed) {
      await pins.pin(server, Object.fromEntries(all.map(({ tool, definition }) => [tool.name, definition])));
    }
    return all.map(({ tool, definition }) => {
      const name = toolName(server, tool.name);
      const pinned = agreed && Object.hasOwn(agreed, tool.name) ? agreed[tool.name] : undefined;
      this.#changes.delete(name);
      if (!agreed || isDeepStrictEqual(pinned, definition)) {
        return serverTool(tool, { ...parts, definition, onCall: async () => {} });
      }
      this.#changes.set(name, changeNotice(pinned, definition));
      this.#tell(
        `The tool ${tool.name} of the MCP server ${server} has changed since you agreed to it: its calls need your consent.`,
      );
      const onCall = async (): Promise<void> => {
        await pins?.pin(server, { [tool.name]: definition });
        this.#changes.delete(name);
        this.#lists.delete(parts.connection);
      };
      return serverTool(tool, { ...parts, definition: { ...(pinned ?? definition), hints: {} }, onCall });
    });
  }

  #restartIdleTimer(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      const isBusy = this.#servers.some(({ connection }) => connection.isBusy);
      if (isBusy) this.#restartIdleTimer();
      else void this.close();
    }, IDLE_MS).unref();
  }

  #noteUnused(server: string): void {
    this.#tell(`The MCP server ${server} is not used: ${this.#reasons.get(server)}`);
  }

  #tell(note: string): void {
    // A server may list the same tools repeatedly.
    if (this.#notes.includes(note) && note.startsWith("The tool")) return;
    this.#notes.push(note);
    const onNote = this.options.onNote ?? ((text: string) => process.emitWarning(text));
    onNote(note);
  }
}

/** A selection of other servers, which start and end them. */
class NamedServers extends McpServers {
  readonly #all: McpServers;
  readonly #names: readonly string[];
  #last: { all: readonly DynamicStructuredTool[]; chosen: readonly DynamicStructuredTool[] } | undefined;

  constructor(all: McpServers, names: readonly string[]) {
    super({ ...all.options, mcpServers: {} });
    this.#all = all;
    this.#names = names;
  }

  override async tools(): Promise<readonly DynamicStructuredTool[]> {
    const all = await this.#all.tools();
    if (this.#last?.all !== all) this.#last = { all, chosen: all.filter((tool) => this.#isNamed(tool)) };
    return this.#last.chosen;
  }

  override find(name: string): DynamicStructuredTool | undefined {
    const tool = this.#all.find(name);
    return tool && this.#isNamed(tool) ? tool : undefined;
  }

  override changeOf(name: string): string | undefined {
    return this.#all.changeOf(name);
  }

  override async states(): Promise<ServerState[]> {
    return (await this.#all.states()).filter(({ name }) => this.#names.includes(name));
  }

  override async restart(name: string): Promise<boolean> {
    return this.#names.includes(name) && this.#all.restart(name);
  }

  #isNamed({ name, metadata }: DynamicStructuredTool): boolean {
    return this.#names.includes(name) || this.#names.includes(String(metadata?.["server"]));
  }
}

const shared = new WeakMap<McpOptions, McpServers>();

/** The servers of an option `mcp`. One options object always gives the same servers, such as for many lead agents. */
export function serversOf(mcp: McpOptions | McpServers, name: string): McpServers {
  if (mcp instanceof McpServers) return mcp;
  const servers = shared.get(mcp) ?? new McpServers(mcp, { name });
  shared.set(mcp, servers);
  return servers;
}

interface WithMcp {
  mcp?: McpOptions | McpServers;
  interruptOn?: ConsentOptions["interruptOn"];
}

/**
 * The options of a harness with its servers, and a rule for `ask` in `interruptOn`, where the harness's own rules take
 * precedence. `name`: the owner of the options.
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
