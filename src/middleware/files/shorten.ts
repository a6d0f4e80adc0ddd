import { createHash } from "node:crypto";
import type { ToolMessage } from "@langchain/core/messages";
import { Command, isCommand } from "@langchain/langgraph";
import { type FileBackend } from "../../files/index.ts";
import { preview } from "../../files/text/index.ts";
import { type ToolRuntime, copyOf, withMessages, withUpdate, messagesOf } from "../tools/index.ts";
import type { Workspace } from "./workspace.ts";

interface Shortening {
  workspace: Workspace;
  /** The most characters of text that a result may have. */
  limit: number;
  folder: string;
  request: { state: object; runtime: unknown };
}

/**
 * Saves long tool results to files and leaves previews in their place, also in the messages of a `Command`. What
 * cannot be saved is shown whole, unless it is too large for any file; what is not text, such as an image, stays.
 */
export async function shortenResult(
  result: ToolMessage | Command,
  { workspace, limit, folder, request }: Shortening,
): Promise<ToolMessage | Command> {
  const long = messagesOf(result).filter((message) => textOf(message).length > limit);
  if (long.length === 0) return result;
  const { backend, changes } = workspace.open(request.state, request.runtime as ToolRuntime);
  const previews = new Map<ToolMessage, ToolMessage>();
  for (const message of long) previews.set(message, await saved(message, { backend, limit, folder }));
  const short = withMessages(result, (message) => previews.get(message) ?? message);
  const files = changes();
  if (Object.keys(files).length === 0) return short;
  if (!isCommand(short)) return new Command({ update: { messages: [short], files } });
  const { update = {} } = short;
  if (Array.isArray(update)) return withUpdate(short, [...update, ["files", files]]);
  return withUpdate(short, { ...update, files: { ...(update as { files?: object }).files, ...files } });
}

async function saved(
  message: ToolMessage,
  { backend, limit, folder }: { backend: FileBackend; limit: number; folder: string },
): Promise<ToolMessage> {
  const text = textOf(message);
  const path = `${folder}/${resultName(message.name, text)}.txt`;
  const written = await backend.write(path, text);
  if (!written.ok && written.reason !== "too-large") return message;
  return withText(message, preview(text, { limit: limit / 4, path: written.ok ? path : undefined }));
}

/** Some models count their call ids anew in every turn, and threads may share a folder: the content tells them apart. */
function resultName(name = "result", text: string): string {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
  return `${name.replaceAll(/[^\w-]+/g, "_")}-${hash}`;
}

/** The text of a result, or of its blocks together. */
function textOf({ content }: ToolMessage): string {
  return typeof content === "string"
    ? content
    : content.flatMap((block) => (isText(block) ? block.text : [])).join("\n");
}

/** The message with another text in the place of its first one, and none of its own left. */
function withText(message: ToolMessage, text: string): ToolMessage {
  const { content } = message;
  return copyOf(message, { content: typeof content === "string" ? text : withTextBlock(content, text) });
}

type Blocks = Exclude<ToolMessage["content"], string>;

function withTextBlock(blocks: Blocks, text: string): Blocks {
  const first = blocks.findIndex(isText);
  return blocks.with(first, { type: "text", text }).filter((block, at) => at === first || !isText(block));
}

function isText(block: { type?: unknown; text?: unknown }): block is { type: string; text: string } {
  return (block.type === "text" || block.type === "text-plain") && typeof block.text === "string";
}
