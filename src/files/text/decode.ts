import { attempt } from "../../errors.ts";
import { type FileResult, fail } from "../backend/index.ts";

/** Decodes UTF-8. Keeps a byte order mark, so that encoding the text gives the same bytes. */
export function decodeText(bytes: Uint8Array, path: string): FileResult<{ content: string }> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const content = bytes.includes(0) ? undefined : attempt(() => decoder.decode(bytes));
  if (content !== undefined) return { ok: true, content };
  return fail(
    `"${path}" is a binary file (${bytes.length} bytes); only UTF-8 text can be read, searched and edited.`,
    "not-text",
  );
}

export type MediaType = "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "application/pdf";

/** Signatures of the file types that models can view, in Latin-1. */
const BEGINNINGS: readonly (readonly [type: MediaType, begins: (start: string) => boolean])[] = [
  ["image/png", (start) => start.startsWith("\u0089PNG\r\n\u001A\n")],
  ["image/jpeg", (start) => start.startsWith("\u00FF\u00D8\u00FF")],
  ["image/gif", (start) => start.startsWith("GIF87a") || start.startsWith("GIF89a")],
  ["image/webp", (start) => start.startsWith("RIFF") && start.startsWith("WEBP", 8)],
  ["application/pdf", (start) => start.startsWith("%PDF-")],
];

/** A file's media type by its first bytes, not by its name. */
export function mediaTypeOf(bytes: Uint8Array): MediaType | undefined {
  const start = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  return BEGINNINGS.find(([, begins]) => begins(start))?.[0];
}
