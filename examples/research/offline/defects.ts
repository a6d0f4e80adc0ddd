import { contentWords, countShared, stemOf } from "../words.ts";
import { readFindings, renderFinding, type Finding } from "./findings.ts";

/** Something wrong with a report that can be checked. */
export type Defect =
  | { kind: "no-source"; section: string }
  | { kind: "missing"; word: string }
  | { kind: "disagreement"; one: Finding; other: Finding };

export const NO_SOURCE = "No source was found for this.";

/** Compares a report with the question it answers and the findings it is made of. */
export function findDefects(report: string, question: string, findings: readonly Finding[]): Defect[] {
  const [, ...sections] = report.split(/^## Sources$/m)[0]!.split(/^## /m);
  const lines = sections.flatMap((section) => section.split("\n").slice(1));
  const said = contentWords(lines.join("\n"));
  return [
    ...sections
      .filter((section) => !/\[\d+\]|No (?:source|passage) /.test(section))
      .map((section): Defect => ({ kind: "no-source", section: section.split("\n")[0]! })),
    ...[...contentWords(question)]
      .filter(([stem]) => !said.has(stem))
      .map(([, word]): Defect => ({ kind: "missing", word })),
    ...disagreements(findings)
      .filter(
        ({ one, other }) => !lines.some((line) => line.includes(one.quote) && line.includes(other.quote)),
      )
      .map((pair): Defect => ({ kind: "disagreement", ...pair })),
  ];
}

/** Pairs of sentences from different sources that speak of the same thing and give different numbers for it. */
export function disagreements(findings: readonly Finding[]): { one: Finding; other: Finding }[] {
  const distinct = [...new Map(findings.map((finding) => [finding.quote, finding])).values()];
  return distinct.flatMap((one, at) =>
    distinct
      .slice(at + 1)
      .filter((other) => one.source !== other.source && contradicts(one.quote, other.quote))
      .map((other) => ({ one, other })),
  );
}

function contradicts(one: string, other: string): boolean {
  const [figures, others] = [figuresOf(one), figuresOf(other)];
  const differ = [...figures].some(([unit, values]) => {
    const against = others.get(unit);
    return against !== undefined && values.every((value) => !against.includes(value));
  });
  const [a, b] = [contentWords(one.replaceAll(/\d/g, "")), contentWords(other.replaceAll(/\d/g, ""))];
  const shared = countShared(a, b);
  return differ && shared >= 6 && shared / Math.min(a.size, b.size) >= 0.5;
}

/** The numbers in a sentence by what they count: `percent` → 40, 60. Years count nothing. */
function figuresOf(sentence: string): Map<string, string[]> {
  const figures = new Map<string, string[]>();
  const numbers = /(\d[\d,]*(?:\.\d+)?)(?: (?:to|and) (\d[\d,]*(?:\.\d+)?))? ([a-z]+)/g;
  for (const [, from = "", to, word = ""] of sentence.matchAll(numbers)) {
    const unit = stemOf(word);
    if (/^(?:1[5-9]|20)\d\d$/.test(from) || contentWords(word).size === 0) continue;
    figures.set(unit, [...(figures.get(unit) ?? []), from, ...(to ? [to] : [])]);
  }
  return figures;
}

/** Defects as points of a critique. */
export function renderDefects(defects: readonly Defect[]): string {
  return defects.map((defect) => `- ${renderDefect(defect)}`).join("\n") || "No points.";
}

function renderDefect(defect: Defect): string {
  switch (defect.kind) {
    case "no-source":
      return `No source: the section “${defect.section}” cites nothing.`;
    case "missing":
      return `Missing: the question asks about “${defect.word}”, and the report does not mention it.`;
    case "disagreement":
      return `Contradiction not shown: ${renderFinding(defect.one)} and ${renderFinding(defect.other)}`;
  }
}

export function readDefects(text: string): Defect[] {
  return text.split("\n").flatMap((line): Defect[] => {
    const quoted = /“(.+)”/.exec(line)?.[1] ?? "";
    if (line.startsWith("- No source: ")) return [{ kind: "no-source", section: quoted }];
    if (line.startsWith("- Missing: ")) return [{ kind: "missing", word: quoted }];
    const [one, other] = line.startsWith("- Contradiction") ? readFindings(line) : [];
    return one && other ? [{ kind: "disagreement", one, other }] : [];
  });
}
