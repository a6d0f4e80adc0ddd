/** The limit of items in a chunk, for contents without a boundary. */
const MAX_ITEMS = 64;
/** One item in 16 ends a chunk. */
const BOUNDARY_MASK = 15;

/**
 * Cuts a list into content-defined chunks: a boundary depends only on the item before it. After an item is appended,
 * removed or inserted anywhere, all chunks but the one around it are the same, and need not be stored again.
 */
export function toChunks<T extends string>(items: readonly T[]): T[][] {
  const chunks: T[][] = [];
  let chunk: T[] = [];
  for (const item of items) {
    chunk.push(item);
    if (isCompleteChunk(chunk)) {
      chunks.push(chunk);
      chunk = [];
    }
  }
  if (chunk.length > 0) chunks.push(chunk);
  return chunks;
}

/** Whether a chunk ends with the last of its items, whatever follows. */
export function isCompleteChunk(chunk: readonly string[]): boolean {
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

/** A complete chunk: it stays the same whatever is appended to its list. */
export interface Chunk {
  readonly texts: readonly string[];
  readonly before: Chunk | undefined;
  /** The number of chunks up to this one. */
  readonly count: number;
  id?: number;
  /** The numbers of the chunks up to this one, cut into chunks in turn. */
  parents?: ChunkSequence;
}

/** A list of texts in chunks: the last complete one, and the texts after it. */
export interface ChunkSequence {
  readonly last: Chunk | undefined;
  readonly open: readonly string[];
}

const EMPTY: ChunkSequence = { last: undefined, open: [] };

export function appendChunk(before: Chunk | undefined, texts: readonly string[]): Chunk {
  return { texts, before, count: (before?.count ?? 0) + 1 };
}

/**
 * Stores the new chunks of a list, and the numbers of chunks level by level, and returns the number of the root. A
 * complete chunk remembers its number and the levels above it: after an append only the open end of each level is new.
 */
export function storeTree(sequence: ChunkSequence, kind: "tree" | "list", put: PutTexts): number {
  const { last, open } = sequence;
  const end = open.length > 0 ? put(kind, open) : undefined;
  const count = countOf(sequence);
  if (count === 1) return end ?? idOf(last!, kind, put);
  const complete = last ? parentsOf(last, kind, put) : EMPTY;
  const parents = end === undefined ? complete : append(complete, String(end));
  if (countOf(parents) < count) return storeTree(parents, "list", put);
  // Every number ends a chunk: one node takes them all.
  const ids = end === undefined ? [] : [String(end)];
  for (let chunk = last; chunk; chunk = chunk.before) ids.unshift(String(chunk.id));
  return put("list", ids);
}

function countOf({ last, open }: ChunkSequence): number {
  return (last?.count ?? 0) + (open.length > 0 ? 1 : 0);
}

function idOf(chunk: Chunk, kind: "tree" | "list", put: PutTexts): number {
  return (chunk.id ??= put(kind, chunk.texts));
}

function parentsOf(chunk: Chunk, kind: "tree" | "list", put: PutTexts): ChunkSequence {
  const missing: Chunk[] = [];
  for (let at: Chunk | undefined = chunk; at && !at.parents; at = at.before) missing.push(at);
  for (const each of missing.toReversed()) {
    each.parents = append(each.before?.parents ?? EMPTY, String(idOf(each, kind, put)));
  }
  return chunk.parents!;
}

function append({ last, open }: ChunkSequence, text: string): ChunkSequence {
  const texts = [...open, text];
  return isCompleteChunk(texts) ? { last: appendChunk(last, texts), open: [] } : { last, open: texts };
}
