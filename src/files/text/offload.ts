import { wholeCharacters } from "./number-lines.ts";

interface PreviewOptions {
  /** The maximum number of characters to show. */
  limit: number;
  /** The file with the full text; undefined if it could not be saved. */
  path: string | undefined;
  /** The line of the file in which the text begins. Default: the first. */
  line?: number;
}

/** The head and tail of a long text, with a note between them on what is missing and where the full text is. */
export function preview(text: string, { limit, path, line }: PreviewOptions): string {
  if (text.length <= limit) return text;
  const { head, tail } = headAndTail(text, limit);
  const missing = text.length - head.length - tail.length;
  const where =
    path === undefined
      ? "They are too many to be kept."
      : `The full text is in "${path}"${line === undefined ? "" : ` from line ${line} on`}.`;
  const note = `[${missing} of ${text.length} characters left out. ${where}]`;
  return [head, note, tail].filter((part) => part !== "").join("\n");
}

/** Two thirds of `limit` from the start and the rest from the end, cut at line breaks where these are near. */
export function headAndTail(text: string, limit: number): { head: string; tail: string } {
  const front = Math.ceil((limit * 2) / 3);
  const head = text.slice(0, wholeCharacters(text, front));
  const tail = text.slice(wholeCharacters(text, text.length - (limit - front)));
  const headBreak = head.lastIndexOf("\n");
  const tailBreak = tail.indexOf("\n");
  return {
    head: headBreak > head.length * 0.8 ? head.slice(0, headBreak) : head,
    tail: tailBreak !== -1 && tailBreak < tail.length * 0.2 ? tail.slice(tailBreak + 1) : tail,
  };
}
