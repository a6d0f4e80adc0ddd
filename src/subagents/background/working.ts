import type { ToolMessage } from "@langchain/core/messages";
import { getConfig, type Command } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { checkpointerOf } from "../../langgraph/index.ts";
import { filled } from "../../middleware/text/index.ts";
import { answered } from "../../middleware/tool-errors/index.ts";
import { type ToolRuntime, withMessages, withText } from "../../middleware/tools/index.ts";
import { BACKGROUND_TEXTS } from "./background.prompt.ts";

/** A sub-agent at work, for people who talk to it. */
export interface Working {
  /** Its place: `main/Reef Borva:call_7`. */
  owner: string;
  /** The id by which its caller knows it. */
  id?: string | undefined;
  /** People's messages to it that it has not read yet. */
  notes: string[];
  /** Stops it: its report so far goes back. */
  cancel: () => void;
}

/** Sub-agents at work in this process with their threads, by checkpointer. */
const registries = new WeakMap<object, Map<Working, string>>();

/** The configurable under which a sub-agent finds what people say to it. */
export const NOTES_KEY = "holdfast_notes";

/** Enters a sub-agent for as long as it works; the result takes it out. Undefined where its thread has no store. */
export function enter({ configurable = {} }: ToolRuntime, working: Working): (() => void) | undefined {
  const saver = checkpointerOf(configurable);
  if (!saver) return undefined;
  const all = registries.get(saver) ?? new Map<Working, string>();
  registries.set(saver, all.set(working, String(configurable["thread_id"])));
  return () => void all.delete(working);
}

const CANCEL = "/cancel";

/**
 * Gives a person's words to the sub-agent of a thread that they begin with, as in `@Reef Borva only the north side`;
 * `@Reef Borva /cancel` stops it. False where they begin with none that is at work.
 */
export function sayToWorking(saver: unknown, thread: string, text: string): boolean {
  const all = typeof saver === "object" && saver !== null ? registries.get(saver) : undefined;
  const atWork = [...(all ?? [])].filter(([, its]) => its === thread);
  const names = atWork.flatMap(([one]) => namesOf(one).map((name) => ({ one, name })));
  const called = names.filter(({ name }) => isCalled(text, name));
  const { one: working, name } = called.toSorted((a, b) => b.name.length - a.name.length)[0] ?? { name: "" };
  if (!working) return false;
  const words = text
    .trim()
    .slice(name.length + 1)
    .replace(/^[:,]?\s*/, "");
  if (words === CANCEL) working.cancel();
  else working.notes.push(words);
  return true;
}

/** Its title, or the name of its kind, and its id. */
function namesOf({ owner, id }: Working): string[] {
  const label = /([^/:]*):[^/:]*$/.exec(owner)?.[1] ?? "";
  return [label, id ?? ""].filter(Boolean);
}

function isCalled(text: string, name: string): boolean {
  const said = text.trim().toLowerCase();
  return said.startsWith(`@${name.toLowerCase()}`) && /^(?:[\s:,]|$)/.test(said.slice(name.length + 1));
}

/** The words of people that nobody has read, for whoever gets the report. */
export function unread({ notes }: Working): string {
  return notes
    .splice(0)
    .map((note) => filled(BACKGROUND_TEXTS.unread, { note }))
    .join("\n");
}

/** Gives a sub-agent what people say to it, with the next result of a tool: so it stays in its conversation. */
export function steeringMiddleware() {
  return createMiddleware({
    name: "SteeringMiddleware",
    wrapToolCall: async (request, handler) => {
      const result = await answered(request, handler);
      const { [NOTES_KEY]: notes } = (getConfig().configurable ?? {}) as { [NOTES_KEY]?: string[] };
      const said = (notes ?? []).splice(0).map((note) => filled(BACKGROUND_TEXTS.said, { note }));
      return said.length === 0 ? result : withWords(result, request.toolCall.id, said.join("\n"));
    },
  });
}

/** A call's result with a text at its end, which is kept in the thread. `marked`: notes something in the message. */
export function withWords(
  result: ToolMessage | Command,
  call: string | undefined,
  text: string,
  marked: (message: ToolMessage) => void = () => {},
): ToolMessage | Command {
  return withMessages(result, (message) => {
    if (message.tool_call_id !== call) return message;
    const longer = withText(message, text);
    marked(longer);
    return longer;
  });
}
