import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { numberedLines } from "../../../files/text/number-lines.ts";
import { hashOf, seenIn, type SeenFile } from "./seen-file.ts";
import { applyEdits, textEdits } from "./text-edits.ts";

/**
 * The text of a file as it was seen, put together from the conversation: what was read and written, with the edits
 * since. Undefined where the conversation does not have all of it.
 */
export function seenText(messages: readonly BaseMessage[], { path, hash }: SeenFile): string | undefined {
  let text: string | undefined;
  let pages = new Map<number, string>();
  let calls: NonNullable<AIMessage["tool_calls"]> = [];
  for (const message of messages) {
    if (AIMessage.isInstance(message)) calls = message.tool_calls ?? [];
    const seen = seenIn(message);
    if (!ToolMessage.isInstance(message) || seen?.path !== path) continue;
    const args = calls.find(({ id }) => id === message.tool_call_id)?.args ?? {};
    if (message.name === "read_file") {
      pages = new Map([...pages, ...numberedLines(message.text)]);
      text = joined(pages, seen.hash) ?? joined(numberedLines(message.text), seen.hash) ?? text;
    } else {
      pages = new Map();
      text = changed(message.name, args, text);
    }
    if (text !== undefined && hashOf(Buffer.from(text)) !== seen.hash) text = undefined;
    if (seen.hash === hash && text !== undefined) return text;
  }
  return undefined;
}

function changed(
  name: string | undefined,
  args: Record<string, unknown>,
  text: string | undefined,
): string | undefined {
  if (name === "write_file") return typeof args["content"] === "string" ? args["content"] : undefined;
  if (name !== "edit_file" || text === undefined) return undefined;
  const edited = applyEdits(text, textEdits(args));
  return edited.ok ? edited.content : undefined;
}

/** The text with these lines; undefined where some are missing, or were cut. */
export function joined(lines: ReadonlyMap<number, string>, hash: string): string | undefined {
  const inOrder = [...lines].toSorted(([a], [b]) => a - b).map(([, line]) => line);
  return ["\n", "\r\n"]
    .flatMap((ending) => [inOrder.join(ending) + ending, inOrder.join(ending)])
    .find((text) => hashOf(Buffer.from(text)) === hash);
}
