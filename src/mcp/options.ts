import type { ToolPins } from "./tools/definition.ts";

/** A server that is a program on this machine. */
export interface ProgramServer {
  type?: "stdio";
  command: string;
  args?: string[];
  /** The variables that the program gets besides a few safe ones, such as `PATH`. */
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
  /** Signs in with OAuth's client credentials. `issuer`: the only address that is sent the secret. */
  oauth?: { clientId: string; clientSecret: string; issuer: string; scope?: string };
  timeout?: number;
  disabled?: boolean;
}

/** An MCP server: a program on this machine, or an address. */
export type McpServer = ProgramServer | AddressServer;

/** Servers in the form of `.mcp.json`; `${VAR}` and `${VAR:-default}` in any text are replaced by variables. */
export interface McpConfig {
  mcpServers: Record<string, McpServer>;
}

/** Settings of servers. All are optional. */
export interface McpSettings {
  /** The directory of programs without a `cwd`. Default: the directory of this process. */
  dir?: string;
  /** Variables for `${VAR}`. Default: the environment of this process. */
  env?: Readonly<Record<string, string | undefined>>;
  /** The time for a server to start and list its tools, in milliseconds. Default 30,000. */
  startTimeoutMs?: number;
  /** The longest silence of a call, in milliseconds; progress renews it, up to thirty times. Default 120,000. */
  callTimeoutMs?: number;
  /**
   * The approximate number of tokens above which a search tool replaces the definitions in requests. Default: ten tools,
   * or 3,000 tokens.
   */
  searchAbove?: number;
  /**
   * The calls that wait for the user's consent: all, those of tools that do not declare themselves read-only, or only
   * those that `interruptOn` names. Default `none`.
   */
  ask?: "all" | "writes" | "none";
  /**
   * The definitions that the user has agreed to. A tool that differs waits for consent, whatever other rules say. Default:
   * none.
   */
  pins?: ToolPins;
  /** Whether users are asked the questions of servers. Default true; needs a checkpointer. */
  questions?: boolean;
  /** Returns the `OAuthClientProvider` of `@modelcontextprotocol/client` for a server's name. */
  auth?: (server: string) => object | undefined;
  /** Receives the reason why a server or tool cannot be used. Default: a process warning. */
  onNote?: (note: string) => void;
}

/** Options of `mcpTools`, and the option `mcp` of the harnesses. */
export type McpOptions = McpConfig & McpSettings;
