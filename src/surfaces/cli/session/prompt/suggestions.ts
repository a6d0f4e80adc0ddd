import { mention } from "../../../../threads/run/index.ts";
import { replaced, type Draft } from "./line-editor.ts";

/** A completion at the cursor. */
export interface Suggestion {
  text: string;
  about?: string;
}

export interface Suggestions {
  /** The start of the part of the draft that a suggestion replaces; it ends at the cursor. */
  from: number;
  list: readonly Suggestion[];
}

const MAX_SUGGESTIONS = 8;

/** Completions at the cursor: a command at the beginning, or a file after `@`. */
export function suggestionsFor(
  { text, cursor }: Draft,
  { commands, files }: { commands: readonly Suggestion[]; files: () => readonly string[] },
): Suggestions | undefined {
  const front = text.slice(0, cursor);
  const command = /^\/[\w-]*$/.exec(front)?.[0];
  if (command !== undefined) {
    // A command that is typed in full comes first.
    const list = commands
      .filter((one) => one.text.startsWith(command))
      .toSorted((a, b) => Number(b.text === command) - Number(a.text === command));
    return list.length > 0 ? { from: 0, list: list.slice(0, MAX_SUGGESTIONS) } : undefined;
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

/** Paths that begin with the typed text, then file names that do, then paths that contain it. */
function bestMatches(typed: string, paths: readonly string[]): string[] {
  const query = typed.toLowerCase();
  const ranked = paths.flatMap((path) => {
    const low = path.toLowerCase();
    const name = low.slice(low.lastIndexOf("/") + 1);
    const rank = low.startsWith(query) ? 0 : name.startsWith(query) ? 1 : low.includes(query) ? 2 : 3;
    return rank < 3 ? [{ path, rank }] : [];
  });
  return ranked
    .toSorted((a, b) => a.rank - b.rank || a.path.length - b.path.length)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ path }) => path);
}
