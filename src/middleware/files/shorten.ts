import { createHash } from "node:crypto";
import { ToolMessage } from "@langchain/core/messages";
import { Command, isCommand } from "@langchain/langgraph";
import { type FileBackend } from "../../files/index.ts";
import { preview } from "../../files/text/offload.ts";
import type { ToolRuntime } from "../tools/loose-tool.ts";
import { withContent } from "../tools/with-content.ts";
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
  const update = isCommand(result) ? (result.update ?? {}) : { messages: [result] };
  const writes = Array.isArray(update) ? update : Object.entries(update);
  const isLong = (message: unknown): message is ToolMessage =>
    ToolMessage.isInstance(message) && textOf(message).length > limit;
  const messages = writes.flatMap(([channel, value]) => (channel === "messages" ? value : []));
  if (!messages.some(isLong)) return result;
  const { backend, changes } = workspace.open(request.state, request.runtime as ToolRuntime);
  const short = new Map<unknown, ToolMessage>();
  for (const message of messages.filter(isLong)) {
    short.set(message, await saved(message, { backend, limit, folder }));
  }
  const put = ([channel, value]: [string, unknown]): [string, unknown] =>
    channel === "messages"
      ? [channel, [value].flat().map((message) => short.get(message) ?? message)]
      : [channel, value];
  const files = Object.keys(changes()).length > 0 ? changes() : undefined;
  const known: object = Array.isArray(update) ? {} : ((update as { files?: object }).files ?? {});
  return new Command({
    ...(isCommand(result) && withoutUpdate(result)),
    update: Array.isArray(update)
      ? [...writes.map(put), ...(files ? [["files", files] as [string, unknown]] : [])]
      : { ...Object.fromEntries(writes.map(put)), ...(files && { files: { ...known, ...files } }) },
  });
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
  return withContent(message, typeof content === "string" ? text : withTextBlock(content, text));
}

type Blocks = Exclude<ToolMessage["content"], string>;

function withTextBlock(blocks: Blocks, text: string): Blocks {
  const first = blocks.findIndex(isText);
  return blocks.with(first, { type: "text", text }).filter((block, at) => at === first || !isText(block));
}

function isText(block: { type?: unknown; text?: unknown }): block is { type: string; text: string } {
  return (block.type === "text" || block.type === "text-plain") && typeof block.text === "string";
}

function withoutUpdate({ graph, goto, resume }: Command): ConstructorParameters<typeof Command>[0] {
  return {
    ...(graph !== undefined && { graph }),
    ...(goto !== undefined && { goto }),
    ...(resume !== undefined && { resume }),
  };
}
