import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** The text of a file, or a note why it was left out; never an exception. */
export type TextRead = { text: string; isCut: boolean } | { note: string };

/** Reads at most so many bytes of a text file; of a longer one its beginning. */
export async function readText(path: string, limit: number): Promise<TextRead> {
  try {
    // Without waiting for a writer, as with a pipe that somebody has put there.
    const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const found = await handle.stat();
      if (!found.isFile()) return { note: "is no file" };
      const bytes = Buffer.alloc(Math.min(limit, found.size));
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
      const isCut = found.size > limit;
      const decoder = new TextDecoder("utf-8", { fatal: true });
      // In a stream a character may go on behind the end.
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
