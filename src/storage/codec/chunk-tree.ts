import { isWhole } from "./chunks.ts";

/** Stores texts as one blob and returns its number. */
export type PutTexts = (kind: "tree" | "list", texts: readonly string[]) => number;

/** A chunk that is complete: whatever is appended to its list, it stays as it is. */
export interface Chunk {
  readonly texts: readonly string[];
  readonly before: Chunk | undefined;
  /** How many there are up to this one. */
  readonly count: number;
  /** The number of its blob, once it is stored. */
  id?: number;
  /** The numbers of the chunks up to this one, cut into chunks in turn. */
  above?: Cut;
}

/** Texts that are cut into chunks as they come; the last one is still open. */
export interface Cut {
  readonly last: Chunk | undefined;
  readonly open: readonly string[];
}

const NOTHING: Cut = { last: undefined, open: [] };

export function chunkOf(before: Chunk | undefined, texts: readonly string[]): Chunk {
  return { texts, before, count: (before?.count ?? 0) + 1 };
}

/**
 * Stores what is not stored yet of a list, and the numbers of its chunks level by level until one is left. What is
 * complete remembers its number and the levels above: after an append only the open end of each level is new.
 */
export function rootOf(cut: Cut, kind: "tree" | "list", put: PutTexts): number {
  const { last, open } = cut;
  const end = open.length > 0 ? put(kind, open) : undefined;
  const count = countOf(cut);
  if (count === 1) return end ?? idOf(last!, kind, put);
  const complete = last ? aboveOf(last, kind, put) : NOTHING;
  const above = end === undefined ? complete : append(complete, String(end));
  if (countOf(above) < count) return rootOf(above, "list", put);
  // Every number ends a chunk: one node takes them all.
  const ids = end === undefined ? [] : [String(end)];
  for (let chunk = last; chunk; chunk = chunk.before) ids.unshift(String(chunk.id));
  return put("list", ids);
}

function countOf({ last, open }: Cut): number {
  return (last?.count ?? 0) + (open.length > 0 ? 1 : 0);
}

function idOf(chunk: Chunk, kind: "tree" | "list", put: PutTexts): number {
  return (chunk.id ??= put(kind, chunk.texts));
}

function aboveOf(chunk: Chunk, kind: "tree" | "list", put: PutTexts): Cut {
  const missing: Chunk[] = [];
  for (let at: Chunk | undefined = chunk; at && !at.above; at = at.before) missing.push(at);
  for (const each of missing.toReversed()) {
    each.above = append(each.before?.above ?? NOTHING, String(idOf(each, kind, put)));
  }
  return chunk.above!;
}

function append({ last, open }: Cut, text: string): Cut {
  const texts = [...open, text];
  return isWhole(texts) ? { last: chunkOf(last, texts), open: [] } : { last, open: texts };
}
