import type { AIMessage, BaseMessage, ToolMessage } from "@langchain/core/messages";
import { fail } from "../../files/backend/index.ts";
import { stateFiles } from "../../files/backends/index.ts";
import { type FileBackend } from "../../files/index.ts";
import { parsePath, inOrder, leadingFolder, pathIn } from "../../files/paths/index.ts";
import { capMatches } from "../../files/search/index.ts";
import { preview } from "../../files/text/index.ts";
import { isFromUser } from "../text/index.ts";
import { copyOf } from "../tools/index.ts";

const NAME = "conversation.md";

/** The default folder of the conversation file. */
export const CONVERSATION_FOLDER = "/.history";

/**
 * Adds a thread's whole conversation to a backend, as a read-only file in a folder. The file is made of the messages
 * when it is read. It appears only under its own path and folder: listings and searches elsewhere do not include it.
 * The folder may have other files of the backend.
 */
export function withConversation(
  main: FileBackend,
  { folder, messages }: { folder: string; messages: readonly BaseMessage[] },
): FileBackend {
  const file = pathIn(folder, NAME);
  let cache: FileBackend | undefined;
  const conversation = (): FileBackend => (cache ??= stateFiles({ [file]: conversationText(messages) }));
  const isFile = (raw: string): boolean => pathOf(raw) === file;
  const isFolder = (raw: string): boolean => pathOf(raw) === folder;
  return {
    list: async (path, options) => {
      const result = await main.list(path, options);
      if (!isFolder(path)) return result;
      const added = await conversation().list(path, options);
      if (!added.ok) return result;
      const others = result.ok ? result.entries.filter((entry) => entry.path !== file) : [];
      return { ok: true, entries: [...others, ...added.entries].toSorted((a, b) => inOrder(a.name, b.name)) };
    },
    read: (path) => (isFile(path) ? conversation() : main).read(path),
    // Refused, too: bytes are read before a write, and the file must not be replaced.
    readBytes: (path) => (isFile(path) ? refuse() : main.readBytes(path)),
    write: (path, content) => (isFile(path) ? refuse() : main.write(path, content)),
    writeBytes: (path, bytes) => (isFile(path) ? refuse() : main.writeBytes(path, bytes)),
    delete: (path) => (isFile(path) ? refuse() : main.delete(path)),
    edit: (path, edit) => (isFile(path) ? refuse() : main.edit(path, edit)),
    glob: async (pattern, scope = {}) => {
      const root = pattern.startsWith("/") ? leadingFolder(pattern) : (scope.path ?? "/");
      if (isFile(root)) return conversation().glob(pattern, scope);
      const result = await main.glob(pattern, scope);
      if (!isFolder(root)) return result;
      const added = await conversation().glob(pattern, scope);
      if (!added.ok) return result;
      const others = result.ok ? result.paths.filter((path) => path !== file) : [];
      return { ...(result.ok && result), ok: true, paths: [...others, ...added.paths].toSorted(inOrder) };
    },
    grep: async (query) => {
      const { path = "/" } = query;
      if (isFile(path)) return conversation().grep(query);
      const result = await main.grep(query);
      if (!isFolder(path)) return result;
      const added = await conversation().grep(query);
      if (!added.ok) return result;
      const { files, notes } = result.ok ? result : { files: [], notes: [] };
      const others = files.filter((one) => one.path !== file);
      const all = { files: [...others, ...added.files], notes: [...notes, ...added.notes] };
      return { ok: true, ...capMatches(all, query) };
    },
    // Writes to the file are refused, so every other path belongs to `main`.
    route: (path) => ({ backend: main, path }),
    locate: main.locate?.bind(main),
    execute: main.execute?.bind(main),
  };
}

function pathOf(raw: string): string | undefined {
  const parsed = parsePath(raw);
  return parsed.ok ? parsed.path : undefined;
}

const refuse = async () => fail("The conversation is read-only.", "denied");

/** Paths of the conversation, by the tool that can read it. */
const readers = new WeakMap<object, string>();

/** Marks a tool that can read the conversation file in a folder. Returns the tool. */
export function readsConversation<Tool extends object>(tool: Tool, folder: string): Tool {
  readers.set(tool, pathIn(folder, NAME));
  return tool;
}

/** The path of the conversation for an agent with these tools; undefined if none of them can read it. */
export function conversationFileFor(tools: readonly unknown[]): string | undefined {
  return tools
    .map((tool) => (typeof tool === "object" && tool !== null ? readers.get(tool) : undefined))
    .find((path) => path !== undefined);
}

/** The heading of each message in a conversation file, for searches. */
export const HEADING = "## ";

/** A conversation as text, message by message. Later messages do not change the text of earlier ones. */
export function conversationText(messages: readonly BaseMessage[]): string {
  return messages.map((message, at) => messageText(message, at + 1)).join("");
}

/** The number of lines of the conversation file for these messages. */
export function lineCount(messages: readonly BaseMessage[]): number {
  return messages.reduce((sum, message) => sum + linesOf(message), 0);
}

/** A user's message with more characters is shortened to its beginning and end in requests. */
const LONGEST_MESSAGE = 100_000;

/**
 * Shortens very long messages of users in a request to their beginning, their end, and their line in the conversation
 * file. They stay whole in the thread. The same message always gives the same text.
 */
export function withShortMessages(
  messages: readonly BaseMessage[],
  { conversation, file }: { conversation: readonly BaseMessage[]; file: string | undefined },
): BaseMessage[] {
  return messages.map((message) => {
    if (file === undefined || !isLong(message)) return message;
    const at = conversation.findIndex(({ id }) => id !== undefined && id === message.id);
    if (at < 0) return message;
    const line = lineCount(conversation.slice(0, at)) + 2;
    const short = preview(message.text, { limit: LONGEST_MESSAGE / 4, path: file, line });
    const copy = copyOf(message, { content: contentOf(message, short) });
    // The file has the whole message, so line numbers count all its lines.
    counts.set(copy, linesOf(message));
    return copy;
  });
}

/** Recognizes a user's message that is too long for requests. */
export function isLong(message: BaseMessage): boolean {
  return isFromUser(message) && message.text.length > LONGEST_MESSAGE;
}

/** The content of a message with its text replaced; other blocks, such as images, stay. */
function contentOf({ content }: BaseMessage, text: string): BaseMessage["content"] {
  if (typeof content === "string") return text;
  return [{ type: "text", text }, ...content.filter(({ type }) => type !== "text")];
}

const counts = new WeakMap<BaseMessage, number>();

function linesOf(message: BaseMessage): number {
  const count = counts.get(message) ?? messageText(message, 0).split("\n").length - 1;
  counts.set(message, count);
  return count;
}

/** A message under a heading, followed by an empty line. */
function messageText(message: BaseMessage, number: number): string {
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

/** The text of a message, with the types of other blocks such as `[image_url]`. */
export function textOf({ content, text }: BaseMessage): string {
  if (typeof content === "string") return content;
  const others = content.flatMap((block) => (SHOWN_ELSEWHERE.has(block.type) ? [] : [`[${block.type}]`]));
  return [text, ...others].filter((part) => part !== "").join("\n");
}

/** Types of blocks whose content is in a message's text or calls, or that no reader needs. */
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
