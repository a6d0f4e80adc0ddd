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
