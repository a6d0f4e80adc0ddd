import { type Failure, type FileResult, type TextEdit, fail } from "../backend/index.ts";

const MAX_LINES_NAMED = 10;

/**
 * Replaces literal text. LF in an edit also matches CRLF, and the new text gets the file's line endings. `lines`: the
 * line numbers of the new text in the new content, which may have at most `maxLength` characters.
 */
export function replaceText(
  content: string,
  { oldString, newString, replaceAll = false }: TextEdit,
  maxLength = Number.POSITIVE_INFINITY,
): FileResult<{ content: string; lines: number[] }> {
  if (oldString === "") return fail("The text to replace is empty; give the text that is to be changed.");
  if (oldString === newString) return fail("The new text is the same as the old; nothing would change.");
  const view = viewOf(content, oldString);
  const needle = view.exact ? oldString : toLf(oldString);
  const matches = positionsOf(needle, view.text);
  if (matches.length === 0) return notFound(view.text, needle);
  if (matches.length > 1 && !replaceAll) return notUnique(view.text, matches);

  const replacement = view.exact ? newString : toLf(newString).replaceAll("\n", view.ending);
  const length = content.length + matches.length * (replacement.length - needle.length);
  if (length > maxLength) {
    return fail(`It would have ${length} characters; the most for one file is ${maxLength}.`);
  }
  const pieces: string[] = [];
  let end = 0;
  for (const at of matches) {
    pieces.push(content.slice(view.origin(end), view.origin(at)), replacement);
    end = at + needle.length;
  }
  pieces.push(content.slice(view.origin(end)));
  const changed = pieces.join("");
  if (changed === content) return fail("The new text differs only in line endings; nothing would change.");
  const addedLines = countLines(newString) - countLines(needle);
  const lines = lineNumbers(view.text, matches).map((line, index) => line + index * addedLines);
  return { ok: true, content: changed, lines };
}

/** The text to search, with a mapping of its positions to the original content. */
interface View {
  text: string;
  /** True if the edit spells out CRLF, so that its line endings are used unchanged. */
  exact: boolean;
  ending: string;
  /** The original position. Must be called in ascending order. */
  origin(index: number): number;
}

function viewOf(content: string, oldString: string): View {
  const exact = oldString.includes("\r") && content.includes(oldString);
  if (exact || !content.includes("\r\n")) {
    return { text: content, exact, ending: "\n", origin: (index) => index };
  }
  const text = toLf(content);
  const crlfs: number[] = [];
  for (let at = content.indexOf("\r\n"); at !== -1; at = content.indexOf("\r\n", at + 2)) {
    crlfs.push(at - crlfs.length);
  }
  let passed = 0;
  const origin = (index: number): number => {
    while (passed < crlfs.length && crlfs[passed]! < index) passed += 1;
    return index + passed;
  };
  const ending = crlfs.length * 2 > countLines(text) - 1 ? "\r\n" : "\n";
  return { text, exact: false, ending, origin };
}

function positionsOf(needle: string, text: string): number[] {
  const positions: number[] = [];
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) {
    positions.push(at);
  }
  return positions;
}

function notFound(text: string, needle: string): Failure {
  const plain = needle.replaceAll(/^ *\d+\t/gm, "");
  if (plain !== needle && plain !== "" && text.includes(plain)) {
    return fail("The text to replace was not found as given: leave out the line numbers.");
  }
  const line = lineWithoutWhitespace(text, needle);
  if (line === undefined) {
    return fail("The text to replace was not found; copy it exactly as it is in the file.");
  }
  return fail(
    `The text to replace was not found exactly, but text on line ${line} differs from it only in whitespace; copy that with its indentation and line breaks.`,
  );
}

function notUnique(text: string, matches: readonly number[]): Failure {
  const lines = lineNumbers(text, matches);
  const named = lines.slice(0, MAX_LINES_NAMED).join(", ");
  const more = lines.length > MAX_LINES_NAMED ? " and more" : "";
  return fail(
    `The text to replace occurs ${matches.length} times, on lines ${named}${more}; give more of the text around the one you mean, or replace all.`,
  );
}

function lineWithoutWhitespace(text: string, needle: string): number | undefined {
  const bare = needle.replaceAll(/\s+/g, "");
  if (bare === "") return undefined;
  const at = text.replaceAll(/\s+/g, "").indexOf(bare);
  if (at === -1) return undefined;
  let position = 0;
  let line = 1;
  for (const char of text) {
    if (char === "\n") line += 1;
    if (/\s/.test(char)) continue;
    if (position >= at) return line;
    position += char.length;
  }
  return undefined;
}

function lineNumbers(text: string, positions: readonly number[]): number[] {
  let line = 1;
  let from = 0;
  return positions.map((position) => {
    line += countLines(text.slice(from, position)) - 1;
    from = position;
    return line;
  });
}

function countLines(text: string): number {
  return text.split("\n").length;
}

function toLf(text: string): string {
  return text.replaceAll("\r\n", "\n");
}
