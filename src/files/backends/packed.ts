import type { FileResult } from "../backend/index.ts";
import { decodeText, mediaTypeOf } from "../text/index.ts";

/**
 * Encodes files for storage that takes only text, such as graph state: text unchanged, binary files as data URLs. A
 * text that is itself such a URL becomes the data URL of its bytes, so decoding is unambiguous.
 */

const MARK = /^data:[\w.+-]{1,60}\/[\w.+-]{1,60};base64,/;

export function packText(text: string): string {
  return bytesIn(text) ? packed(Buffer.from(text)) : text;
}

export function packBytes(bytes: Uint8Array): string {
  const text = decodeText(bytes, "");
  return text.ok ? packText(text.content) : packed(bytes);
}

export function unpackText(content: string, path: string): FileResult<{ content: string }> {
  const bytes = bytesIn(content);
  return bytes ? decodeText(bytes, path) : { ok: true, content };
}

export function unpackBytes(content: string): Uint8Array {
  return bytesIn(content) ?? Buffer.from(content);
}

/** The size in characters, for a binary file in bytes. */
export function packedSize(content: string): number {
  return bytesIn(content)?.length ?? content.length;
}

function packed(bytes: Uint8Array): string {
  return `data:${mediaTypeOf(bytes) ?? "application/octet-stream"};base64,${Buffer.from(bytes).toString("base64")}`;
}

function bytesIn(content: string): Uint8Array | undefined {
  const mark = MARK.exec(content)?.[0];
  if (mark === undefined) return undefined;
  const encoded = content.slice(mark.length);
  const bytes = Buffer.from(encoded, "base64");
  return bytes.toString("base64") === encoded ? bytes : undefined;
}
