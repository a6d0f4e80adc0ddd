import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../errors.ts";
import { ignoresIn } from "../search/index.ts";

/** Names that are never listed. */
const LEFT_OUT = new Set([".git", "node_modules"]);

/** Whether the rules of a folder's `.gitignore` ignore a path below the folder. */
type Rule = (path: string) => boolean;

/**
 * The files of a folder that git does not ignore, at most `limit`. Synchronous, for completions while the user types.
 * Rules of a folder do not take back those of the folders above.
 */
export function listFiles(root: string, limit: number): string[] {
  const files: string[] = [];
  const list = (inside: string, above: readonly Rule[]): void => {
    const text = attempt(() => readFileSync(join(root, inside, ".gitignore"), "utf8"));
    const rule = text === undefined ? undefined : ignoresIn(text);
    const rules = rule ? [...above, (path: string) => rule(path.slice(inside.length))] : above;
    for (const entry of attempt(() => readdirSync(join(root, inside), { withFileTypes: true })) ?? []) {
      if (files.length >= limit) return;
      const isFolder = entry.isDirectory();
      const path = `${inside}${entry.name}${isFolder ? "/" : ""}`;
      if (LEFT_OUT.has(entry.name) || rules.some((ignores) => ignores(path))) continue;
      if (isFolder) list(path, rules);
      else if (entry.isFile()) files.push(path);
    }
  };
  list("", []);
  return files;
}
