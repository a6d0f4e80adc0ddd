import { nameOf, parentOf } from "./paths.ts";

const MAX_NEAR = 3;

/** The paths that somebody who asked for `path` may have meant, best first. */
export function nearPaths(path: string, known: Iterable<string>): string[] {
  const ranked: { candidate: string; rank: number }[] = [];
  for (const candidate of known) {
    const rank = distance(path, candidate);
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
  const most = Math.min(3, Math.floor(wanted.length / 3));
  const slips = Math.abs(wanted.length - name.length) > most ? Infinity : editDistance(wanted, name);
  return slips <= most ? 2 + slips + elsewhere : undefined;
}

function stem(name: string): string {
  return name.replace(/(?<=.)\.[^.]*$/, "");
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
