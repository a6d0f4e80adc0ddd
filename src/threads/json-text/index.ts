/**
 * Characters that steer a terminal, or that nobody sees: controls, separators of lines, marks of direction, and what
 * has no width. Line feeds and tabs are none of them; nor are joiners where a script or an emoji is written with them.
 */
export const UNSEEN = new RegExp(
  [
    // Asked first: nearly every character is done with here.
    String.raw`(?=[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb])`,
    String.raw`(?![\n\t])`,
    String.raw`(?!(?<=[\p{Extended_Pictographic}\p{EMod}\ufe0f])\u200d\p{Extended_Pictographic})`,
    String.raw`(?!(?<=(?![\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}])[\p{L}\p{M}])[\u200c\u200d][\p{L}\p{M}])`,
    String.raw`(?!(?<=\p{Emoji})[\ufe0e\ufe0f])`,
    String.raw`[^]`,
  ].join(""),
  "gu",
);

/** JSON in which everything unseen is an escape: the same value, harmless and in plain sight. */
export function jsonText(value: unknown, indent?: number): string {
  return inPlainSight(JSON.stringify(value ?? null, undefined, indent));
}

/** A text in which everything unseen is an escape. */
export function inPlainSight(text: string): string {
  return text.replaceAll(UNSEEN, (character) =>
    character.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}
