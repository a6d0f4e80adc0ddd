import { call, type Call, type Conversation, type DoneCall } from "../conversation.ts";
import { reasonIn } from "../words.ts";

/** What has been read of a file, and the call that reads on. */
export interface FileText {
  lines: string[];
  complete: boolean;
  next?: Call;
  /** Why it could not be read. */
  problem?: string;
  /** Some line was too long to be shown whole. */
  cut: boolean;
}

const PAGE = 400;

/** Reads a file page by page. `first` is the number of lines of the first page. */
export function readPages({ made }: Conversation, path: string, first = PAGE): FileText {
  const lines: string[] = [];
  let cut = false;
  for (let offset = 0, limit = first; ; limit = PAGE) {
    const next = call("read_file", { file_path: path, ...(offset > 0 && { offset }), limit });
    const page = made(next);
    if (!page) return { lines, complete: false, next, cut };
    if (page.failed) return { lines, complete: false, problem: problemIn(page), cut };
    const shown = readPage(page.result);
    lines.push(...shown.lines);
    cut ||= shown.cut;
    if (!shown.more || shown.lines.length === 0) return { lines, complete: !shown.more, cut };
    offset = lines.length;
  }
}

/** The lines of a page without their numbers, and whether there are more behind it. */
function readPage(text: string): { lines: string[]; more: boolean; cut: boolean } {
  const shown = text.split("\n");
  const numbered = shown.flatMap((line) => /^ *\d+\t([^]*)$/.exec(line)?.[1] ?? []);
  return {
    lines: numbered,
    more: /^\[(?:Lines \d+-\d+ of \d+\.|Cut after )/.test(shown.at(-1) ?? ""),
    cut: numbered.some((line) => / \[cut: the line has \d+ characters\]$/.test(line)),
  };
}

function problemIn(page: DoneCall): string {
  const { result } = page;
  if (result.includes("is a binary file")) return "not text";
  if (result.includes("files of up to")) return "too large to read";
  return reasonIn(page);
}
