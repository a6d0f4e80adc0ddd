import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { contentWords } from "./words.ts";

/** One result of a search. */
export interface Hit {
  title: string;
  /** A path or an address. */
  source: string;
  snippet: string;
}

interface Passage extends Hit {
  /** How often each stem occurs, the title counted once. */
  counts: Map<string, number>;
  length: number;
}

const FOLDER = fileURLToPath(new URL("documents/", import.meta.url));

/** Ranks the paragraphs of the documents that ship with this example by BM25. */
export async function searchDocuments(query: string, limit = 8): Promise<Hit[]> {
  const passages = await readPassages();
  const stems = [...contentWords(query).keys()];
  const average = passages.reduce((sum, { length }) => sum + length, 0) / passages.length;
  const weights = stems.map((stem) => {
    const holders = passages.filter(({ counts }) => counts.has(stem)).length;
    return Math.log(1 + (passages.length - holders + 0.5) / (holders + 0.5));
  });
  const scored = passages.map(({ counts, length, ...hit }) => {
    const parts = stems.map((stem, index) => {
      const count = counts.get(stem) ?? 0;
      return (weights[index]! * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * length) / average));
    });
    return { hit, score: parts.reduce((sum, part) => sum + part, 0) };
  });
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ hit }) => hit);
}

async function readPassages(): Promise<Passage[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith(".md")).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(FOLDER + file, "utf8")));
  return texts.flatMap((text, index) => {
    const [heading = "", ...paragraphs] = text.trim().split(/\n{2,}/);
    const title = heading.replace(/^# /, "");
    return paragraphs.map((snippet) => {
      const words = `${title} ${snippet}`.split(/\s+/);
      return { title, source: `documents/${files[index]}`, snippet, ...countStems(words) };
    });
  });
}

function countStems(words: string[]): Pick<Passage, "counts" | "length"> {
  const counts = new Map<string, number>();
  for (const word of words) {
    for (const stem of contentWords(word).keys()) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  }
  return { counts, length: words.length };
}
