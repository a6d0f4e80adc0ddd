import { AT_ONCE, call, type Call, type Conversation } from "../conversation.ts";
import type { Job } from "../job.ts";
import { code, counted, local, quoted, reasonIn, shortened, unquoted } from "../words.ts";
import { isLeftOutFile, LEFT_OUT_FOLDERS, REPORTS } from "./left-out.ts";
import { countIn, readCounts, type Place } from "./places.ts";

/** A line with a marker. */
export interface Marker {
  path: string;
  line: number;
  text: string;
}

/** What the search for markers came to. */
export interface Markers {
  lines: number;
  files: number;
  /** The first of them. */
  shown: Marker[];
  /** What was not searched. */
  notes: string[];
}

const TITLE = "Leftover markers:";
const WORDS = ["TODO", "FIXME", "XXX", "HACK"];
const PATTERN = String.raw`\b(?:${WORDS.join("|")})\b`;
/** So many turns for the counts, as long as a turn has room. */
const FEW_TURNS = 6;
const MOST_SHOWN = 100;
const MOST_FILES = 40;
const MOST_CHARACTERS = 120;

/** The job for a helper, in words. */
export function describeMarkers(base: string, places: readonly Place[]): string {
  return `${TITLE} find the lines that hold ${WORDS.slice(0, -1).join(", ")} or ${WORDS.at(-1)} as a whole word in capitals.
Count them per file with grep in each of the places below, then get the line numbers of the first ${MOST_SHOWN}. Leave out ${REPORTS.join(", ")} and whatever is in a folder called ${LEFT_OUT_FOLDERS.join(", ")}.
Return a Markdown list and nothing else: first "- total: N lines in N files", then a line "- PATH:LINE: TEXT" for each line found, and "- not searched: REASON" for what was not searched. Write paths as JSON strings.
The folder is ${quoted(base)}, and the places are:
${places.map(({ folder, deep }) => `- ${deep ? "all files below" : "the files directly in"} ${quoted(folder)}`).join("\n")}`;
}

/** Counts lines with markers, then looks at them. */
export const MARKERS: Job = {
  title: TITLE,
  phases: [
    { content: "Count the lines with markers", estimate: 0.05 },
    { content: "Get their line numbers", after: [1], estimate: 0.05 },
  ],
  work: (conversation, description) => {
    const base =
      unquoted(/^The folder is (.+), and the places are:$/m.exec(description)?.[1] ?? "")[0] ?? "/";
    const places = [...description.matchAll(/^- (all files below|the files directly in) (".+")$/gm)].map(
      ([, how, folder]): Place => ({ folder: unquoted(folder!)[0]!, deep: how!.startsWith("all") }),
    );
    const { counts, notes, next } = countMarkers(conversation, places, base);
    if (next.length > 0) return { phase: 0, next, report: "" };
    const looks = counts.slice(0, MOST_FILES).map(([path]) => lookAt(path));
    const unseen = looks.filter((look) => !conversation.made(look));
    const seen = looks.flatMap((look) => readLines(conversation, look)).slice(0, MOST_SHOWN);
    if (unseen.length > 0 && seen.length < MOST_SHOWN) {
      return { phase: 1, next: unseen.slice(0, AT_ONCE), report: "" };
    }
    const total = counts.reduce((sum, [, count]) => sum + count, 0);
    const report = [
      `- total: ${counted(total, "line")} in ${counted(counts.length, "file")}`,
      ...seen.map(({ path, line, text }) => `- ${quoted(path)}:${line}: ${text}`),
      ...notes.map((note) => `- not searched: ${note}`),
    ].join("\n");
    return { phase: counts.length > 0 ? 2 : 1, next: [], report };
  },
};

/** Reads the helper's report back. Undefined when it is none. */
export function readMarkers(report: string): Markers | undefined {
  const [, lines, files] = /^- total: ([\d,]+) lines? in ([\d,]+) files?$/m.exec(report) ?? [];
  if (lines === undefined) return undefined;
  const shown = [...report.matchAll(/^- ("(?:[^"\\]|\\.)*"):(\d+): (.*)$/gm)];
  return {
    lines: Number(lines.replaceAll(",", "")),
    files: Number(files!.replaceAll(",", "")),
    shown: shown.map(([, path, line, text]) => ({
      path: unquoted(path!)[0]!,
      line: Number(line),
      text: text!,
    })),
    notes: [...report.matchAll(/^- not searched: (.+)$/gm)].map(([, note]) => note!),
  };
}

function countMarkers({ made }: Conversation, places: readonly Place[], base: string) {
  const searches = places.map((place) => countIn(place, PATTERN));
  const results = searches.map((search) => ({ search, found: made(search) }));
  const read = results.map(({ found }) => readCounts(found && !found.failed ? found.result : ""));
  const failures = results.flatMap(({ search, found }) =>
    found?.failed ? `${code(local(String(search.args["path"])))}: ${reasonIn(found)}` : [],
  );
  return {
    counts: read.flatMap(({ counts }) => counts).filter(([path]) => !isLeftOutFile(path, base)),
    notes: [...failures, ...read.flatMap(({ notes }) => notes)],
    next: searches
      .filter((search) => !made(search))
      .slice(0, Math.min(AT_ONCE, Math.ceil(searches.length / FEW_TURNS))),
  };
}

function lookAt(path: string): Call {
  return call("grep", { pattern: PATTERN, path, regex: true, limit: MOST_SHOWN });
}

function readLines({ made }: Conversation, look: Call): Marker[] {
  const found = made(look);
  if (!found || found.failed) return [];
  const lines = [...found.result.matchAll(/^(\d+):(.*)$/gm)];
  return lines.map(([, line, text]) => ({
    path: String(look.args["path"]),
    line: Number(line),
    text: shortened(text!.trim(), MOST_CHARACTERS),
  }));
}
