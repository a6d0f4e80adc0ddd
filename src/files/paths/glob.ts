import { Minimatch } from "minimatch";
import { type FileResult, fail } from "../backend/index.ts";
import { isWithin, parsePath, pathIn, segmentsOf } from "./paths.ts";

const MAX_LENGTH = 1000;
const MAX_ALTERNATIVES = 200;

/** A compiled glob. */
export interface Glob {
  /** The deepest folder that contains everything the pattern can match. */
  folder: string;
  /** The names that the pattern or its folder spells out. Searches do not skip these. */
  names: string[];
  matches(path: string): boolean;
  /** Whether something below this folder could match. */
  leadsTo(folder: string): boolean;
}

/**
 * Compiles a glob with `**`, `*`, `?`, `[…]` and `{a,b}`. A pattern with a leading slash starts at the root, any other
 * at `folder`; in both cases only paths in `folder` match. Dotfiles match like other files.
 */
export function compileGlob(pattern: string, folder: string): FileResult<{ glob: Glob }> {
  const excerpt = JSON.stringify(pattern.slice(0, 60).toWellFormed()).replaceAll('"', "`");
  if (pattern.trim() === "") return fail("The glob pattern is empty; use one such as **/*.md.");
  if (pattern.length > MAX_LENGTH) {
    return fail(`The glob pattern has ${pattern.length} characters; the most is ${MAX_LENGTH}.`);
  }
  const segments = segmentsOf(pattern);
  if (segments.includes("..")) return fail(`The glob pattern ${excerpt} has ".."; set the folder to search.`);
  if (pattern.endsWith("/")) segments.push("**");
  const base = pattern.startsWith("/") ? "/" : folder;
  const literal = pathIn(base, segments.join("/"));
  // Unlike matchers that compile to one backtracking expression, this one has no pattern that hangs.
  const matcher = new Minimatch(segments.join("/"), {
    dot: true,
    noext: true,
    nonegate: true,
    nocomment: true,
    braceExpandMax: MAX_ALTERNATIVES + 1,
    platform: "linux",
  });
  if (matcher.set.length > MAX_ALTERNATIVES) {
    return fail(`The braces of ${excerpt} stand for more than ${MAX_ALTERNATIVES} patterns; use fewer.`);
  }
  const start = parsePath(pathIn(base, leadingFolder(pattern).slice(1)));
  if (!start.ok) return start;
  const relative = (path: string): string => path.slice(base === "/" ? 1 : base.length + 1);
  const glob: Glob = {
    folder: isWithin(start.path, folder) ? start.path : folder,
    names: [...segmentsOf(folder), ...segments],
    // A name may contain glob characters, as in app/[id]/page.tsx.
    matches: (path) => isWithin(path, folder) && (path === literal || matcher.match(relative(path))),
    leadsTo: (path) => isWithin(base, path) || (isWithin(path, base) && matcher.match(relative(path), true)),
  };
  return { ok: true, glob };
}

/** The folder before the first segment of a pattern that has glob characters. */
export function leadingFolder(pattern: string): string {
  const segments = segmentsOf(pattern);
  const first = segments.findIndex((segment) => /[*?[{\\]/.test(segment));
  const end = first >= 0 ? first : segments.length - (pattern.endsWith("/") ? 0 : 1);
  return `/${segments.slice(0, Math.max(0, end)).join("/")}`;
}

/** Compiles the glob that filters files in a search. Without a slash it matches the file's name. */
export function compileFilter(pattern: string, folder: string): FileResult<{ glob: Glob }> {
  return compileGlob(pattern.includes("/") ? pattern : `**/${pattern}`, folder);
}
