import { ToolMessage } from "@langchain/core/messages";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { fromOutside } from "../../middleware/text/outside.ts";
import type { Secrets } from "../connection/secrets.ts";

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
