import { lstat, realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import { isInside } from "../files/paths/index.ts";
import { MAX_INSTRUCTIONS, readText } from "../middleware/instructions/index.ts";
import { quotedText } from "../middleware/text/index.ts";

/** File names, by priority: in each folder only the first one is read. */
const NAMES = ["AGENTS.md", "CLAUDE.md"];

const SIZE_LIMIT = `instructions may have ${MAX_INSTRUCTIONS} bytes together`;

/** A folder that may contain instructions. */
export interface InstructionFolder {
  path: string;
  /** Links that lead out of this folder are not followed. Default: links are not restricted. */
  within?: string;
  /** The base of displayed paths. */
  shownFrom: string;
  /** A prefix of displayed paths, such as `~`. */
  shownAs?: string;
}

export interface InstructionFile {
  path: string;
  /** A remark, such as the reason why it was left out. */
  note?: string;
  isUsed: boolean;
}

/**
 * Reads the instructions of folders as one text, in order. If they exceed the size limit, the last folders win, as they
 * are the closest to the work.
 */
export async function readInstructions(
  folders: readonly InstructionFolder[],
): Promise<{ text: string; files: InstructionFile[] }> {
  const parts: string[] = [];
  const files: InstructionFile[] = [];
  let left = MAX_INSTRUCTIONS;
  for (const folder of folders.toReversed()) {
    const folderFiles: InstructionFile[] = [];
    for (const name of NAMES) {
      const path = join(folder.path, name);
      if (!(await lstat(path).catch(() => undefined))) continue;
      const read = await readWithin(path, folder.within, left);
      if ("note" in read) {
        folderFiles.push({ path, note: read.note, isUsed: false });
        continue;
      }
      const label = join(folder.shownAs ?? "", relative(folder.shownFrom, path));
      const fitted = fit(read.text, left, (text) => quotedText("instructions", label, text));
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
      folderFiles.push({ path, isUsed, note });
      break;
    }
    files.unshift(...folderFiles);
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

/** Cuts a text so that it has at most `limit` bytes after `wrap`. */
function fit(text: string, limit: number, wrap: (text: string) => string): { text: string; isCut: boolean } {
  let start = text;
  for (;;) {
    const wrapped = wrap(start);
    const excess = Buffer.byteLength(wrapped) - limit;
    if (excess <= 0) return { text: wrapped, isCut: start !== text };
    if (start === "") return { text: "", isCut: true };
    const bytes = Math.max(0, Buffer.byteLength(start) - excess);
    start = new TextDecoder().decode(Buffer.from(start).subarray(0, bytes), { stream: true });
  }
}
