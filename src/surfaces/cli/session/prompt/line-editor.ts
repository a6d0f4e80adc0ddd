import type { Key } from "./keys.ts";

/** A text that is being edited. Immutable: every key returns a new one. */
export interface Draft {
  readonly text: string;
  /** The cursor in UTF-16 units, always between two grapheme clusters. */
  readonly cursor: number;
  /** The text that was cut last, for Ctrl-Y. */
  readonly cut?: string;
  /** Long pastes, by their placeholders in the text. */
  readonly pastes?: ReadonlyMap<string, string>;
}

export const EMPTY_DRAFT: Draft = { text: "", cursor: 0 };

export function draftOf(text: string): Draft {
  return { text, cursor: text.length };
}

/** The draft after a key; undefined for a key that does not edit. */
export function edited(draft: Draft, key: Key): Draft | undefined {
  if (key.type === "text") return inserted(draft, key.text);
  if (key.type === "paste") return pasted(draft, key.text);
  return EDITS[key.name]?.(draft);
}

/** The text of a draft, with pastes instead of their placeholders. */
export function fullText({ text, pastes = new Map() }: Draft): string {
  return text.replaceAll(PLACEHOLDER, (mark) => pastes.get(mark) ?? mark);
}

const MAX_PASTED_LINES = 8;
const MAX_PASTED_CHARACTERS = 2000;
const PLACEHOLDER = /\[pasted #\d+: [\d,]+ (?:lines|characters)\]/g;

/** Inserts a paste; a placeholder for a long one, which would fill the screen. */
function pasted(draft: Draft, text: string): Draft {
  const lines = text.split("\n").length;
  if (lines <= MAX_PASTED_LINES && text.length <= MAX_PASTED_CHARACTERS) return inserted(draft, text);
  const pastes = new Map(draft.pastes);
  const size =
    lines > MAX_PASTED_LINES
      ? `${lines.toLocaleString("en")} lines`
      : `${text.length.toLocaleString("en")} characters`;
  const mark = `[pasted #${pastes.size + 1}: ${size}]`;
  return { ...inserted(draft, mark), pastes: pastes.set(mark, text) };
}

export function inserted(draft: Draft, text: string): Draft {
  return replaced(draft, { from: draft.cursor, to: draft.cursor, text });
}

/** Replaces a part of the draft, and moves the cursor behind it. */
export function replaced(
  draft: Draft,
  { from, to, text }: { from: number; to: number; text: string },
): Draft {
  const start = draft.text.slice(0, from) + text;
  return { ...draft, text: start + draft.text.slice(to), cursor: start.length };
}

const removed = (draft: Draft, from: number, to: number): Draft => replaced(draft, { from, to, text: "" });

const cutOut = (draft: Draft, from: number, to: number): Draft =>
  from === to ? draft : { ...removed(draft, from, to), cut: draft.text.slice(from, to) };

const moved = (draft: Draft, cursor: number): Draft => ({ ...draft, cursor });

const EDITS: Readonly<Record<string, (draft: Draft) => Draft>> = {
  left: (draft) => moved(draft, before(draft)),
  right: (draft) => moved(draft, after(draft)),
  "ctrl-b": (draft) => moved(draft, before(draft)),
  "ctrl-f": (draft) => moved(draft, after(draft)),
  "alt-left": (draft) => moved(draft, wordBefore(draft)),
  "alt-b": (draft) => moved(draft, wordBefore(draft)),
  "ctrl-left": (draft) => moved(draft, wordBefore(draft)),
  "alt-right": (draft) => moved(draft, wordAfter(draft)),
  "alt-f": (draft) => moved(draft, wordAfter(draft)),
  "ctrl-right": (draft) => moved(draft, wordAfter(draft)),
  home: (draft) => moved(draft, lineStart(draft)),
  "ctrl-a": (draft) => moved(draft, lineStart(draft)),
  end: (draft) => moved(draft, lineEnd(draft)),
  "ctrl-e": (draft) => moved(draft, lineEnd(draft)),
  backspace: (draft) => removed(draft, before(draft), draft.cursor),
  "ctrl-h": (draft) => removed(draft, before(draft), draft.cursor),
  delete: (draft) => removed(draft, draft.cursor, after(draft)),
  "ctrl-w": (draft) => cutOut(draft, wordBefore(draft), draft.cursor),
  "alt-backspace": (draft) => cutOut(draft, wordBefore(draft), draft.cursor),
  "ctrl-backspace": (draft) => cutOut(draft, wordBefore(draft), draft.cursor),
  "alt-d": (draft) => cutOut(draft, draft.cursor, wordAfter(draft)),
  "ctrl-u": (draft) => cutOut(draft, lineStart(draft), draft.cursor),
  "ctrl-k": (draft) => cutOut(draft, draft.cursor, lineEnd(draft)),
  "ctrl-y": (draft) => (draft.cut ? inserted(draft, draft.cut) : draft),
  "ctrl-j": (draft) => inserted(draft, "\n"),
  "alt-enter": (draft) => inserted(draft, "\n"),
  "shift-enter": (draft) => inserted(draft, "\n"),
};

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The position before the character before the cursor. The placeholder of a paste counts as one character. */
function before({ text, cursor, pastes }: Draft): number {
  const front = text.slice(0, cursor);
  const mark = [...(pastes?.keys() ?? [])].find((one) => front.endsWith(one));
  if (mark !== undefined) return cursor - mark.length;
  // Segmenting the whole text would be slow.
  const end = front.slice(-MAX_GRAPHEME);
  return cursor - ([...SEGMENTER.segment(end)].at(-1)?.segment.length ?? 0);
}

function after({ text, cursor }: Draft): number {
  const [next] = SEGMENTER.segment(text.slice(cursor, cursor + MAX_GRAPHEME));
  return cursor + (next?.segment.length ?? 0);
}

/** No grapheme cluster is longer, in UTF-16 units. */
const MAX_GRAPHEME = 64;
const MAX_WORD = 1000;

function wordBefore({ text, cursor }: Draft): number {
  return (
    cursor -
    (/[\p{L}\p{N}_]*[^\p{L}\p{N}_]*$/u.exec(text.slice(Math.max(0, cursor - MAX_WORD), cursor))?.[0].length ??
      0)
  );
}

function wordAfter({ text, cursor }: Draft): number {
  return cursor + (/^[^\p{L}\p{N}_]*[\p{L}\p{N}_]*/u.exec(text.slice(cursor))?.[0].length ?? 0);
}

function lineStart({ text, cursor }: Draft): number {
  return cursor === 0 ? 0 : text.lastIndexOf("\n", cursor - 1) + 1;
}

function lineEnd({ text, cursor }: Draft): number {
  const end = text.indexOf("\n", cursor);
  return end < 0 ? text.length : end;
}

/** Moves the cursor a line up or down, at the same column; undefined if there is no such line. */
export function movedLine(draft: Draft, by: -1 | 1): Draft | undefined {
  const start = lineStart(draft);
  const column = [...SEGMENTER.segment(draft.text.slice(start, draft.cursor))].length;
  const end = lineEnd(draft);
  if (by < 0 ? start === 0 : end === draft.text.length) return undefined;
  const from = by < 0 ? lineStart({ ...draft, cursor: start - 1 }) : end + 1;
  const line = draft.text.slice(from, lineEnd({ ...draft, cursor: from }));
  const characters = [...SEGMENTER.segment(line)].slice(0, column);
  return moved(draft, from + characters.reduce((sum, { segment }) => sum + segment.length, 0));
}
