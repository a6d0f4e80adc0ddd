import { call, type Call, type Conversation } from "../conversation.ts";
import { reasonIn } from "../words.ts";

/** A file and its size in bytes. */
export interface ListedFile {
  path: string;
  size: number;
}

/** The files in a folder and below. */
export interface Listing {
  base: string;
  /** Files by path. */
  files: ListedFile[];
  /** The number of folders that they are in, the base included. */
  folders: number;
  /** The number of files that the list had no room for. */
  unlisted: number;
  /** Why the base could not be listed. */
  problem?: string;
}

/** Where the survey is written, and where it goes when that file is not a survey. */
export const REPORTS = ["/survey.md", "/survey-offline.md"] as const;

/** Folders of generated or downloaded files. */
const SKIPPED = [".git", ".holdfast", "build", "coverage", "dist", "node_modules", "target", "vendor"];
/** The harness keeps long tool results here. */
const TOOL_RESULTS = "tool_results";

/** The files in a folder and below, or first the call that lists them. */
export function listFiles({ made }: Conversation, base: string): Listing | Call {
  const search = call("glob", { pattern: "**", path: base, sizes: true });
  const found = made(search);
  if (!found) return search;
  const { result, failed } = found;
  const files = result
    .split("\n")
    .filter((line) => line.startsWith("/"))
    .map((line) => line.split("\t"))
    .map(([path = "", size]) => ({ path, size: Number(size ?? 0) }))
    .filter(({ path }) => isCounted(path, base));
  const folders = new Set([base, ...files.flatMap(({ path }) => foldersTo(path, base))]);
  const unlisted = Number(/^\[Cut after .*: (\d+) more\./m.exec(result)?.[1] ?? 0);
  return { base, files, folders: folders.size, unlisted, ...(failed && { problem: reasonIn(found) }) };
}

/** Whether a survey of `base` counts a file. */
export function isCounted(path: string, base: string): boolean {
  if (REPORTS.some((report) => report === path)) return false;
  const folders = below(path, base).split("/").slice(0, -1);
  return folders[0] !== TOOL_RESULTS && !folders.some((name) => SKIPPED.includes(name));
}

/** The folders from a base down to a file, without the base. */
function foldersTo(path: string, base: string): string[] {
  const names = below(path, base).split("/").slice(0, -1);
  return names.map((_, at) => names.slice(0, at + 1).join("/"));
}

function below(path: string, base: string): string {
  return path.slice(base === "/" ? 1 : base.length + 1);
}
