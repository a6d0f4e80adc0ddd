import type { ToolMessage } from "@langchain/core/messages";
import { getConfig } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { checkpointerOf } from "../../langgraph/index.ts";
import { CONFIG } from "../../marks.ts";
import { filled } from "../../middleware/text/index.ts";
import { answered } from "../../middleware/tool-errors/index.ts";
import {
  type CallResult,
  type ToolRuntime,
  withMessages,
  withOwnWords,
} from "../../middleware/tools/index.ts";
import { foreign } from "../../plan/render/index.ts";
import { BACKGROUND_TEXTS } from "./background.prompt.ts";

/** A working sub-agent, for users who talk to it. */
export interface WorkingAgent {
  /** Its owner, such as `main/Reef Borva:call_7`. */
  owner: string;
  /** Its id for its caller. */
  id?: string;
  /** Users' messages that it has not read yet. */
  notes: string[];
  /** Stops it; it returns its report so far. */
  cancel: () => void;
}

/** The working sub-agents of this process with their thread ids, by checkpointer. */
const registries = new WeakMap<object, Map<WorkingAgent, string>>();

/** Registers a working sub-agent. Returns a function that removes it; undefined without a checkpointer. */
export function register(
  { configurable = {} }: ToolRuntime,
  working: WorkingAgent,
): (() => void) | undefined {
  const saver = checkpointerOf(configurable);
  if (!saver) return undefined;
  const all = registries.get(saver) ?? new Map<WorkingAgent, string>();
  registries.set(saver, all.set(working, String(configurable["thread_id"])));
  return () => void all.delete(working);
}

const CANCEL = "/cancel";

/**
 * Sends the user's message to the working sub-agent that it names, as in `@Reef Borva only the north side`;
 * `@Reef Borva /cancel` stops it. Returns false if it does not begin with the name of one.
 */
export function sayToWorking(saver: unknown, thread: string, text: string): boolean {
  const all = typeof saver === "object" && saver !== null ? registries.get(saver) : undefined;
  const inThread = [...(all ?? [])].filter(([, id]) => id === thread);
  const names = inThread.flatMap(([agent]) => namesOf(agent).map((name) => ({ agent, name })));
  const matches = names.filter(({ name }) => isAddressedTo(text, name));
  const { agent, name } = matches.toSorted((a, b) => b.name.length - a.name.length)[0] ?? { name: "" };
  if (!agent) return false;
  const words = text
    .trim()
    .slice(name.length + 1)
    .replace(/^[:,]?\s*/, "");
  if (words === CANCEL) agent.cancel();
  else agent.notes.push(words);
  return true;
}

/** The names of a sub-agent: its title or the name of its kind, and its id. */
function namesOf({ owner, id }: WorkingAgent): string[] {
  const label = /([^/:]*):[^/:]*$/.exec(owner)?.[1] ?? "";
  return [label, id ?? ""].filter(Boolean);
}

function isAddressedTo(text: string, name: string): boolean {
  const words = text.trim().toLowerCase();
  return words.startsWith(`@${name.toLowerCase()}`) && /^(?:[\s:,]|$)/.test(words.slice(name.length + 1));
}

/** Removes and returns users' messages that the sub-agent has not read, for its report. */
export function takeUnread({ notes }: WorkingAgent): string {
  return notes
    .splice(0)
    .map((note) => filled(BACKGROUND_TEXTS.unread, { note }))
    .join("\n");
}

/** Adds users' messages to a sub-agent's next tool result, so that they stay in its conversation. */
export function steeringMiddleware() {
  return createMiddleware({
    name: "SteeringMiddleware",
    wrapToolCall: async (request, handler) => {
      const result = await answered(request, handler);
      const { [CONFIG.notes]: notes } = (getConfig().configurable ?? {}) as { [CONFIG.notes]?: string[] };
      const texts = (notes ?? [])
        .splice(0)
        .map((note) => filled(BACKGROUND_TEXTS.said, { note: foreign(note) }));
      return texts.length === 0 ? result : withWords(result, request.toolCall.id, texts.join("\n"));
    },
  });
}

/** Appends a text to the result of a call. `mark` is called with the new message. */
export function withWords(
  result: CallResult,
  call: string | undefined,
  text: string,
  mark: (message: ToolMessage) => void = () => {},
): CallResult {
  return withMessages(result, (message) => {
    if (message.tool_call_id !== call) return message;
    const longer = withOwnWords(message, text);
    mark(longer);
    return longer;
  });
}
