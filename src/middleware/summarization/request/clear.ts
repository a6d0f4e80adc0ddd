import { ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { userWordsIn } from "../../text/from-user.ts";
import { CLEARED_TEXTS } from "../summary.prompt.ts";
import { filled } from "./user-words.ts";

/** Tools whose results can be had again by the same call. */
const READING = new Set(["read_file", "ls", "glob", "grep"]);
/** Tools whose results only say how the plan stood. */
const PLANNING = new Set(["write_todos", "update_todos", "todo"]);

/** Shorter results are not worth a line in their place. */
const SHORTEST = 600;

const copies = new WeakMap<ToolMessage, ToolMessage>();

/**
 * The messages with a line in the place of each long result that can be had again, up to and including one of them.
 * What the model wrote itself, and what people said, stays. The same messages give the same lines.
 */
export function withoutOldResults(messages: readonly BaseMessage[], upTo: string | undefined): BaseMessage[] {
  const end = upTo === undefined ? -1 : messages.findLastIndex(({ id }) => id === upTo);
  if (end < 0) return [...messages];
  const lastPlan = messages.findLastIndex(({ name = "" }) => PLANNING.has(name));
  return messages.map((message, at) =>
    at <= end && at !== lastPlan && ToolMessage.isInstance(message) ? cleared(message) : message,
  );
}

function cleared(message: ToolMessage): ToolMessage {
  const known = copies.get(message);
  if (known) return known;
  const line = message.text.length < SHORTEST ? undefined : lineFor(message);
  if (line === undefined || userWordsIn(message) !== undefined) return message;
  const { tool_call_id, name, status, id } = message;
  // Without its artifact: an image that was shown with it goes, too.
  const copy = new ToolMessage({
    content: line,
    tool_call_id,
    ...(name !== undefined && { name }),
    ...(status !== undefined && { status }),
    ...(id !== undefined && { id }),
  });
  copies.set(message, copy);
  return copy;
}

function lineFor({ name = "", text }: ToolMessage): string | undefined {
  const count = text.length;
  const saved = SAVED.exec(text)?.[1];
  if (saved !== undefined) return filled(CLEARED_TEXTS.saved, { count, file: saved });
  if (READING.has(name)) return filled(CLEARED_TEXTS.read, { count });
  return PLANNING.has(name) ? CLEARED_TEXTS.plan : undefined;
}

/** The line in a preview of a long result, see `preview`. */
const SAVED = /characters left out\. The full text is in "([^"\n]+)"\.\]/;
