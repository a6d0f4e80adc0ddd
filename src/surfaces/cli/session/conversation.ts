import type { McpServers } from "../../../mcp/index.ts";
import type { RuledCall, Allowed, Mode, Project } from "../../../project/index.ts";
import type { ThreadStore } from "../../../storage/index.ts";
import type { Usage } from "../../../threads/events/index.ts";
import type { HostThread } from "../../../threads/host/index.ts";
import type { modelFor, RunSettings } from "../../../threads/prepare/index.ts";
import type { Prices } from "../../../threads/view/index.ts";
import type { Harmless, Paint } from "../output/index.ts";
import type { Terminal } from "../terminal.ts";
import type { Display } from "./display/display.ts";

export type SessionModel = Awaited<ReturnType<typeof modelFor>>;

/** A session as its commands and questions see it. */
export interface Conversation {
  readonly terminal: Terminal;
  readonly display: Display;
  readonly paint: Paint;
  readonly saver: ThreadStore;
  readonly project: Project;
  readonly allowed: Allowed | undefined;
  readonly mode: Mode;
  readonly isBusy: boolean;
  /** Whether the person has approved the plan that is worked on. */
  readonly isApproved: boolean;
  /** Whether something isolates commands. */
  readonly isIsolated: boolean;
  /** The session's token usage. */
  readonly usage: Usage;
  readonly prices: Prices | undefined;
  settings: RunSettings;
  model: SessionModel;
  /** The thread that is talked to; there is none before the first message. */
  readonly thread: HostThread | undefined;
  /** Whether the conversation is summarized in the next turn. */
  isCompactedNext: boolean;
  say: (...lines: readonly Harmless[]) => void;
  setMode: (mode: Mode) => void;
  /** Agrees to calls for good, in this directory. */
  allow: (rules: readonly string[]) => Promise<void>;
  /** Whether a call needs no question any more: what was agreed to, or another mode, since the turn began. */
  agreesTo: (call: RuledCall) => boolean;
  modelNamed: (name: string) => Promise<SessionModel>;
  /** The MCP servers of the thread, which are started when their tools are asked for. */
  servers: () => Promise<McpServers | undefined>;
  /** Another thread is talked to from now on; undefined begins one with the next message. */
  switchTo: (thread: string | undefined) => void;
  takeTurn: (text: string) => Promise<void>;
  /** Goes on where the thread stopped; a question that waits is put again. */
  goOn: () => Promise<void>;
  quit: () => void;
}

export interface SlashCommand {
  name: string;
  alias?: string;
  /** The arguments of the command. */
  usage?: string;
  about: string;
  /** Whether it can be used beside an agent at work; others wait for their turn. */
  isBeside?: boolean;
  run: (args: string, conversation: Conversation) => Promise<void>;
}
