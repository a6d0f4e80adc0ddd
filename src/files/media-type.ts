/** How the files begin that models can look at. */
const BEGINNINGS: readonly (readonly [type: MediaType, begins: RegExp])[] = [
  ["image/png", /^\x89PNG\r\n\x1a\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[^]{4}WEBP/],
  ["application/pdf", /^%PDF-/],
];

export type MediaType = "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "application/pdf";

/** What a file is by its first bytes, whatever its name says. */
export function mediaTypeOf(bytes: Uint8Array): MediaType | "application/octet-stream" {
  const start = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  return BEGINNINGS.find(([, begins]) => begins.test(start))?.[0] ?? "application/octet-stream";
}
