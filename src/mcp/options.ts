import type { ToolPins } from "./tools/definition.ts";

/** A server that is a program of this machine. */
export interface ProgramServer {
  type?: "stdio";
  command: string;
  args?: string[];
  /** Beside a few harmless variables, such as `PATH`, the only ones that the program gets. */
  env?: Record<string, string>;
  cwd?: string;
  /** The longest silence of a call, in milliseconds. */
  timeout?: number;
  disabled?: boolean;
}

/** A server at an address. */
export interface AddressServer {
  type?: "http" | "streamable-http";
  url: string;
  headers?: Record<string, string>;
  /** Signs in as a program, with OAuth's client credentials. `issuer`: the address of who alone is sent the secret. */
  oauth?: { clientId: string; clientSecret: string; issuer: string; scope?: string };
  timeout?: number;
  disabled?: boolean;
}

/** An MCP server: a program of this machine, or an address. */
export type McpServer = ProgramServer | AddressServer;

/** Servers as `.mcp.json` has them; `${VAR}` and `${VAR:-default}` in any text stand for variables. */
export interface McpConfig {
  mcpServers: Record<string, McpServer>;
}

/** Settings of servers. All are optional. */
export interface McpSettings {
  /** Where programs are started that name no `cwd`. Default: the directory of this process. */
  dir?: string;
  /** Variables for `${VAR}`. Default: the environment of this process. */
  env?: Readonly<Record<string, string | undefined>>;
  /** The time for a server to start and list its tools, in milliseconds. Default 30,000. */
  startTimeoutMs?: number;
  /** The longest silence of a call; progress renews the time, thirty times at most. Default 120,000. */
  callTimeoutMs?: number;
  /**
   * Definitions of more tokens than this, about, are found by a search tool instead of sent. Default: from ten tools on,
   * or above 3,000 tokens.
   */
  searchAbove?: number;
  /**
   * Calls that wait for a person's consent: all, those of tools that do not declare that they only read, or only
   * those that `interruptOn` names. Default `none`.
   */
  ask?: "all" | "writes" | "none";
  /**
   * The definitions that were agreed to. A tool that differs waits for a person's consent, whatever other rules say.
   * Default: none are remembered.
   */
  pins?: ToolPins;
  /** Whether people are asked what servers want to know of them. Default true; needs a checkpointer. */
  questions?: boolean;
  /** Signs in at an address: an `OAuthClientProvider` of `@modelcontextprotocol/client`, by the server's name. */
  auth?: (server: string) => object | undefined;
  /** Told of a server that cannot be used, and why. Default: a process warning. */
  onNote?: (note: string) => void;
}

/** Options of `mcpTools`, and the option `mcp` of the harnesses. */
export type McpOptions = McpConfig & McpSettings;
