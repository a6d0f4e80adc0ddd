const STOP_WORDS = new Set(
  `a about according after again all almost also although an and any are as at be because been before being between
  both but by can could did do does done during each either every few for from get gets give given had has have how
  however i if in into is it its itself just made make many me more most much must my neither no nor not of off often
  on once one only onto or other others our out over own per same she should since so some such tell than that the
  their them then there therefore these they this those through to too two under until up upon us very was we were
  what when where whether which while who whom whose why will with within without would you your`.split(
    /\s+/,
  ),
);

/** The words of a text that carry meaning: each by its stem, with the form in which it first occurs. */
export function contentWords(text: string): Map<string, string> {
  const words = new Map<string, string>();
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    const stem = stemOf(word);
    if (word.length > 1 && !STOP_WORDS.has(word) && !words.has(stem)) words.set(stem, word);
  }
  return words;
}

/** How many stems two texts share. */
export function countShared(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): number {
  return [...one.keys()].filter((stem) => other.has(stem)).length;
}

/** The sentences of a prose text, each exactly as it stands there. */
export function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+(?=[\p{Lu}\p{N}“"])/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => /[.!?]$/.test(sentence));
}

/** Cuts endings off so that restore, restored and restoration meet. Crude, and the same for query and text. */
export function stemOf(word: string): string {
  const stem = word.replace(/(?:ations?|ings?|ions?|ed|es|s|e)$/, "");
  return stem.length < 3 || word.endsWith("ss") ? word : stem;
}
