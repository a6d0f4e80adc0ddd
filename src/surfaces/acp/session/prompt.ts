import { fileURLToPath } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import { HumanMessage } from "@langchain/core/messages";
import { attempt } from "../../../errors.ts";
import { namedFile, notShown, sentFile } from "./prompt.prompt.ts";

/** A prompt as a message for the model; its content is a string if it has only text. */
export function promptMessage(prompt: readonly ContentBlock[]): HumanMessage {
  const blocks = prompt.map(toBlock);
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const content = texts.length === blocks.length ? texts.join("\n") : blocks;
  // With an id, a repeated step replaces the message instead of adding it again.
  return new HumanMessage({ content, id: crypto.randomUUID() });
}

/** The text that the person typed. */
export function typedText(prompt: readonly ContentBlock[]): string {
  const texts = prompt.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return texts.join("\n").trim();
}

type Block = { type: "text"; text: string } | { type: "image_url"; image_url: { url: string } };

function toBlock(block: ContentBlock): Block {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      // The only image format that all provider packages send correctly.
      return { type: "image_url", image_url: { url: `data:${block.mimeType};base64,${block.data}` } };
    case "audio":
      return { type: "text", text: notShown("A sound", block.mimeType) };
    case "resource_link":
      return { type: "text", text: namedFile(block.title ?? block.name, pathOf(block.uri)) };
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return { type: "text", text: sentFile(resource.uri, resource.text) };
      const type = resource.mimeType ?? "application/octet-stream";
      return type.startsWith("image/")
        ? { type: "image_url", image_url: { url: `data:${type};base64,${resource.blob}` } }
        : { type: "text", text: notShown(`The file ${resource.uri}`, type) };
    }
  }
}

/** The path of a `file:` URI, as the file tools take it; another URI as it is. */
function pathOf(uri: string): string {
  return (uri.startsWith("file:") ? attempt(() => fileURLToPath(uri)) : undefined) ?? uri;
}
