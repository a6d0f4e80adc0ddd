import type { DynamicStructuredTool } from "@langchain/core/tools";
import type { Tool } from "@modelcontextprotocol/client";
import { checkMcpOptions, filledIn } from "./config.ts";
import { Connection, messageOf } from "./connection/connection.ts";
import { WaitingCalls } from "./connection/live-call.ts";
import { Secrets } from "./connection/secrets.ts";
import type { McpOptions } from "./options.ts";
import { changeNotice, definitionOf, isSameDefinition } from "./tools/definition.ts";
import { toolName } from "./tools/tool-names.ts";
import { serverTool, type ToolPlace } from "./tools/tool.ts";

/** Servers that nobody has used for so long are ended. They are started again when they are needed. */
const IDLE_MS = 5 * 60_000;

/**
 * MCP servers of an agent, or of several. They are started together when their tools are first needed; one that
 * cannot be used is a note, and never the end of a run.
 */
export class McpServers {
  readonly options: McpOptions;
  readonly #places: readonly ToolPlace[];
  readonly #notes: string[] = [];
  /** The variables that servers lack, until somebody is told. */
  #lacking: readonly [server: string, missing: readonly string[]][] = [];
  /** The tools of each server as it last listed them: a request must look like the one before it. */
  readonly #known = new Map<Connection, { listed: object; tools: readonly DynamicStructuredTool[] }>();
  #tools: readonly DynamicStructuredTool[] = [];
  /** Notices of tools that differ from what was agreed to, by the tool's name. */
  readonly #changes = new Map<string, string>();
  readonly #failed = new Set<Connection>();
  #idle: NodeJS.Timeout | undefined;

  constructor(options: McpOptions, { name = "mcpTools" }: { name?: string } = {}) {
    checkMcpOptions(options, name);
    this.options = options;
    const waiting = new WaitingCalls();
    this.#places = Object.entries(options.mcpServers).flatMap(([server, given]) => {
      if (given.disabled) return [];
      const filled = filledIn(given, options.env ?? process.env);
      if ("missing" in filled) {
        this.#lacking = [...this.#lacking, [server, filled.missing]];
        return [];
      }
      const secrets = new Secrets(filled.server);
      const connection = new Connection({ name: server, server: filled.server, settings: options, secrets });
      return [{ connection, secrets, waiting }];
    });
  }

  /** Servers and tools that cannot be used, with the reasons. */
  get notes(): readonly string[] {
    return this.#notes;
  }

  /** The tools of all servers that can be used, the same list while they are the same. Starts them; does not throw. */
  async tools(): Promise<readonly DynamicStructuredTool[]> {
    this.#restOn();
    for (const [server, missing] of this.#lacking) {
      this.#note(server, `it needs ${missing.join(", ")}, which is not set.`);
    }
    this.#lacking = [];
    const all = await Promise.all(this.#places.map((place) => this.#toolsOf(place)));
    // A server may list a name twice.
    const tools = [...new Map(all.flat().map((tool) => [tool.name, tool])).values()];
    const isSame = tools.length === this.#tools.length && tools.every((tool, at) => tool === this.#tools[at]);
    if (!isSame) this.#tools = tools;
    return this.#tools;
  }

  /** The tool of a call, as it was last listed. */
  find(name: string): DynamicStructuredTool | undefined {
    this.#restOn();
    return this.#tools.find((tool) => tool.name === name);
  }

  /** Whether a tool says of itself that it changes nothing. */
  isReadOnly(name: string): boolean {
    const { annotations } = (this.find(name)?.metadata ?? {}) as { annotations?: { readOnlyHint?: unknown } };
    return annotations?.readOnlyHint === true;
  }

  /** A notice that a tool is not as it was agreed to, with the difference: a call of it waits for a person's consent. */
  changeOf(name: string): string | undefined {
    return this.#changes.get(name);
  }

  /** The named ones of these servers and tools (`mcp__server__tool`). */
  named(names: readonly string[]): McpServers {
    return new NamedServers(this, names);
  }

  /** Ends all servers. They are started again when they are needed. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await Promise.all(this.#places.map(({ connection }) => connection.close()));
  }

  async #toolsOf(place: ToolPlace): Promise<readonly DynamicStructuredTool[]> {
    const { connection } = place;
    const known = this.#known.get(connection);
    // Once in a while is enough: every model call would wait for a server that hangs.
    if (this.#failed.has(connection)) return known?.tools ?? [];
    try {
      const listed = await connection.tools();
      if (known?.listed === listed) return known.tools;
      const tools = await this.#agreed(listed, place);
      for (const name of connection.refused)
        this.#tell(
          `The tool ${name} of the MCP server ${connection.name} is not used: its schema is not valid.`,
        );
      this.#known.set(connection, { listed, tools });
      return tools;
    } catch (error) {
      this.#failed.add(connection);
      setTimeout(() => this.#failed.delete(connection), IDLE_MS).unref();
      this.#note(connection.name, messageOf(error));
      // Tools that were there stay: to call one says why it cannot be used.
      return known?.tools ?? [];
    }
  }

  /**
   * The tools as they were agreed to, and their changes. A tool that has changed keeps its definition, without its
   * hints, until a call of it is made. The first list of a server counts as agreed to, as the server does.
   */
  async #agreed(listed: readonly Tool[], place: ToolPlace): Promise<DynamicStructuredTool[]> {
    const { pins } = this.options;
    const { name: server } = place.connection;
    const all = listed.map((tool) => ({ tool, definition: definitionOf(tool) }));
    const agreed = await pins?.of(server);
    if (pins && !agreed) {
      await pins.pin(server, Object.fromEntries(all.map(({ tool, definition }) => [tool.name, definition])));
    }
    return all.map(({ tool, definition }) => {
      const name = toolName(server, tool.name);
      const pinned = agreed && Object.hasOwn(agreed, tool.name) ? agreed[tool.name] : undefined;
      this.#changes.delete(name);
      if (!agreed || isSameDefinition(pinned, definition)) {
        return serverTool(tool, { ...place, definition, onCall: async () => {} });
      }
      this.#changes.set(name, changeNotice(pinned, definition));
      this.#tell(
        `The tool ${tool.name} of the MCP server ${server} is not as it was agreed to: calls of it wait for consent.`,
      );
      const onCall = async (): Promise<void> => {
        await pins?.pin(server, { [tool.name]: definition });
        this.#changes.delete(name);
        this.#known.delete(place.connection);
      };
      return serverTool(tool, { ...place, definition: { ...(pinned ?? definition), hints: {} }, onCall });
    });
  }

  #restOn(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      const isBusy = this.#places.some(({ connection }) => connection.isBusy);
      if (isBusy) this.#restOn();
      else void this.close();
    }, IDLE_MS).unref();
  }

  #note(server: string, reason: string): void {
    this.#tell(`The MCP server ${server} is not used: ${reason}`);
  }

  #tell(note: string): void {
    // A server may list the same again and again.
    if (this.#notes.includes(note) && note.startsWith("The tool")) return;
    this.#notes.push(note);
    const tell = this.options.onNote ?? ((text: string) => process.emitWarning(text));
    tell(note);
  }
}

/** Some of other servers, which start and end them. */
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

  #isNamed({ name, metadata }: DynamicStructuredTool): boolean {
    return this.#names.includes(name) || this.#names.includes(String(metadata?.["server"]));
  }
}

const shared = new WeakMap<McpOptions, McpServers>();

/** The servers of an option `mcp`; those of one object are shared, such as by the lead agents of many requests. */
export function serversOf(mcp: McpOptions | McpServers, name: string): McpServers {
  if (mcp instanceof McpServers) return mcp;
  const known = shared.get(mcp) ?? new McpServers(mcp, { name });
  shared.set(mcp, known);
  return known;
}
