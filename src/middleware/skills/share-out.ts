/** Bytes of description for each skill, where there are many, and for all of them together. */
const EACH = 150;
const LEAST = 1024;
const MOST = 8000;

/**
 * Texts cut to share a limited room: short ones stay whole and leave what they do not need to the others. In bytes:
 * these tell of tokens in every script.
 */
export function shareOut(texts: readonly string[]): string[] {
  let room = Math.min(MOST, Math.max(LEAST, EACH * texts.length));
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const shares = new Map<number, number>();
  const shortestFirst = [...sizes.keys()].toSorted((a, b) => sizes[a]! - sizes[b]!);
  for (const [at, index] of shortestFirst.entries()) {
    const share = Math.min(sizes[index]!, Math.floor(room / (texts.length - at)));
    shares.set(index, share);
    room -= share;
  }
  return texts.map((text, index) =>
    shares.get(index) === sizes[index] ? text : cut(text, shares.get(index)!),
  );
}

/** The beginning of a text, up to the end of a word. */
function cut(text: string, bytes: number): string {
  const kept = Buffer.from(text)
    .subarray(0, Math.max(0, bytes - 3))
    .toString("utf8")
    .replace(/\uFFFD+$/, "");
  return `${kept.replace(/\s+\S*$/, "").trimEnd()}…`;
}
