import type { Call, Conversation } from "../conversation.ts";
import { shortened } from "../words.ts";
import { readPages } from "./pages.ts";
import type { Listing } from "./walk.ts";

/** A large file and how it begins. */
export interface LargeFile {
  path: string;
  size: number;
  /** Its first line, or in brackets why that could not be had. */
  begins: string;
}

const MOST = 10;
const AT_ONCE = 5;
const MOST_CHARACTERS = 60;

/** Looks at the first line of the largest files. */
export function lookAtLargest(
  conversation: Conversation,
  listing: Listing,
): { files: LargeFile[]; next: Call[] } {
  const largest = listing.files
    .flatMap(({ path, size }) => (size === undefined || size === 0 ? [] : { path, size }))
    .toSorted((a, b) => b.size - a.size || (a.path < b.path ? -1 : 1))
    .slice(0, MOST)
    .map((file) => ({ ...file, text: readPages(conversation, file.path, 1) }));
  const unread = largest.flatMap(({ text }) => (text.next && text.lines.length === 0 ? text.next : []));
  const files = largest.map(({ path, size, text }) => {
    const [first = ""] = text.lines;
    return { path, size, begins: text.problem ? `[${text.problem}]` : beginning(first) };
  });
  return { files, next: unread.slice(0, AT_ONCE) };
}

function beginning(line: string): string {
  const plain = line.replace(/^\uFEFF/, "").trim();
  return plain === "" ? "[an empty line]" : shortened(plain.replaceAll("\t", " "), MOST_CHARACTERS);
}
