import { call, type Call, type Conversation, type DoneCall } from "../conversation.ts";
import { reasonIn } from "../words.ts";
import { REPORTS } from "./left-out.ts";
import { readPages } from "./pages.ts";
import { isReport, REPORT_START } from "./report.ts";
import type { Listing } from "./walk.ts";

/** How far the writing of the report is. */
export interface Writing {
  next: Call[];
  /** Where it was written. */
  path?: string;
  problem?: string;
}

/** Writes the report, never over a file that is not an earlier report. */
export function writeReport(conversation: Conversation, listing: Listing, content: () => string): Writing {
  const written = writtenIn(conversation);
  if (written) {
    const path = String(written.args["file_path"]);
    return written.failed ? { next: [], path, problem: reasonIn(written) } : { next: [], path };
  }
  const [usual, other] = REPORTS;
  const look = call("glob", { pattern: usual });
  if (listing.base !== "/" && !conversation.made(look)) return { next: [look] };
  const isThere = listing.reports.includes(usual) || conversation.made(look)?.result.includes(usual);
  const first = isThere ? readPages(conversation, usual, REPORT_START) : undefined;
  if (first?.next && first.lines.length === 0) return { next: [first.next] };
  const isFree = !first || isReport(first.lines);
  return { next: [call("write_file", { file_path: isFree ? usual : other, content: content() })] };
}

/** Reads the report back. */
export function checkReport(conversation: Conversation): Writing {
  const written = writtenIn(conversation);
  const path = String(written?.args["file_path"]);
  const { lines, next, problem } = readPages(conversation, path);
  if (next) return { next: [next], path };
  const wanted = String(written?.args["content"]).replace(/\n$/, "").split("\n");
  const same = lines.length === wanted.length && lines.every((line, at) => isShown(line, wanted[at]!));
  if (problem !== undefined) return { next: [], path, problem: `it could not be read back: ${problem}` };
  return { next: [], path, ...(!same && { problem: "it does not hold what was written" }) };
}

function writtenIn({ calls }: Conversation): DoneCall | undefined {
  return calls.findLast(({ name }) => name === "write_file");
}

/** A long line is shown in part. */
function isShown(line: string, wanted: string): boolean {
  const [, part] = /^([^]*) \[cut: the line has \d+ characters\]$/.exec(line) ?? [];
  return line === wanted || (part !== undefined && wanted.startsWith(part));
}
