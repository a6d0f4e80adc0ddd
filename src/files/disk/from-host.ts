import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { foldersAbove, parentOf } from "../paths.ts";

/**
 * The path below a root that is meant by one that may be an address on the host: "/home/u/project/a.ts" is "/a.ts"
 * where the root is /home/u/project, or a link leads there. What really is inside under such a name is left alone.
 */
export async function pathFromHost(path: string, root: string): Promise<string> {
  const front = root === "/" ? undefined : await rootIn(path, root);
  if (front === undefined || (await isThere(root, path))) return path;
  // A new file beside others that are inside belongs to them.
  if (path !== front && (await isThere(root, parentOf(path)))) return path;
  return path.slice(front.length) || "/";
}

/** The front of a path that is the root's own address, in any spelling. */
async function rootIn(path: string, root: string): Promise<string | undefined> {
  const folders = [path, ...foldersAbove(path)].toReversed();
  for (const folder of folders) {
    const real = await realpath(folder).catch(() => undefined);
    if (real === root) return folder;
    if (real === undefined) return undefined;
  }
  return undefined;
}

async function isThere(root: string, path: string): Promise<boolean> {
  return lstat(join(root, path)).then(
    () => true,
    () => false,
  );
}
