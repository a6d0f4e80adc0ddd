import { lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../errors.ts";
import { foldersAbove, parentOf, parsePath } from "../paths/index.ts";

/**
 * The path below a folder to which file tools resolve a model's argument, so that rules, displays and copies concern
 * the file that a call changes. Undefined for a path that the tools refuse.
 */
export function pathMeant(raw: string, folder: string): string | undefined {
  const parsed = parsePath(raw);
  if (!parsed.ok) return undefined;
  const root = realPathOf(folder);
  return raw.startsWith("/") && root !== undefined ? pathFromHost(parsed.path, root) : parsed.path;
}

/**
 * Translates a path that may be a host path to a path below a root: "/home/u/project/a.ts" becomes "/a.ts" if the root
 * is /home/u/project, directly or through a link. A path that exists below the root is returned unchanged. Synchronous:
 * callers that copy the file need the path before the call continues.
 */
export function pathFromHost(path: string, root: string): string {
  const prefix = root === "/" ? undefined : rootPrefixOf(path, root);
  if (prefix === undefined || exists(root, path)) return path;
  // A new file in a folder that exists below the root.
  if (path !== prefix && exists(root, parentOf(path))) return path;
  return path.slice(prefix.length) || "/";
}

/** The prefix of a path that is a host path of the root, in any spelling. */
function rootPrefixOf(path: string, root: string): string | undefined {
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

function exists(root: string, path: string): boolean {
  return attempt(() => lstatSync(join(root, path))) !== undefined;
}
