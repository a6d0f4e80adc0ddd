export type MediaType = "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "application/pdf";

/** First bytes of the files that models can look at, in Latin-1. */
const BEGINNINGS: readonly (readonly [type: MediaType, begins: (start: string) => boolean])[] = [
  ["image/png", (start) => start.startsWith("\u0089PNG\r\n\u001A\n")],
  ["image/jpeg", (start) => start.startsWith("\u00FF\u00D8\u00FF")],
  ["image/gif", (start) => start.startsWith("GIF87a") || start.startsWith("GIF89a")],
  ["image/webp", (start) => start.startsWith("RIFF") && start.startsWith("WEBP", 8)],
  ["application/pdf", (start) => start.startsWith("%PDF-")],
];

/** A file's type by its first bytes, whatever its name says. */
export function mediaTypeOf(bytes: Uint8Array): MediaType | undefined {
  const start = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  return BEGINNINGS.find(([, begins]) => begins(start))?.[0];
}
