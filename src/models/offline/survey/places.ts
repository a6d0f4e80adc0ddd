import { call, type Call } from "../conversation.ts";
import type { Listing } from "./walk.ts";

/** Where a search looks: in a folder and all below, or only in the files that are directly in it. */
export interface Place {
  folder: string;
  deep: boolean;
}

/** File searches pass over these by themselves. */
const PASSED_OVER = [".git", "node_modules"];
/** The most files that one search may name, and the most characters that their names may have. */
const MOST_FILES = 20_000;
const MOST_CHARACTERS = 30_000;
/** What a line has beside a file's name. */
const ROOM = 8;

/** Places that together hold all files of a listing and nothing that it leaves out, a top-level folder at a time. */
export function placesOf(listing: Listing): Place[] {
  const { base, files, folders } = listing;
  const holes = [
    ...listing.leftOut.filter((folder) => !PASSED_OVER.includes(folder.slice(folder.lastIndexOf("/") + 1))),
    ...listing.unlisted,
    ...listing.failed.map(({ folder }) => folder),
  ];
  const withFiles = new Set(files.map(({ path }) => parentOf(path)));
  const filled = new Set([...withFiles].flatMap((folder) => [folder, ...above(folder)]));
  const inner = new Map<string, string[]>();
  for (const folder of folders) {
    if (folder === base) continue;
    const parent = parentOf(folder);
    inner.set(parent, [...(inner.get(parent) ?? []), folder]);
  }
  const broken = new Set(holes.flatMap((hole) => [hole, ...above(hole)]));
  const sizes = new Map<string, number>();
  for (const { path } of files) {
    for (const folder of above(path)) sizes.set(folder, (sizes.get(folder) ?? 0) + path.length + ROOM);
  }
  const places = (folder: string): Place[] => {
    if (!filled.has(folder)) return [];
    const isWhole = !broken.has(folder) && (sizes.get(folder) ?? 0) <= MOST_CHARACTERS;
    if (folder !== base && isWhole) return [{ folder, deep: true }];
    const direct = withFiles.has(folder) ? [{ folder, deep: false }] : [];
    return [...direct, ...(inner.get(folder) ?? []).flatMap(places)];
  };
  return places(base);
}

/** A search that counts the matching lines of each file in a place. */
export function countIn({ folder, deep }: Place, pattern: string): Call {
  const query = { pattern, path: folder, regex: true, output: "count", limit: MOST_FILES };
  return call("grep", deep ? query : { ...query, glob: "./*" });
}

/** The counts in a search's result, and what it says was not searched. */
export function readCounts(result: string): { counts: [path: string, lines: number][]; notes: string[] } {
  const lines = result.split("\n");
  return {
    counts: lines.flatMap((line): [string, number][] => {
      const [, path, count] = /^(\/.*):(\d+)$/.exec(line) ?? [];
      return path === undefined ? [] : [[path, Number(count)]];
    }),
    notes: lines
      .filter((line) => /^\[.+\]$/.test(line))
      .map((line) => line.slice(1, -1).replaceAll(/(?<=[:,] )"\//g, '"')),
  };
}

/** The folder that holds a path. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

function above(path: string): string[] {
  return path === "/" ? [] : [parentOf(path), ...above(parentOf(path))];
}
