import type { Hit } from "../documents.ts";
import { contentWords, countShared, sentencesOf } from "../words.ts";

/** A sentence, exactly as a source has it. */
export interface Finding {
  quote: string;
  title: string;
  source: string;
}

/** What to look for. */
export interface Topic {
  /** The part of the question at hand. Its words count twice. */
  part: string;
  question: string;
  /** Sentences that answer, those among them with numbers, or any that mention a word of the part. */
  want: "answers" | "figures" | "mentions";
}

const MOST = 6;
const MOST_PER_SOURCE = 2;

/** The sentences among the search results that fit the topic, best first. */
export function pickFindings(hits: readonly Hit[], { part, question, want }: Topic): Finding[] {
  const [own, all] = [contentWords(part), contentWords(`${part} ${question}`)];
  const sentences = sentencesIn(hits);
  if (want === "mentions") {
    return [...own.keys()].flatMap((stem) => sentences.filter(({ words }) => words.has(stem)).slice(0, 2));
  }
  const weightOf = (stem: string): number =>
    1 + Math.log10(sentences.length / sentences.filter(({ words }) => words.has(stem)).length);
  const ranked = sentences
    .filter(({ quote, words }) => {
      const count = countShared(own, words);
      const fits = count >= Math.min(2, own.size) || (count > 0 && countShared(all, words) > 1);
      return fits && !LEANING.test(quote) && (want !== "figures" || /\d/.test(quote));
    })
    .map((sentence) => {
      const shared = [...all.keys()].filter((stem) => sentence.words.has(stem));
      const score = shared.reduce((sum, stem) => sum + weightOf(stem) * (own.has(stem) ? 2 : 1), 0);
      return { ...sentence, score };
    })
    .toSorted((a, b) => b.score - a.score);
  return ranked
    .filter(({ source }, at) => {
      const before = ranked.slice(0, at).filter((other) => other.source === source);
      return before.length < MOST_PER_SOURCE;
    })
    .slice(0, MOST);
}

function sentencesIn(hits: readonly Hit[]): (Finding & { words: ReadonlyMap<string, string> })[] {
  const sentences = hits.flatMap(({ title, source, snippet }) =>
    sentencesOf(snippet).map((quote) => ({ quote, title, source, words: contentWords(quote) })),
  );
  return [...new Map(sentences.map((sentence) => [sentence.quote, sentence])).values()];
}

/** Says little without the sentence before it. */
const LEANING =
  /^(?:[\w-]+ ){0,3}(?:its?|they|them|their|this|these|those|there|same|others?)\b|\bhowever\b/i;

/** Findings as text, in the form that the researcher's prompt asks for. */
export function renderFindings(findings: readonly Finding[]): string {
  return findings.map((finding) => `- ${renderFinding(finding)}`).join("\n") || "Nothing was found.";
}

export function renderFinding({ quote, title, source }: Finding): string {
  return `“${quote}” [${title.replaceAll(/[[\]]/g, "")}](${encodeParentheses(source)})`;
}

export function readFindings(text: string): Finding[] {
  return [...text.matchAll(/“(.+?)” \[(.+?)\]\((\S+?)\)/g)].map(([, quote, title, source]) => ({
    quote: quote!,
    title: title!,
    source: source!,
  }));
}

function encodeParentheses(source: string): string {
  return source.replaceAll("(", "%28").replaceAll(")", "%29");
}
