/** Bytes per text, and the least and the most for all texts together. */
const EACH = 150;
const LEAST = 1024;
const MOST = 8000;

/**
 * Cuts texts to share a limited number of bytes: short ones stay whole and leave their unused part to the others. Bytes
 * are a better measure of tokens than characters, in every script.
 */
export function shareOut(texts: readonly string[]): string[] {
  let room = Math.min(MOST, Math.max(LEAST, EACH * texts.length));
  let share = 0;
  const sizes = texts.map((text) => Buffer.byteLength(text));
  for (const [at, size] of sizes.toSorted((a, b) => a - b).entries()) {
    share = Math.floor(room / (texts.length - at));
    if (size > share) break;
    room -= size;
  }
  return texts.map((text, index) => (sizes[index]! > share ? cut(text, share) : text));
}

/** The beginning of a text, up to the end of a word. */
function cut(text: string, bytes: number): string {
  const start = Buffer.from(text)
    .subarray(0, Math.max(0, bytes - 3))
    .toString("utf8")
    .replace(/\uFFFD+$/, "");
  return `${start.replace(/\s+\S*$/, "").trimEnd()}…`;
}
