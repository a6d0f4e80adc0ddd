import { diffLines } from "diff";
import { pathMeant } from "../../files/disk/index.ts";
import { diskBackend, type TextEdit } from "../../files/index.ts";
import { inOrder } from "../../files/paths/index.ts";
import { textEdits } from "../../middleware/files/index.ts";
import type { FileCall } from "./file-calls.ts";

/** The change of a file during a whole thread. */
export interface NetChange {
  path: string;
  /** Null if there was no file, or if that is not known. */
  before: string | null;
  /** Null if there is no file now. */
  after: string | null;
  isKnown: boolean;
  /** Why the current file may not be read, such as a link. */
  denied?: string;
}

/** The changes of files in a thread's state. */
export function changesOfFiles(before: Record<string, string>, after: Record<string, string>): NetChange[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  return paths.map((path) => ({
    path,
    before: before[path] ?? null,
    after: after[path] ?? null,
    isKnown: true,
  }));
}

/**
 * The files of a directory that a thread's file tools have changed. `before` is found by reverting the changes one by one.
 * Changes by commands are not known.
 */
export async function changesOnDisk(calls: readonly FileCall[], dir: string): Promise<NetChange[]> {
  const byPath = new Map<string, FileCall[]>();
  for (const call of calls) {
    const { file_path: raw } = call.args;
    const path = typeof raw === "string" ? pathMeant(raw, dir) : undefined;
    if (path !== undefined) byPath.set(path, [...(byPath.get(path) ?? []), call]);
  }
  const paths = [...byPath.keys()].toSorted(inOrder);
  const disk = diskBackend(dir);
  return Promise.all(
    paths.map(async (path) => {
      const read = await disk.read(path);
      const change = changeBy(path, byPath.get(path)!, read.ok ? read.content : null);
      return !read.ok && read.reason === "denied" ? { ...change, denied: read.error } : change;
    }),
  );
}

export function lineCounts({ before, after }: NetChange): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const part of diffLines(before ?? "", after ?? "")) {
    if (part.added) added += part.count ?? 0;
    if (part.removed) removed += part.count ?? 0;
  }
  return { added, removed };
}

function changeBy(path: string, calls: readonly FileCall[], after: string | null): NetChange {
  const before = isCreated(calls[0]) ? null : calls.toReversed().reduce(withoutCall, after);
  return { path, before: before ?? null, after, isKnown: before !== undefined };
}

function isCreated(call: FileCall | undefined): boolean {
  return call?.name === "write_file" && call.result.startsWith("Created");
}

/** The text before a call; undefined if it cannot be known. */
function withoutCall(text: string | null | undefined, call: FileCall): string | null | undefined {
  if (isCreated(call)) return null;
  if (call.before !== undefined) return call.before;
  if (call.name !== "edit_file" || typeof text !== "string") return undefined;
  return textEdits(call.args).toReversed().reduce<string | undefined>(withoutEdit, text);
}

/** The text before a replacement; undefined if it cannot be known. */
function withoutEdit(
  text: string | undefined,
  { oldString, newString, replaceAll = false }: TextEdit,
): string | undefined {
  if (text === undefined || newString === "") return undefined;
  const parts = text.split(newString);
  // If the new text occurs more than once, it is unknown which occurrence was the replacement.
  return parts.length === 2 || replaceAll ? parts.join(oldString) : undefined;
}
