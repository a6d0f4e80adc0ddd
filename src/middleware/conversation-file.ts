import type { AIMessage, BaseMessage, ToolMessage } from "@langchain/core/messages";
import { fail } from "../files/failures.ts";
import { leadingFolder } from "../files/glob.ts";
import { compositeBackend, createBackend, parsePath, stateFiles, type FileBackend } from "../files/index.ts";
import { isWithin } from "../files/paths.ts";
import { isFromUser } from "./from-user.ts";

const NAME = "conversation.md";

/** The folder of the conversation file where nothing else is said. */
export const CONVERSATION_FOLDER = "/.history";

/**
 * A backend with a thread's whole conversation as a file in a folder of its own, read-only. It is made of the messages
 * when it is read, and is there for whoever names it: listings and searches of the rest do not show it.
 */
export function withConversation(
  main: FileBackend,
  { folder, messages }: { folder: string; messages: readonly BaseMessage[] },
): FileBackend {
  let mounted: FileBackend | undefined;
  /** The backend that has a path. */
  const at = (raw: string): FileBackend => {
    const parsed = parsePath(raw);
    if (!parsed.ok || !isWithin(parsed.path, folder)) return main;
    return (mounted ??= compositeBackend(main, { [folder]: fileOf(messages) }));
  };
  return {
    list: (path, options) => at(path).list(path, options),
    read: (path) => at(path).read(path),
    // Asked before a write: it is text, and not to be replaced.
    readBytes: (path) => (at(path) === main ? main.readBytes(path) : refused()),
    write: (path, content) => at(path).write(path, content),
    writeBytes: (path, bytes) => at(path).writeBytes(path, bytes),
    delete: (path) => at(path).delete(path),
    edit: (path, edit) => at(path).edit(path, edit),
    glob: (pattern, scope = {}) =>
      at(pattern.startsWith("/") ? leadingFolder(pattern) : (scope.path ?? "/")).glob(pattern, scope),
    grep: (query) => at(query.path ?? "/").grep(query),
    // Nothing is written there, so nobody needs to know where it would have gone.
    route: (path) => ({ backend: main, path }),
    ...(main.locate && { locate: main.locate.bind(main) }),
    ...(main.execute && { execute: main.execute.bind(main) }),
  };
}

const refused = async () => fail("The conversation is read-only.", "denied");

function fileOf(messages: readonly BaseMessage[]): FileBackend {
  const files = stateFiles({ [`/${NAME}`]: conversationText(messages) });
  return createBackend({
    list: (path, options) => files.list(path, options),
    read: (path) => files.read(path),
    write: refused,
    swap: refused,
    delete: refused,
    deleteFolder: refused,
  });
}

const readers = new WeakMap<object, string>();

/** Notes that a tool reads files of a workspace that has the conversation in a folder. */
export function readsConversation<Tool extends object>(tool: Tool, folder: string): Tool {
  readers.set(tool, `${folder}/${NAME}`);
  return tool;
}

/** The path of the conversation for an agent with these tools; undefined where none of them can read it. */
export function conversationFileFor(tools: readonly unknown[]): string | undefined {
  return tools
    .map((tool) => (typeof tool === "object" && tool !== null ? readers.get(tool) : undefined))
    .find((path) => path !== undefined);
}

/** The heading of each part of a conversation file, which a search finds. */
const HEADING = "## ";

/** A conversation as text, message by message: the same beginning however long it gets. */
export function conversationText(messages: readonly BaseMessage[]): string {
  return messages.map((message, at) => messageText(message, at + 1)).join("");
}

/** How many lines the conversation file has for these messages. */
export function lineCount(messages: readonly BaseMessage[]): number {
  return messages.reduce((sum, message) => sum + linesOf(message), 0);
}

const counts = new WeakMap<BaseMessage, number>();

function linesOf(message: BaseMessage): number {
  const known = counts.get(message);
  if (known !== undefined) return known;
  const count = messageText(message, 0).split("\n").length - 1;
  counts.set(message, count);
  return count;
}

/** A message under a heading, with an empty line behind it. */
export function messageText(message: BaseMessage, number: number): string {
  return `${HEADING}${number} ${speakerOf(message)}\n${bodyOf(message)}\n\n`;
}

function speakerOf(message: BaseMessage): string {
  switch (message.type) {
    case "human":
      return isFromUser(message) ? "user" : "harness";
    case "ai":
      return "agent";
    case "tool": {
      const { name = "tool", status } = message as ToolMessage;
      return `result of ${name}${status === "error" ? " (error)" : ""}`;
    }
    default:
      return message.type;
  }
}

function bodyOf(message: BaseMessage): string {
  const calls = message.type === "ai" ? ((message as AIMessage).tool_calls ?? []) : [];
  const parts = [textOf(message), ...calls.map(({ name, args }) => `call ${name} ${JSON.stringify(args)}`)];
  return parts.filter((part) => part !== "").join("\n");
}

/** The text of a message; of what is not text its kind. */
export function textOf({ content, text }: BaseMessage): string {
  if (typeof content === "string") return content;
  const others = content.flatMap((block) => (SHOWN_ELSEWHERE.has(block.type) ? [] : [`[${block.type}]`]));
  return [text, ...others].filter((part) => part !== "").join("\n");
}

/** Blocks whose content is in the text or in the calls of a message, or that no reader needs. */
const SHOWN_ELSEWHERE = new Set([
  "text",
  "text-plain",
  "tool_use",
  "tool_call",
  "tool_call_chunk",
  "thinking",
  "redacted_thinking",
  "reasoning",
]);
