import type { McpServers } from "../../../mcp/index.ts";
import type { RuledCall, Allowed, Project } from "../../../project/index.ts";
import type { ThreadStore } from "../../../storage/index.ts";
import type { Usage } from "../../../threads/events/index.ts";
import type { HostThread } from "../../../threads/host/index.ts";
import type { modelFor, RunSettings } from "../../../threads/prepare/index.ts";
import type { Prices } from "../../../threads/view/index.ts";
import { type Mode } from "../../../vocabulary.ts";
import type { Harmless, Paint } from "../output/index.ts";
import type { Terminal } from "../terminal.ts";
import type { Display } from "./display/display.ts";

export type SessionModel = Awaited<ReturnType<typeof modelFor>>;

/** The interface of a session for its commands and questions. */
export interface SessionConversation {
  readonly terminal: Terminal;
  readonly display: Display;
  readonly paint: Paint;
  readonly saver: ThreadStore;
  readonly project: Project;
  readonly allowed: Allowed | undefined;
  readonly mode: Mode;
  readonly isBusy: boolean;
  /** Whether the user has approved the open plan. */
  readonly isApproved: boolean;
  /** Whether commands are isolated. */
  readonly isIsolated: boolean;
  /** The session's token usage. */
  readonly usage: Usage;
  readonly prices: Prices | undefined;
  settings: RunSettings;
  model: SessionModel;
  /** The current thread; undefined before the first message. */
  readonly thread: HostThread | undefined;
  /** Whether the next turn summarizes the conversation. */
  isCompactedNext: boolean;
  say: (...lines: readonly Harmless[]) => void;
  setMode: (mode: Mode) => void;
  /** Allows calls permanently in this directory. */
  allow: (rules: readonly string[]) => Promise<void>;
  /** Whether consent or a mode change since the turn began makes a question about a call unnecessary. */
  agreesTo: (call: RuledCall) => boolean;
  modelNamed: (name: string) => Promise<SessionModel>;
  /** The MCP servers of the thread, started on the first use of their tools. */
  servers: () => Promise<McpServers | undefined>;
  /** Switches to another thread; undefined starts one with the next message. */
  switchTo: (thread: string | undefined) => void;
  /** Continues the thread where it stopped; a question that waits is asked again. */
  goOn: () => Promise<void>;
  quit: () => void;
}

export interface SlashCommand {
  name: string;
  alias?: string;
  /** The arguments, for the help. */
  usage?: string;
  about: string;
  /** Whether it may run while the agent works; others wait until it has finished. */
  isBeside?: boolean;
  run: (args: string, conversation: SessionConversation) => Promise<void>;
}
