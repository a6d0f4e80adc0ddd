import { nameOf, parentOf } from "../paths/index.ts";

const MAX_NEAR = 3;

/** The paths most similar to a missing one, best first. */
export function nearPaths(path: string, candidates: Iterable<string>): string[] {
  return nearest(candidates, (candidate) => distance(path, candidate));
}

/** The words most similar to a mistyped one, best first. A swapped letter counts less than a missing one. */
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

/** Ranks the same name in another folder first, then the same name with another extension, then a typing error. */
function distance(path: string, candidate: string): number | undefined {
  const [target, name] = [nameOf(path).toLowerCase(), nameOf(candidate).toLowerCase()];
  const folderPenalty = parentOf(path) === parentOf(candidate) ? 0 : 0.5;
  if (target === name) return folderPenalty;
  if (stem(target) === stem(name)) return 1 + folderPenalty;
  const count = typos(target, name);
  return count === undefined ? undefined : 2 + count + folderPenalty;
}

/** The edit distance of two words; undefined if it is too large for a typing error. */
function typos(target: string, name: string): number | undefined {
  const max = Math.min(3, Math.floor(target.length / 3));
  if (Math.abs(target.length - name.length) > max) return undefined;
  const count = editDistance(target, name);
  return count <= max ? count : undefined;
}

function stem(name: string): string {
  return name.replace(/(?<=.)\.[^.]*$/, "");
}

/** The number of letters that are missing, added, replaced, or swapped with their neighbour. */
function editDistance(a: string, b: string): number {
  let previous: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? previous[j - 2]! + 1 : Infinity;
      next.push(Math.min(replaced, swapped, row[j]! + 1, next[j - 1]! + 1));
    }
    [previous, row] = [row, next];
  }
  return row[b.length]!;
}
