import { attempt } from "../../errors.ts";
import type { FileResult } from "../backend/backend.ts";
import { fail } from "../backend/failures.ts";

/** The text in some bytes, byte order mark included: written back, it gives the same bytes. */
export function decodeText(bytes: Uint8Array, path: string): FileResult<{ content: string }> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const content = bytes.includes(0) ? undefined : attempt(() => decoder.decode(bytes));
  if (content !== undefined) return { ok: true, content };
  return fail(
    `"${path}" is a binary file (${bytes.length} bytes); only UTF-8 text can be read, searched and edited.`,
    "not-text",
  );
}
