import type { FileEntry } from "../backend/backend.ts";
import { isWithin, pathIn } from "../paths/paths.ts";

/** The direct entries of a folder, from files with their sizes. Folders are where files are below them. */
export function entriesOf(
  folder: string,
  files: Iterable<readonly [path: string, size: number]>,
): FileEntry[] {
  const entries = new Map<string, FileEntry>();
  const prefix = pathIn(folder, "");
  for (const [file, size] of files) {
    if (file === folder || !isWithin(file, folder)) continue;
    const end = file.indexOf("/", prefix.length);
    const isDirectory = end >= 0;
    const name = file.slice(prefix.length, isDirectory ? end : undefined);
    // A seed may hold a file and a folder of one name: both are shown.
    const key = isDirectory ? `${name}/` : name;
    entries.set(key, { name, path: pathIn(folder, name), isDirectory, ...(!isDirectory && { size }) });
  }
  return [...entries.values()];
}
