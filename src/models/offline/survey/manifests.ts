import { call, type Conversation } from "../conversation.ts";
import type { Job } from "../job.ts";
import { counted, grouped, quoted, reasonIn, unquoted } from "../words.ts";
import { isLeftOutFile, LEFT_OUT_FOLDERS } from "./left-out.ts";
import { MANIFEST_KINDS } from "./manifest-kinds.ts";
import { readPages, type FileText } from "./pages.ts";

/** A manifest and what it says, in words. */
export interface ManifestRow {
  path: string;
  says: string;
}

/** What the search for manifests came to. */
export interface Manifests {
  found: number;
  rows: ManifestRow[];
  /** What was not searched. */
  notes: string[];
}

const TITLE = "Dependency manifests:";
const MOST = 50;
const MOST_BYTES = 200_000;
const AT_ONCE = 5;

/** The job for a helper, in words. */
export function describeManifests(base: string): string {
  return `${TITLE} find the files called ${MANIFEST_KINDS.map(({ glob }) => glob).join(", ")} in the folder ${quoted(base)} and below, and count the dependencies that each declares.
Leave out what is in a folder called ${LEFT_OUT_FOLDERS.join(", ")}. Read at most ${MOST} of them, those nearest to the top first.
Return a Markdown list and nothing else: first "- found: N manifests", then a line "- PATH: KIND NAME: N dependencies, N development, …" for each, with the path and the name as JSON strings; where one cannot be understood, say so in its line. Add "- not searched: REASON" if not all could be found.`;
}

/** Finds manifests, then reads them. */
export const MANIFESTS: Job = {
  title: TITLE,
  phases: [
    { content: "Find the manifests", estimate: 0.05 },
    { content: "Read them and count dependencies", after: [1], estimate: 0.1 },
  ],
  work: (conversation, description) => {
    const [base = "/"] = unquoted(/ in the folder (".+?") and below/.exec(description)?.[1] ?? "");
    const names = MANIFEST_KINDS.map(({ glob }) => glob).join(",");
    const search = call("glob", { pattern: `**/{${names}}`, path: base, sizes: true });
    const found = conversation.made(search);
    if (!found) return { phase: 0, next: [search], report: "" };
    if (found.failed) return { phase: 0, next: [], report: `Not found: ${reasonIn(found)}.` };
    const files = readFound(found.result, base);
    const read = files.slice(0, MOST).map((file) => ({ ...file, text: textOf(conversation, file) }));
    const next = read.flatMap(({ text }) => text.next ?? []).slice(0, AT_ONCE);
    if (next.length > 0) return { phase: 1, next, report: "" };
    const lines = read.map(({ path, text }) => `- ${quoted(path)}: ${describe(path, text)}`);
    const notes = found.result.includes("\n[Cut after ")
      ? ["- not searched: there were too many to list"]
      : [];
    const report = [`- found: ${counted(files.length, "manifest")}`, ...lines, ...notes].join("\n");
    return { phase: files.length > 0 ? 2 : 1, next: [], report };
  },
};

/** Reads the helper's report back. Undefined when it is none. */
export function readManifests(report: string): Manifests | undefined {
  const [, found] = /^- found: ([\d,]+) manifests?$/m.exec(report) ?? [];
  if (found === undefined) return undefined;
  const rows = [...report.matchAll(/^- ("(?:[^"\\]|\\.)*"): (.+)$/gm)];
  return {
    found: Number(found.replaceAll(",", "")),
    rows: rows.map(([, path, says]) => ({ path: unquoted(path!)[0]!, says: says! })),
    notes: [...report.matchAll(/^- not searched: (.+)$/gm)].map(([, note]) => note!),
  };
}

interface Found {
  path: string;
  size: number;
}

/** The files that a search found, those nearest to the top first. */
function readFound(result: string, base: string): Found[] {
  const files = result.split("\n").flatMap((line): Found | Found[] => {
    const [path = "", size = "0"] = line.split("\t");
    return path.startsWith("/") && !isLeftOutFile(path, base) ? { path, size: Number(size) } : [];
  });
  const depth = ({ path }: Found): number => path.split("/").length;
  return files.toSorted((a, b) => depth(a) - depth(b) || (a.path < b.path ? -1 : 1));
}

function textOf(conversation: Conversation, { path, size }: Found): FileText {
  if (size <= MOST_BYTES) return readPages(conversation, path);
  return { lines: [], complete: false, cut: false, problem: `${grouped(size)} bytes are too many to read` };
}

function describe(path: string, { lines, cut, problem }: FileText): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const kind = MANIFEST_KINDS.find(({ matches }) => matches.test(name))!;
  if (problem !== undefined) return `${kind.kind}, not read: ${problem}`;
  if (cut) return `${kind.kind}, not understood: a line is too long to be read whole`;
  try {
    const { name: project, counts } = kind.read(lines.join("\n"));
    const numbers = Object.entries(counts).map(([what, count]) =>
      what === "dependencies" ? counted(count, "dependency", "dependencies") : `${grouped(count)} ${what}`,
    );
    return `${kind.kind}${project === undefined ? "" : ` ${quoted(project)}`}: ${numbers.join(", ")}`;
  } catch {
    return `${kind.kind}, not understood`;
  }
}
