import { createHash } from "node:crypto";
import type { ToolMessage } from "@langchain/core/messages";
import { Command, isCommand } from "@langchain/langgraph";
import { type FileBackend } from "../../files/index.ts";
import { preview } from "../../files/text/index.ts";
import {
  type CallResult,
  type ToolRuntime,
  copyOf,
  withMessages,
  withUpdate,
  messagesOf,
} from "../tools/index.ts";
import type { Workspace } from "./workspace.ts";

interface Shortening {
  workspace: Workspace;
  /** The most characters of text that a result may have. */
  limit: number;
  folder: string;
  request: { state: object; runtime: unknown };
}

/**
 * Saves long tool results to files and replaces them by previews, also in the messages of a `Command`. A result that
 * cannot be saved is shown in full, unless it is too large for any file. Other blocks, such as images, stay.
 */
export async function shortenResult(
  result: CallResult,
  { workspace, limit, folder, request }: Shortening,
): Promise<CallResult> {
  const long = messagesOf(result).filter((message) => textOf(message).length > limit);
  if (long.length === 0) return result;
  const { backend, changes } = workspace.open(request.state, request.runtime as ToolRuntime);
  const previews = new Map<ToolMessage, ToolMessage>();
  for (const message of long) previews.set(message, await savePreview(message, { backend, limit, folder }));
  const short = withMessages(result, (message) => previews.get(message) ?? message);
  const files = changes();
  if (Object.keys(files).length === 0) return short;
  if (!isCommand(short)) return new Command({ update: { messages: [short], files } });
  const { update = {} } = short;
  if (Array.isArray(update)) return withUpdate(short, [...update, ["files", files]]);
  return withUpdate(short, { ...update, files: { ...(update as { files?: object }).files, ...files } });
}

async function savePreview(
  message: ToolMessage,
  { backend, limit, folder }: { backend: FileBackend; limit: number; folder: string },
): Promise<ToolMessage> {
  const text = textOf(message);
  const path = `${folder}/${resultName(message.name, text)}.txt`;
  const write = await backend.write(path, text);
  if (!write.ok && write.reason !== "too-large") return message;
  return withText(message, preview(text, { limit: limit / 4, path: write.ok ? path : undefined }));
}

/** A file name by content: some models reuse call ids in every turn, and threads may share a folder. */
function resultName(name = "result", text: string): string {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
  return `${name.replaceAll(/[^\w-]+/g, "_")}-${hash}`;
}

function textOf({ content }: ToolMessage): string {
  return typeof content === "string"
    ? content
    : content.flatMap((block) => (isText(block) ? block.text : [])).join("\n");
}

/** A copy of a message with its text replaced; other blocks stay. */
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
