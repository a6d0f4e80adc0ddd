import { AT_ONCE, call, type Call, type Conversation } from "../conversation.ts";
import { reasonIn } from "../words.ts";

/** A file and its size in bytes. */
export interface ListedFile {
  path: string;
  size: number;
}

/** The files in a folder and below that have been listed so far. */
export interface Listing {
  base: string;
  /** Sorted by path. */
  files: ListedFile[];
  /** Listed folders, including the base. */
  folders: string[];
  /** The number of folders that could not be listed, or exceed the limits. */
  unlisted: number;
  /** The reason why the base could not be listed. */
  problem?: string;
  /** The next calls. Empty if the listing is complete. */
  next: Call[];
}

/** The file of the report, and the alternative if that file exists and is not a report. */
export const REPORTS = ["/survey.md", "/survey-offline.md"] as const;

/** Folders of generated or downloaded files. */
const SKIPPED = [".git", ".holdfast", "build", "coverage", "dist", "node_modules", "target", "vendor"];
/** The folder in which the harness saves long tool results. */
const TOOL_RESULTS = "tool_results";
const MOST_FOLDERS = 200;
const MOST_CHARACTERS = 150_000;

/** Lists a folder and everything below it. One turn lists folders of one top-level folder. */
export function listFiles({ findCall }: Conversation, base: string): Listing {
  const listing: Listing = { base, files: [], folders: [], unlisted: 0, next: [] };
  const missing: string[] = [];
  let characters = 0;
  const visit = (folder: string): void => {
    const ls = findCall(call("ls", { path: folder, sizes: true }));
    if (!ls) missing.push(folder);
    else if (ls.failed) {
      listing.unlisted += 1;
      if (folder === base) listing.problem = reasonIn(ls);
    } else {
      characters += ls.result.length;
      for (const inner of addEntries(listing, folder, ls.result)) visit(inner);
    }
  };
  visit(base);
  listing.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const isFull = characters > MOST_CHARACTERS || listing.folders.length >= MOST_FOLDERS;
  if (isFull) listing.unlisted += missing.length;
  else {
    const near = missing.filter((folder) => topOf(folder, base) === topOf(missing[0]!, base));
    listing.next = near.slice(0, AT_ONCE).map((path) => call("ls", { path, sizes: true }));
  }
  return listing;
}

/** Whether a survey of `base` counts a file. */
export function isCounted(path: string, base: string): boolean {
  if (REPORTS.some((report) => report === path)) return false;
  const folders = below(path, base).split("/").slice(0, -1);
  return folders[0] !== TOOL_RESULTS && !folders.some((name) => SKIPPED.includes(name));
}

/** Adds the files of an `ls` result to the listing, and returns its folders. */
function addEntries(listing: Listing, folder: string, text: string): string[] {
  const { base } = listing;
  listing.folders.push(folder);
  if (text.includes("\n[Cut after ")) listing.unlisted += 1;
  const entries = text.split("\n").filter((line) => line.startsWith("/"));
  const counted = entries.filter((line) => isCounted(line.split("\t", 1)[0]!, base));
  const isFolder = (line: string): boolean => line.endsWith("/");
  for (const line of counted.filter((entry) => !isFolder(entry))) {
    const [path = "", size = "0"] = line.split("\t");
    listing.files.push({ path, size: Number(size) });
  }
  return counted.filter(isFolder).map((line) => line.slice(0, -1));
}

function topOf(path: string, base: string): string {
  return below(path, base).split("/", 1)[0]!;
}

function below(path: string, base: string): string {
  return path.slice(base === "/" ? 1 : base.length + 1);
}
