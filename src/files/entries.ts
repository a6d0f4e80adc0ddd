import type { FileEntry } from "./backend.ts";
import { isWithin, pathIn } from "./paths.ts";

/** The direct entries of a folder, from files with their sizes. Folders are where files are below them. */
export function entriesOf(
  folder: string,
  files: Iterable<readonly [path: string, size: number]>,
): FileEntry[] {
  const entries = new Map<string, FileEntry>();
  const prefix = pathIn(folder, "");
  for (const [file, size] of files) {
    if (file === folder || !isWithin(file, folder)) continue;
    const [name = "", ...rest] = file.slice(prefix.length).split("/");
    const isDirectory = rest.length > 0;
    // A seed may hold a file and a folder of one name: both are shown.
    const key = isDirectory ? `${name}/` : name;
    entries.set(key, { name, path: pathIn(folder, name), isDirectory, ...(!isDirectory && { size }) });
  }
  return [...entries.values()];
}
