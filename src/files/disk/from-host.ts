import { lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../errors.ts";
import { foldersAbove, parentOf, parsePath } from "../paths/index.ts";

/**
 * The path below a folder that file tools take the words of a model for: what is shown, ruled and kept of a call is
 * about the file that it changes. Undefined for what they refuse.
 */
export function pathMeant(raw: string, folder: string): string | undefined {
  const parsed = parsePath(raw);
  if (!parsed.ok) return undefined;
  const root = realPathOf(folder);
  return raw.startsWith("/") && root !== undefined ? pathFromHost(parsed.path, root) : parsed.path;
}

/**
 * The path below a root that is meant by one that may be an address on the host: "/home/u/project/a.ts" is "/a.ts"
 * where the root is /home/u/project, or a link leads there. What really is inside under such a name is left alone.
 * Synchronous: who keeps a copy of the file has to know it before the call goes on.
 */
export function pathFromHost(path: string, root: string): string {
  const front = root === "/" ? undefined : rootIn(path, root);
  if (front === undefined || isThere(root, path)) return path;
  // A new file beside others that are inside belongs to them.
  if (path !== front && isThere(root, parentOf(path))) return path;
  return path.slice(front.length) || "/";
}

/** The front of a path that is the root's own address, in any spelling. */
function rootIn(path: string, root: string): string | undefined {
  const folders = [path, ...foldersAbove(path)].toReversed();
  for (const folder of folders) {
    const real = realPathOf(folder);
    if (real === root) return folder;
    if (real === undefined) return undefined;
  }
  return undefined;
}

function realPathOf(path: string): string | undefined {
  return attempt(() => realpathSync.native(path));
}

function isThere(root: string, path: string): boolean {
  return attempt(() => lstatSync(join(root, path))) !== undefined;
}
