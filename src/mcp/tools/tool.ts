import { ToolMessage } from "@langchain/core/messages";
import type { DynamicStructuredTool } from "@langchain/core/tools";
import { isGraphInterrupt } from "@langchain/langgraph";
import type { Tool, CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { HarnessError } from "../../errors.ts";
import { fromOutside } from "../../middleware/text/index.ts";
import { callId, failure, looseTool, type ToolRuntime, askPerson } from "../../middleware/tools/index.ts";
import { messageOf, type Connection } from "../connection/connection.ts";
import { readForm, toClarification, type FormQuestion } from "../connection/form.ts";
import type { LiveCall, WaitingCalls } from "../connection/live-call.ts";
import type { Secrets } from "../connection/secrets.ts";
import type { ToolDefinition } from "./definition.ts";
import { toolName } from "./tool-names.ts";

export interface ToolPlace {
  connection: Connection;
  secrets: Secrets;
  waiting: WaitingCalls;
}

interface ServerTool extends ToolPlace {
  definition: ToolDefinition;
  /** Called when a call is made: whoever has to agree to it has. */
  onCall: () => Promise<void>;
}

/** A tool of a server as an ordinary tool. Whatever goes wrong with the server is its result. */
export function serverTool(
  tool: Tool,
  { connection, secrets, waiting, definition, onCall }: ServerTool,
): DynamicStructuredTool {
  const { description, schema, hints } = definition;
  const server = connection.name;
  const name = toolName(server, tool.name);
  const made = looseTool({ name, description, schema }, async (args, runtime) => {
    await onCall();
    const id = callId(runtime);
    const thread: unknown = runtime.configurable?.["thread_id"];
    const key = JSON.stringify([thread, id, name]);
    const live =
      waiting.take(key) ?? connection.call(tool.name, withoutNulls(args, tool.inputSchema), thread);
    return conducted(live, {
      runtime,
      keep: () => waiting.keep(key, live),
      answer: (result) => resultMessage(result, { server, name, id, secrets }),
      failed: (error) => failure(name, id, secrets.hide(messageOf(error))),
    });
  });
  // Where those who mind repetitions and consent look for them.
  made.metadata = { server, annotations: hints };
  return made;
}

interface Conduct {
  runtime: ToolRuntime;
  /** Keeps the call for the run that goes on with it. */
  keep: () => void;
  answer: (result: Parameters<typeof resultMessage>[0]) => ToolMessage;
  failed: (error: unknown) => ToolMessage;
}

/** Sees a call to its end, or to the question that stops the run. */
async function conducted(live: LiveCall, { runtime, keep, answer, failed }: Conduct): Promise<ToolMessage> {
  const { signal } = runtime;
  const cancel = (): void => live.cancel(signal?.reason);
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    // LangGraph gives the answers of a run that goes on from the first one again.
    for (const request of live.asked) askPerson(request, "An MCP server");
    for (;;) {
      const next = await live.next();
      if ("result" in next) return answer(next.result);
      live.answer(asked(next.question, live));
    }
  } catch (error) {
    if (isGraphInterrupt(error)) keep();
    if (isGraphInterrupt(error) || signal?.aborted) throw error;
    return failed(error);
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

/** Asks until the answer fits the form. Where nobody can be asked, the server is told so. */
function asked(question: FormQuestion, live: LiveCall): Exclude<ReturnType<typeof readForm>, string> {
  let error: string | undefined;
  for (;;) {
    const request = toClarification(question, error);
    let answer: unknown;
    try {
      answer = askPerson(request, "An MCP server");
    } catch (thrown) {
      if (HarnessError.from(thrown)) return { action: "decline" };
      throw thrown;
    }
    live.asked.push(request);
    const read = readForm(answer, question);
    if (typeof read !== "string") return read;
    error = read;
  }
}

/** Models send null for what they leave out, where a schema does not know of null. */
function withoutNulls(args: unknown, { properties = {} }: Tool["inputSchema"]): Record<string, unknown> {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return {};
  const takesNull = (name: string): boolean => JSON.stringify(properties[name] ?? null).includes("null");
  return Object.fromEntries(
    Object.entries(args).filter(([name, value]) => value !== null || takesNull(name)),
  );
}

/** Larger pictures would fill every checkpoint and request; in base64. */
const LARGEST_IMAGE = 2_000_000;
const MOST_IMAGES = 8;
const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

type Part = { text: string } | { url: string };

/** A server's answer as the result of a call. */
export function resultMessage(
  { content, structuredContent, isError }: CallToolResult,
  { server, name, id, secrets }: { server: string; name: string; id: string; secrets: Secrets },
): ToolMessage {
  const parts = content.flatMap(partsOf);
  const images = parts.flatMap((part) => ("url" in part ? [part.url] : []));
  const texts = parts.flatMap((part) => ("text" in part ? [part.text] : []));
  if (images.length > MOST_IMAGES) texts.push(`[${images.length - MOST_IMAGES} more images are not shown.]`);
  const isBare = texts.length === 0 && images.length === 0;
  const data = isBare
    ? structuredContent === undefined
      ? ""
      : JSON.stringify(structuredContent)
    : texts.join("\n");
  const text =
    data === "" ? "[The result is empty.]" : fromOutside(secrets.hide(data), `MCP server ${server}`);
  const shown = images
    .slice(0, MOST_IMAGES)
    .map((url) => ({ type: "image_url" as const, image_url: { url } }));
  return new ToolMessage({
    content:
      shown.length === 0 ? text : [...(data === "" ? [] : [{ type: "text" as const, text }]), ...shown],
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
  if (IMAGE_TYPES.includes(type) && data.length <= LARGEST_IMAGE)
    return { url: `data:${type};base64,${data}` };
  return { text: `[${sized(type, data)} is not shown.]` };
}

const sized = (type: string, data: string): string => `${type} of ${Math.ceil((data.length * 3) / 4000)} kB`;
