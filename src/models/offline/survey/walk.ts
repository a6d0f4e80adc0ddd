import { AT_ONCE, call, type Call, type Conversation } from "../conversation.ts";
import { reasonIn } from "../words.ts";
import { isLeftOut, REPORTS } from "./left-out.ts";

/** A file and its size in bytes, where it is known. */
export interface ListedFile {
  path: string;
  size: number | undefined;
}

/** What is known of the files in a folder and below. */
export interface Listing {
  base: string;
  /** By path. */
  files: ListedFile[];
  /** Folders that were listed, the base among them. */
  folders: string[];
  leftOut: string[];
  /** How many entries `.gitignore` files leave out. */
  ignored: number;
  failed: { folder: string; reason: string }[];
  /** Folders beyond the budget, and those whose list was cut. */
  unlisted: string[];
  /** Reports of earlier surveys that were seen. */
  reports: string[];
  /** What to list next; empty when the listing is complete. */
  next: Call[];
}

/** Characters of listings that a conversation is to hold at most. */
const BUDGET = 150_000;
const MOST_FOLDERS = 1000;
/** From this many lists on a turn takes folders as they come. */
const STEADY = 150;

/** Lists a folder and what is below it: a turn lists folders of one top-level folder, in a big tree more. */
export function walk({ made }: Conversation, base: string): Listing {
  const listing: Listing = {
    base,
    files: [],
    folders: [],
    leftOut: [],
    ignored: 0,
    failed: [],
    unlisted: [],
    reports: [],
    next: [],
  };
  const missing: string[] = [];
  let spent = 0;
  const visit = (folder: string): void => {
    const listed = made(list(folder));
    if (!listed) missing.push(folder);
    else if (listed.failed) listing.failed.push({ folder, reason: reasonIn(listed) });
    else {
      spent += listed.result.length;
      for (const inner of addEntries(listing, folder, listed.result)) visit(inner);
    }
  };
  visit(base);
  listing.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  if (spent > BUDGET || listing.folders.length >= MOST_FOLDERS) listing.unlisted.push(...missing);
  else listing.next = batch(missing, base, listing.folders.length).map(list);
  return listing;
}

function list(path: string): Call {
  return call("ls", { path, sizes: true });
}

/** Adds what a list shows and returns the folders to go into. */
function addEntries(listing: Listing, folder: string, text: string): string[] {
  listing.folders.push(folder);
  const inner: string[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("[Cut after ")) listing.unlisted.push(folder);
    listing.ignored += Number(/^\[(\d+) more with ignored/.exec(line)?.[1] ?? 0);
    if (!line.startsWith("/")) continue;
    const [path = "", size] = line.split("\t");
    if (path.endsWith("/")) {
      const name = path.slice(0, -1);
      if (isLeftOut(name)) listing.leftOut.push(name);
      else inner.push(name);
    } else if (REPORTS.some((report) => report === path)) listing.reports.push(path);
    else listing.files.push({ path, size: size === undefined ? undefined : Number(size) });
  }
  return inner;
}

function batch(missing: readonly string[], base: string, listed: number): string[] {
  const top = topOf(missing[0] ?? base, base);
  const near = listed < STEADY ? missing.filter((folder) => topOf(folder, base) === top) : missing;
  return near.slice(0, AT_ONCE);
}

/** The top-level folder that a path is in. */
export function topOf(path: string, base: string): string {
  const [name = ""] = path.slice(base === "/" ? 1 : base.length + 1).split("/");
  return name;
}
