/** A text without what Postgres cannot hold: zero characters and lone surrogates. */
export function toText(text: string): string {
  return Buffer.from(text.replaceAll("\0", "")).toString();
}

export function isText(text: string): boolean {
  return toText(text) === text;
}
