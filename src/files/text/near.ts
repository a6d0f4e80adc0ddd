import { nameOf, parentOf } from "../paths/index.ts";

const MAX_NEAR = 3;

/** The paths that somebody who asked for `path` may have meant, best first. */
export function nearPaths(path: string, candidates: Iterable<string>): string[] {
  return nearest(candidates, (candidate) => distance(path, candidate));
}

/** The words that somebody who typed `word` may have meant, best first: a mixed-up letter counts less than one left out. */
export function nearWords(word: string, candidates: Iterable<string>): string[] {
  return nearest(candidates, (candidate) => {
    const count = typos(word.toLowerCase(), candidate.toLowerCase());
    return count === undefined ? undefined : count + Math.abs(word.length - candidate.length) / 10;
  });
}

function nearest(candidates: Iterable<string>, rankOf: (candidate: string) => number | undefined): string[] {
  const ranked: { candidate: string; rank: number }[] = [];
  for (const candidate of candidates) {
    const rank = rankOf(candidate);
    if (rank !== undefined) ranked.push({ candidate, rank });
  }
  return ranked
    .toSorted((a, b) => a.rank - b.rank || a.candidate.length - b.candidate.length)
    .slice(0, MAX_NEAR)
    .map(({ candidate }) => candidate);
}

/** The same name elsewhere is nearest, then the same name with another ending, then a slip in the name. */
function distance(path: string, candidate: string): number | undefined {
  const [wanted, name] = [nameOf(path).toLowerCase(), nameOf(candidate).toLowerCase()];
  const elsewhere = parentOf(path) === parentOf(candidate) ? 0 : 0.5;
  if (wanted === name) return elsewhere;
  if (stem(wanted) === stem(name)) return 1 + elsewhere;
  const count = typos(wanted, name);
  return count === undefined ? undefined : 2 + count + elsewhere;
}

/** The edit distance of two words; undefined if it is too large for a typing error. */
function typos(wanted: string, name: string): number | undefined {
  const most = Math.min(3, Math.floor(wanted.length / 3));
  if (Math.abs(wanted.length - name.length) > most) return undefined;
  const count = editDistance(wanted, name);
  return count <= most ? count : undefined;
}

function stem(name: string): string {
  return name.replace(/(?<=.)\.[^.]*$/, "");
}

/** Letters left out, put in, replaced, or swapped with their neighbour, each counted as one. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? before[j - 2]! + 1 : Infinity;
      next.push(Math.min(replaced, swapped, row[j]! + 1, next[j - 1]! + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length]!;
}
