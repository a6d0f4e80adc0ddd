import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, sep } from "node:path";
import { mention } from "../../../../threads/run/index.ts";
import { replaced, type Draft } from "./line-editor.ts";

/** A completion at the cursor. */
export interface Suggestion {
  text: string;
  about?: string;
}

export interface Suggestions {
  /** The part of the draft that a suggestion takes the place of. */
  from: number;
  list: readonly Suggestion[];
}

const MOST = 8;
const MOST_FILES = 20_000;

/** Completions at the cursor: a command at the beginning, or a file after `@`. */
export function suggestionsFor(
  { text, cursor }: Draft,
  { commands, files }: { commands: readonly Suggestion[]; files: () => readonly string[] },
): Suggestions | undefined {
  const front = text.slice(0, cursor);
  const command = /^\/[\w-]*$/.exec(front)?.[0];
  if (command !== undefined) {
    // What is typed in full is meant, whatever else begins so.
    const list = commands
      .filter((one) => one.text.startsWith(command))
      .toSorted((a, b) => Number(b.text === command) - Number(a.text === command));
    return list.length > 0 ? { from: 0, list: list.slice(0, MOST) } : undefined;
  }
  const file = /(?:^|\s)@([^\s@]*)$/.exec(front)?.[1];
  if (file === undefined) return undefined;
  const list = bestMatches(file, files()).map((path) => ({ text: mention(path) }));
  return list.length > 0 ? { from: cursor - file.length - 1, list } : undefined;
}

/** The draft with a suggestion in it. */
export function accepted(draft: Draft, from: number, { text }: Suggestion): Draft {
  const space = draft.text[draft.cursor] === " " ? "" : " ";
  return replaced(draft, { from, to: draft.cursor, text: text + space });
}

/** Paths whose name begins so, then those that have it anywhere. */
function bestMatches(typed: string, paths: readonly string[]): string[] {
  const wanted = typed.toLowerCase();
  const ranked = paths.flatMap((path) => {
    const low = path.toLowerCase();
    const name = low.slice(low.lastIndexOf("/") + 1);
    const rank = low.startsWith(wanted) ? 0 : name.startsWith(wanted) ? 1 : low.includes(wanted) ? 2 : 3;
    return rank < 3 ? [{ path, rank }] : [];
  });
  return ranked
    .toSorted((a, b) => a.rank - b.rank || a.path.length - b.path.length)
    .slice(0, MOST)
    .map(({ path }) => path);
}

/** The files of a directory: those that git knows or would, or all but those of hidden folders and `node_modules`. */
export function listFiles(dir: string): string[] {
  try {
    const options = { cwd: dir, encoding: "utf8", maxBuffer: 50_000_000, stdio: "pipe" } as const;
    // A repository may name a program to watch its files with: not for us.
    const safe = ["-c", "core.fsmonitor=false"];
    const listed = execFileSync("git", [...safe, "ls-files", "-co", "--exclude-standard", "-z"], options);
    return listed.split("\0").filter(Boolean).slice(0, MOST_FILES);
  } catch {
    return walked(dir, "", []);
  }
}

function walked(dir: string, inside: string, found: string[]): string[] {
  try {
    for (const entry of readdirSync(join(dir, inside), { withFileTypes: true })) {
      if (found.length >= MOST_FILES || entry.name.startsWith(".") || entry.name === "node_modules") continue;
      const path = join(inside, entry.name);
      if (entry.isDirectory()) walked(dir, path, found);
      else if (entry.isFile()) found.push(path.split(sep).join("/"));
    }
  } catch {
    // A folder that may not be read.
  }
  return found;
}
