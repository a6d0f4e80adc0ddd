/** The most items in one chunk, for contents in which no boundary falls. */
const MAX_ITEMS = 64;
/** One item in 16 ends a chunk. */
const BOUNDARY_MASK = 15;

/**
 * Cuts a list into chunks at places that depend only on the items there. After an item is appended, removed or
 * inserted anywhere, all chunks but the one around it are what they were, and need not be stored again.
 */
export function toChunks<T extends string>(items: readonly T[]): T[][] {
  const chunks: T[][] = [];
  let chunk: T[] = [];
  for (const item of items) {
    chunk.push(item);
    if (isWhole(chunk)) {
      chunks.push(chunk);
      chunk = [];
    }
  }
  if (chunk.length > 0) chunks.push(chunk);
  return chunks;
}

/** Whether a chunk ends with the last of its items, whatever follows. */
export function isWhole(chunk: readonly string[]): boolean {
  return chunk.length === MAX_ITEMS || (fingerprint(chunk.at(-1)!) & BOUNDARY_MASK) === 0;
}

/** FNV-1a, with its bits mixed once more: the low ones alone follow the last character too closely. */
function fingerprint(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash ^ (hash >>> 15);
}

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
