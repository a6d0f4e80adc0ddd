import { ToolMessage } from "@langchain/core/messages";
import type { DynamicStructuredTool } from "@langchain/core/tools";
import { isGraphInterrupt } from "@langchain/langgraph";
import type { Tool, CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { HarnessError } from "../../errors.ts";
import { fromOutside } from "../../middleware/text/index.ts";
import { askUser, callId, failure, looseTool } from "../../middleware/tools/index.ts";
import { messageOf, type Connection } from "../connection/connection.ts";
import { readForm, toClarification, type FormQuestion } from "../connection/form.ts";
import type { LiveCall, WaitingCalls } from "../connection/live-call.ts";
import type { Secrets } from "../connection/secrets.ts";
import type { ToolDefinition } from "./definition.ts";
import { toolName } from "./tool-names.ts";

/** The connection to a server, with the objects that its tools share. */
export interface ServerParts {
  connection: Connection;
  secrets: Secrets;
  waiting: WaitingCalls;
}

interface ServerTool extends ServerParts {
  definition: ToolDefinition;
  /** Called before each call, after any consent that it needs. */
  onCall: () => Promise<void>;
}

/** A LangChain tool for a tool of a server. Errors of the server are its results. */
export function serverTool(
  tool: Tool,
  { connection, secrets, waiting, definition, onCall }: ServerTool,
): DynamicStructuredTool {
  const { description, schema, hints } = definition;
  const server = connection.name;
  const name = toolName(server, tool.name);
  const langChainTool = looseTool({ name, description, schema }, async (args, runtime) => {
    await onCall();
    const id = callId(runtime);
    const thread: unknown = runtime.configurable?.["thread_id"];
    const key = JSON.stringify([thread, id, name]);
    const live =
      waiting.take(key) ?? connection.call(tool.name, withoutNulls(args, tool.inputSchema), thread);
    try {
      return resultMessage(await resultOf(live, runtime.signal), { server, name, id, secrets });
    } catch (error) {
      // The run that continues after the answer takes the call.
      if (isGraphInterrupt(error)) waiting.keep(key, live);
      if (isGraphInterrupt(error) || runtime.signal?.aborted) throw error;
      return failure(name, id, secrets.hide(messageOf(error)));
    }
  });
  // The middleware for repetitions and consent reads the annotations.
  langChainTool.metadata = { server, annotations: hints };
  return langChainTool;
}

/** Waits for the result of a call, and asks the server's questions. Throws the interrupt of a question without an answer. */
async function resultOf(live: LiveCall, signal: AbortSignal | undefined): Promise<CallToolResult> {
  const cancel = (): void => live.cancel(signal?.reason);
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    // In a run that continues, LangGraph returns all answers from the first one on.
    for (const request of live.requests) askUser(request, "An MCP server");
    for (;;) {
      const next = await live.next();
      if ("result" in next) return next.result;
      live.answer(ask(next.question, live));
    }
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

/** Asks the user until the answer fits the form. Declines if no person can be asked. */
function ask(question: FormQuestion, live: LiveCall): Exclude<ReturnType<typeof readForm>, string> {
  let error: string | undefined;
  for (;;) {
    const request = toClarification(question, error);
    let answer: unknown;
    try {
      answer = askUser(request, "An MCP server");
    } catch (problem) {
      if (HarnessError.from(problem)) return { action: "decline" };
      throw problem;
    }
    live.requests.push(request);
    const result = readForm(answer, question);
    if (typeof result !== "string") return result;
    error = result;
  }
}

/** Removes nulls that the schema does not allow: models send them for arguments that they leave out. */
function withoutNulls(args: unknown, { properties = {} }: Tool["inputSchema"]): Record<string, unknown> {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return {};
  const takesNull = (name: string): boolean => JSON.stringify(properties[name] ?? null).includes("null");
  return Object.fromEntries(
    Object.entries(args).filter(([name, value]) => value !== null || takesNull(name)),
  );
}

/** The largest image in characters of base64: it is in every checkpoint and request. */
const MAX_IMAGE_CHARS = 2_000_000;
const MAX_IMAGES = 8;
const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

type Part = { text: string } | { url: string };

export function resultMessage(
  { content, structuredContent, isError }: CallToolResult,
  { server, name, id, secrets }: { server: string; name: string; id: string; secrets: Secrets },
): ToolMessage {
  const parts = content.flatMap(partsOf);
  const images = parts.flatMap((part) => ("url" in part ? [part.url] : []));
  const texts = parts.flatMap((part) => ("text" in part ? [part.text] : []));
  if (images.length > MAX_IMAGES) texts.push(`[${images.length - MAX_IMAGES} more images are not shown.]`);
  const isBare = texts.length === 0 && images.length === 0;
  const data = isBare
    ? structuredContent === undefined
      ? ""
      : JSON.stringify(structuredContent)
    : texts.join("\n");
  const text =
    data === "" ? "[The result is empty.]" : fromOutside(secrets.hide(data), `MCP server ${server}`);
  const imageBlocks = images
    .slice(0, MAX_IMAGES)
    .map((url) => ({ type: "image_url" as const, image_url: { url } }));
  return new ToolMessage({
    content:
      imageBlocks.length === 0
        ? text
        : [...(data === "" ? [] : [{ type: "text" as const, text }]), ...imageBlocks],
    status: isError ? "error" : "success",
    name,
    tool_call_id: id,
  });
}

function partsOf(block: ContentBlock): Part[] {
  switch (block.type) {
    case "text":
      return block.text === "" ? [] : [{ text: block.text }];
    case "image":
      return [image(block.data, block.mimeType)];
    case "audio":
      return [{ text: `[${sized(block.mimeType, block.data)} is not shown.]` }];
    case "resource_link": {
      const { name, uri, description } = block;
      return [{ text: `${name}: ${uri}${description === undefined ? "" : ` (${description})`}` }];
    }
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return [{ text: `${resource.uri}:\n${resource.text}` }];
      const { uri, blob, mimeType = "application/octet-stream" } = resource;
      return [{ text: `${uri}:` }, image(blob, mimeType)];
    }
    default:
      return [{ text: `[A part of the kind ${String((block as { type?: unknown }).type)} is not shown.]` }];
  }
}

function image(data: string, type: string): Part {
  if (IMAGE_TYPES.includes(type) && data.length <= MAX_IMAGE_CHARS)
    return { url: `data:${type};base64,${data}` };
  return { text: `[${sized(type, data)} is not shown.]` };
}

const sized = (type: string, data: string): string => `${type} of ${Math.ceil((data.length * 3) / 4000)} kB`;
