import { randomUUID } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { rename, unlink } from "node:fs/promises";
import { nameOf } from "../paths/paths.ts";
import type { Anchor } from "./anchor.ts";
import { whenUnused } from "./descriptors.ts";

const { O_CREAT, O_EXCL, O_WRONLY } = constants;

/** The new content and metadata of a file. */
interface Replacement {
  path: string;
  content: string | Uint8Array;
  /** The file that is there, whose mode is kept. */
  old: Stats | undefined;
  /** Asked just before the new file takes the old one's place; if false, it does not. */
  unchanged: () => Promise<boolean>;
}

/**
 * Writes a new file beside the old one and renames it: whoever looks sees one or the other, never half. A rename
 * replaces a link that has come in the way, and does not follow it.
 */
export async function replaceFile(
  folder: Anchor,
  { path, content, old, unchanged }: Replacement,
): Promise<boolean> {
  const temporary = `.holdfast-${randomUUID()}.tmp`;
  try {
    const file = await folder.open(temporary, O_WRONLY | O_CREAT | O_EXCL);
    try {
      await file.writeFile(content);
      if (old) await file.chmod(old.mode & 0o7777);
      await file.sync();
    } finally {
      await file.close();
    }
    if (!(await unchanged())) return false;
    await whenUnused(() => rename(folder.entry(temporary), folder.entry(nameOf(path))));
    return true;
  } finally {
    // Gone already, unless it was not used.
    await unlink(folder.entry(temporary)).catch(() => {});
  }
}

/** Whether a name is that of a file that is being written, or was when the process was killed. */
export function isTemporary(name: string): boolean {
  return /^\.holdfast-[\da-f-]{36}\.tmp$/.test(name);
}
