import { lstat, realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import { isInside } from "../files/paths/index.ts";
import { MAX_INSTRUCTIONS, readText } from "../middleware/instructions/index.ts";
import { quotedText } from "../middleware/text/index.ts";

/** In each folder the first of these counts. */
const NAMES = ["AGENTS.md", "CLAUDE.md"];

const SIZE_LIMIT = `instructions may have ${MAX_INSTRUCTIONS} bytes together`;

/** A folder that may have instructions. */
export interface InstructionFolder {
  path: string;
  /** The folder that nothing in it may lead out of; the user's own may lead anywhere. */
  within?: string;
  /** The folder that shown paths are relative to. */
  shownFrom: string;
  /** Put in front of them. */
  shownAs?: string;
}

export interface FoundInstructions {
  path: string;
  /** A note, possibly the reason why it was left out. */
  note?: string;
  isUsed: boolean;
}

/**
 * Reads the instructions of folders as one text in their order. When there is too much, those of the last folders are
 * kept: they are nearest to the work.
 */
export async function readInstructions(
  folders: readonly InstructionFolder[],
): Promise<{ text: string; files: FoundInstructions[] }> {
  const parts: string[] = [];
  const files: FoundInstructions[] = [];
  let left = MAX_INSTRUCTIONS;
  for (const folder of folders.toReversed()) {
    const found: FoundInstructions[] = [];
    for (const name of NAMES) {
      const path = join(folder.path, name);
      if (!(await lstat(path).catch(() => undefined))) continue;
      const read = await readWithin(path, folder.within, left);
      if ("note" in read) {
        found.push({ path, note: read.note, isUsed: false });
        continue;
      }
      const shown = join(folder.shownAs ?? "", relative(folder.shownFrom, path));
      const fitted = fit(read.text, left, (text) => quotedText("instructions", shown, text));
      const isEmpty = !read.isCut && read.text.trim() === "";
      const isUsed = isEmpty || fitted.text !== "";
      if (!isEmpty && isUsed) {
        parts.unshift(fitted.text);
        left -= Buffer.byteLength(fitted.text) + 1;
      }
      const isCut = read.isCut || fitted.isCut;
      const note = isEmpty
        ? "is empty"
        : isCut
          ? `${isUsed ? "was cut" : "was left out"}: ${SIZE_LIMIT}`
          : undefined;
      found.push({ path, isUsed, ...(note !== undefined && { note }) });
      break;
    }
    files.unshift(...found);
  }
  return { text: parts.join("\n"), files };
}

async function readWithin(path: string, within: string | undefined, limit: number) {
  if (within !== undefined) {
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined) return { note: "cannot be read" };
    return isInside(real, within) ? readText(real, limit) : { note: `leads out of ${within}` };
  }
  return readText(path, limit);
}

/** The beginning of a text that is within a limit of bytes when it is dressed. */
function fit(text: string, limit: number, dress: (text: string) => string): { text: string; isCut: boolean } {
  let kept = text;
  for (;;) {
    const dressed = dress(kept);
    const over = Buffer.byteLength(dressed) - limit;
    if (over <= 0) return { text: dressed, isCut: kept !== text };
    if (kept === "") return { text: "", isCut: true };
    const bytes = Math.max(0, Buffer.byteLength(kept) - over);
    kept = new TextDecoder().decode(Buffer.from(kept).subarray(0, bytes), { stream: true });
  }
}
