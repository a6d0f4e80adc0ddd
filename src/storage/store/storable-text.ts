/** As much of a text as Postgres can hold: nothing that is zero, and no half of a character. */
export function toText(text: string): string {
  return Buffer.from(text.replaceAll("\0", "")).toString();
}

export function isText(text: string): boolean {
  return toText(text) === text;
}
