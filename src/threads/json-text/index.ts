/**
 * Control characters and invisible ones: line separators, direction marks, and characters without width. Line feeds and
 * tabs are allowed; so are joiners in scripts and emojis that need them.
 */
export const UNSEEN = new RegExp(
  [
    // First, as it rules out nearly every character.
    String.raw`(?=[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb])`,
    String.raw`(?![\n\t])`,
    String.raw`(?!(?<=[\p{Extended_Pictographic}\p{EMod}\ufe0f])\u200d\p{Extended_Pictographic})`,
    String.raw`(?!(?<=(?![\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}])[\p{L}\p{M}])[\u200c\u200d][\p{L}\p{M}])`,
    String.raw`(?!(?<=\p{Emoji})[\ufe0e\ufe0f])`,
    String.raw`[^]`,
  ].join(""),
  "gu",
);

/** JSON in which unseen characters are escaped: the same value, fully visible. */
export function jsonText(value: unknown, indent?: number): string {
  return inPlainSight(JSON.stringify(value ?? null, undefined, indent));
}

/** A text in which unseen characters are escaped. */
export function inPlainSight(text: string): string {
  return text.replaceAll(UNSEEN, (character) =>
    character.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}
