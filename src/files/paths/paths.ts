import { isAbsolute, relative, sep } from "node:path";
import { type FileResult, fail } from "../backend/index.ts";

/** The longest path that any system accepts. */
const MAX_LENGTH = 4096;

/**
 * Parses a path from a model. "notes/a.md", "./notes//a.md" and "/notes/a.md/" are all "/notes/a.md". Does not decode,
 * so "%2e%2e" is an ordinary name. Refuses paths that could mean another place on some system.
 */
export function parsePath(raw: string): FileResult<{ path: string }> {
  const problem = problemOf(raw);
  if (problem) return fail(`The path ${JSON.stringify(excerpt(raw))} ${problem}`);
  return { ok: true, path: `/${segmentsOf(raw).join("/")}` };
}

/** The names in a path. */
export function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "" && segment !== ".");
}

/** The folder above a path; the root for the root. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

/** The last name of a path; empty for the root. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Joins a folder and a name, or several names with slashes. */
export function pathIn(folder: string, name: string): string {
  return folder === "/" ? `/${name}` : `${folder}/${name}`;
}

/** True for the folder itself and everything below it. */
export function isWithin(path: string, folder: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}

/** Whether a real path of the host is a folder or inside it. Does not follow links. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** All folders above a path, the root last. */
export function foldersAbove(path: string): string[] {
  const folders: string[] = [];
  for (let at = path; at !== "/"; at = folders.at(-1)!) folders.push(parentOf(at));
  return folders;
}

/** The order of listings and search results: by UTF-16 code unit, the same on every machine. */
export function inOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function excerpt(raw: string): string {
  return raw.length > MAX_LENGTH ? `${raw.slice(0, 60).toWellFormed()}…` : raw;
}

function problemOf(raw: string): string | undefined {
  if (raw.length > MAX_LENGTH) return `has ${raw.length} characters; the most is ${MAX_LENGTH}.`;
  if (raw.includes("\\")) return "has a backslash; use forward slashes.";
  if (/\p{Cc}/u.test(raw)) return "has a control character; use printable characters only.";
  if (/\p{Cs}/u.test(raw)) return "has half of a surrogate pair; use whole characters.";
  const segments = segmentsOf(raw);
  if (/^[A-Za-z]:/.test(segments[0] ?? "")) {
    return "looks like a Windows drive; paths begin at the root of these files.";
  }
  if (segments.includes("..")) return 'goes up with ".."; give the whole path from the root.';
  const hasBareName = segments.some((segment) => /^[. ]+$/.test(segment));
  return hasBareName ? "has a name of dots and spaces only; choose another name." : undefined;
}
