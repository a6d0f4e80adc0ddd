import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** The text of a file, or a note why it cannot be used. */
type TextRead = { text: string; isCut: boolean } | { note: string };

/** Reads at most `limit` bytes from the beginning of a text file. Never throws. */
export async function readText(path: string, limit: number): Promise<TextRead> {
  try {
    // Opening a named pipe must not wait for a writer.
    const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return { note: "is no file" };
      const bytes = Buffer.alloc(Math.min(limit, stats.size));
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
      const isCut = stats.size > limit;
      const decoder = new TextDecoder("utf-8", { fatal: true });
      // With `stream`, a character cut at the end is no error.
      const text = decoder.decode(bytes.subarray(0, bytesRead), { stream: isCut });
      return text.includes("\0") ? { note: "is no text" } : { text, isCut };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { note: error instanceof TypeError ? "is no UTF-8 text" : `cannot be read (${code ?? "error"})` };
  }
}
