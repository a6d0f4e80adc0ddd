import { contentWords } from "../words.ts";
import { NO_SOURCE, type Defect } from "./defects.ts";
import type { Finding } from "./findings.ts";

/** What a section of the report is made of. */
export interface Section {
  title: string;
  findings: readonly Finding[];
  /** Why there are no findings, when the search failed. */
  failure?: string;
}

/** Arguments for `edit_file`. */
export interface Edit {
  old_string: string;
  new_string: string;
}

const FOREWORD =
  "Compiled by the offline model of this example from exact quotations. No language model took part.";

/** The first version: every finding once, in the section that asked for it. */
export function draftReport(question: string, sections: readonly Section[]): string {
  const used = new Set<string>();
  const sources = new Sources();
  const body = sections.flatMap(({ title, findings, failure }) => {
    const fresh = findings.filter(({ quote }) => !used.has(quote));
    for (const { quote } of fresh) used.add(quote);
    if (fresh.length === 0 && findings.length > 0) return [];
    return [
      render(title, failure ? [`${NO_SOURCE} ${failure}`] : fresh.map((one) => `- ${sources.cite(one)}`)),
    ];
  });
  return [`# ${question}\n`, `${FOREWORD}\n`, ...body, sources.render()].join("\n");
}

/** The edits that deal with every defect of a draft. `further`: what was found about words that were missing. */
export function reviseReport(draft: string, defects: readonly Defect[], further: readonly Finding[]): Edit[] {
  const at = draft.lastIndexOf(`## ${SOURCES}\n`);
  const sources = Sources.read(draft.slice(at));
  const known = contentWords(further.map(({ quote }) => quote).join(" "));
  const isFound = (word: string): boolean => [...contentWords(word).keys()].every((stem) => known.has(stem));
  const missing = defects.flatMap((defect) => (defect.kind === "missing" ? [defect.word] : []));
  const [found, unfound] = [missing.filter(isFound), missing.filter((word) => !isFound(word))];
  const pairs = defects.filter((defect) => defect.kind === "disagreement");
  const added: [title: string, lines: string[]][] = [
    [`Passages that mention ${found.join(", ")}`, further.map((finding) => `- ${sources.cite(finding)}`)],
    [
      "Where the sources disagree",
      pairs.map(({ one, other }) => `- ${sources.cite(one)}, but ${sources.cite(other)}`),
    ],
    [
      "What the sources do not say",
      unfound.length > 0 ? [`No passage that was found mentions: ${unfound.join(", ")}.`] : [],
    ],
  ];
  const sections = added
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => render(title, lines));
  const empty = defects.flatMap((defect) => (defect.kind === "no-source" ? [defect.section] : []));
  return [
    ...empty.map((title) => ({ old_string: `## ${title}\n`, new_string: render(title, [NO_SOURCE]) })),
    ...(sections.length > 0
      ? [{ old_string: draft.slice(at), new_string: [...sections, sources.render()].join("\n") }]
      : []),
  ];
}

const SOURCES = "Sources";

function render(title: string, lines: readonly string[]): string {
  return `## ${title}\n${lines.length > 0 ? `\n${lines.join("\n")}\n` : ""}`;
}

/** The numbered list at the end. */
class Sources {
  readonly #titles = new Map<string, string>();

  static read(text: string): Sources {
    const sources = new Sources();
    for (const [, title, source] of text.matchAll(/^\d+\. (.+): (\S+)$/gm)) {
      sources.#titles.set(source!, title!);
    }
    return sources;
  }

  cite({ quote, title, source }: Finding): string {
    if (!this.#titles.has(source)) this.#titles.set(source, title);
    return `“${quote}” [${[...this.#titles.keys()].indexOf(source) + 1}]`;
  }

  render(): string {
    const lines = [...this.#titles].map(([source, title], index) => `${index + 1}. ${title}: ${source}`);
    return render(SOURCES, lines.length > 0 ? lines : ["None."]);
  }
}
