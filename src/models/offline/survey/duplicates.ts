import { AT_ONCE, type Call } from "../conversation.ts";
import type { Job } from "../job.ts";
import { counted, quoted, unquoted } from "../words.ts";
import { readPages, type FileText } from "./pages.ts";
import type { ListedFile } from "./walk.ts";

/** Files of one size: the same by what was read, or not compared for a reason. */
export interface Alike {
  paths: string[];
  size: number;
  /** Undefined when the texts are the same. */
  reason?: string;
}

/** Groups of files that may be copies of each other. */
export interface Candidates {
  groups: Alike[];
  /** Groups that are not worth or not possible to read. */
  skipped: Alike[];
}

const MANY_FILES = 60;
const MOST_FILES = 300;
const MOST_BYTES = 280_000;
const MOST_BYTES_EACH = 150_000;
const BEGINNING = 20;

/** Files of the same size. Where there are many, the number of lines must be the same too. */
export function findCandidates(
  files: readonly ListedFile[],
  counts: ReadonlyMap<string, number> | undefined,
): Candidates {
  const roughly = groupBy(files, ({ path }) => ((counts?.has(path) ?? true) ? "text" : "none"));
  const isMany = roughly.reduce((sum, { paths }) => sum + paths.length, 0) > MANY_FILES;
  const groups = isMany && counts ? groupBy(files, ({ path }) => String(counts.get(path))) : roughly;
  const candidates: Candidates = { groups: [], skipped: [] };
  let [count, bytes] = [0, 0];
  for (const group of groups) {
    const { paths, size } = group;
    const fits = count + paths.length <= MOST_FILES && bytes + size * paths.length <= MOST_BYTES;
    if (counts && !counts.has(paths[0]!)) candidates.skipped.push({ ...group, reason: "not text" });
    else if (size > MOST_BYTES_EACH) candidates.skipped.push({ ...group, reason: "too large" });
    else if (!fits) candidates.skipped.push({ ...group, reason: "too much to read" });
    else {
      candidates.groups.push(group);
      count += paths.length;
      bytes += size * paths.length;
    }
  }
  return candidates;
}

/** Groups of two or more files that have their size and a key in common, the smallest first. */
function groupBy(files: readonly ListedFile[], keyOf: (file: ListedFile) => string): Alike[] {
  const groups = new Map<string, Alike>();
  for (const file of files) {
    const { path, size = 0 } = file;
    if (size === 0) continue;
    const key = `${size} ${keyOf(file)}`;
    const group = groups.get(key);
    if (group) group.paths.push(path);
    else groups.set(key, { paths: [path], size });
  }
  return [...groups.values()].filter(({ paths }) => paths.length > 1).toSorted((a, b) => a.size - b.size);
}

const TITLE = "Duplicated files:";

/** The job for a helper, in words. */
export function describeDuplicates(groups: readonly Alike[]): string {
  return `${TITLE} find out which of these files have the same content. Files in one line have the same size.
Read the beginning of each with read_file; where files of a line begin alike, read them to their end and compare the whole text. Never call files the same that you have not read to the end.
Return a Markdown list and nothing else: a line "- same: PATHS (N bytes each)" for each set of equal files, a line "- not compared: PATHS (N bytes each): REASON" for what could not be read as text, and a last line "- compared: N files". Write paths as JSON strings with commas between them.
The files:
${groups.map(({ paths, size }) => `- ${size} bytes: ${paths.map(quoted).join(", ")}`).join("\n")}`;
}

/** Compares files by reading them. */
export const DUPLICATES: Job = {
  title: TITLE,
  phases: [
    { content: "Read the beginning of each file", estimate: 0.05 },
    { content: "Read on in files that begin alike", after: [1], estimate: 0.05 },
  ],
  work: (conversation, description) => {
    const groups = [...description.matchAll(/^- (\d+) bytes: (.+)$/gm)].map(([, size, paths]) => ({
      size: Number(size),
      files: unquoted(paths!).map((path) => ({ path, text: readPages(conversation, path, BEGINNING) })),
    }));
    const files = groups.flatMap((group) => group.files);
    const unread = files.flatMap(({ text }) => (text.next && text.lines.length === 0 ? text.next : []));
    if (unread.length > 0) return { phase: 0, next: unread.slice(0, AT_ONCE), report: "" };
    const further = groups.flatMap((group) => readOn(group.files));
    if (further.length > 0) return { phase: 1, next: further.slice(0, AT_ONCE), report: "" };
    const wentOn = files.some(({ text }) => text.lines.length > BEGINNING);
    return { phase: wentOn ? 2 : 1, next: [], report: reportOn(groups) };
  },
};

/** Reads the helper's report back. Undefined when it is none. */
export function readDuplicates(report: string): { alike: Alike[]; compared: number } | undefined {
  const [, compared] = /^- compared: ([\d,]+) files?$/m.exec(report) ?? [];
  if (compared === undefined) return undefined;
  const lines = report.matchAll(/^- (?:same|not compared): (.+) \((\d+) bytes each\)(?:: (.+))?$/gm);
  const alike = [...lines].map(([, paths, size, reason]) => ({
    paths: unquoted(paths!),
    size: Number(size),
    ...(reason !== undefined && { reason }),
  }));
  return { alike, compared: Number(compared.replaceAll(",", "")) };
}

interface ReadFile {
  path: string;
  text: FileText;
}

/** The calls that read on in files that agree with another as far as both were read. */
function readOn(files: readonly ReadFile[]): Call[] {
  const readable = files.filter(({ text }) => obstacle(text) === undefined);
  return readable.flatMap((one) => {
    const agrees = readable.some((other) => other !== one && agree(one.text, other.text));
    return one.text.next && agrees ? one.text.next : [];
  });
}

function agree(one: FileText, other: FileText): boolean {
  const [short, long] = one.lines.length <= other.lines.length ? [one, other] : [other, one];
  if (short.complete && short.lines.length < long.lines.length) return false;
  return short.lines.every((line, index) => line === long.lines[index]);
}

/** Why a text cannot be compared. */
function obstacle({ problem, cut }: FileText): string | undefined {
  return problem ?? (cut ? "a line is too long to be read whole" : undefined);
}

function reportOn(groups: readonly { size: number; files: ReadFile[] }[]): string {
  const lines = groups.flatMap(({ size, files }) => {
    const sets = new Map<string, string[]>();
    for (const { path, text } of files) {
      const reason = obstacle(text);
      if (reason === undefined && !text.complete) continue;
      const key = reason === undefined ? `same ${text.lines.join("\n")}` : `not compared ${reason}`;
      sets.set(key, [...(sets.get(key) ?? []), quoted(path)]);
    }
    return [...sets].flatMap(([key, paths]) => {
      const shown = `${paths.join(", ")} (${size} bytes each)`;
      if (!key.startsWith("same ")) return `- not compared: ${shown}: ${key.slice("not compared ".length)}`;
      return paths.length > 1 ? `- same: ${shown}` : [];
    });
  });
  const compared = groups.flatMap(({ files }) => files).filter(({ text }) => obstacle(text) === undefined);
  return [...lines, `- compared: ${counted(compared.length, "file")}`].join("\n");
}
