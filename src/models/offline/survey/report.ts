import { code, counted, local } from "../words.ts";
import type { ListedFile, Listing } from "./listing.ts";

/** A large file. Its number of lines and its beginning are missing where nobody looked. */
export interface LargeFile extends ListedFile {
  lines?: number;
  begins?: string;
}

/** The findings of a survey. */
export interface Findings {
  listing: Listing;
  largest: LargeFile[];
  sections: { title: string; text: string }[];
  /** Steps that were not done, with the reason. */
  omitted: Map<string, string>;
}

const SIGNATURE = "Made by Holdfast's offline model";
/** The number of lines that tell whether a file is a report. */
export const REPORT_START = 3;

/** Whether a result of `read_file` shows the beginning of a report. */
export function isReport(result: string): boolean {
  return /^ *1\t# Survey/m.test(result) && new RegExp(String.raw`^ *3\t${SIGNATURE}`, "m").test(result);
}

/** The report as Markdown. Its paths count from the directory that it is in. */
export function renderReport({ listing, largest, sections, omitted }: Findings): string {
  const { base } = listing;
  const gaps = gapsIn(listing, omitted);
  return [
    base === "/" ? "# Survey" : `# Survey of ${code(local(base))}`,
    `${SIGNATURE}, which is no language model, from what the file tools returned.`,
    totals(listing),
    "## Largest files",
    largest.length > 0 ? largest.map(renderFile).join("\n") : "There are no files.",
    ...sections.flatMap(({ title, text }) => [`## ${title}`, text]),
    ...(gaps.length > 0 ? ["## Left out", gaps.map((gap) => `- ${gap}`).join("\n")] : []),
  ]
    .join("\n\n")
    .concat("\n");
}

/** The final answer: the main figures, and `ending` about the report. */
export function renderAnswer(
  { listing, largest: [first], sections, omitted }: Findings,
  ending: string,
): string {
  const gaps = gapsIn(listing, omitted);
  return [
    `Surveyed ${listing.base === "/" ? "" : `${local(listing.base)}: `}${totals(listing)}`,
    ...(first ? [`Largest file: ${local(first.path)} with ${counted(first.size, "byte")}.`] : []),
    ...sections.map(({ title, text }) => `${title}: ${text.split("\n", 1)[0]}`),
    ...(gaps.length > 0 ? [`Left out: ${gaps.join("; ")}.`] : []),
    ending,
  ].join("\n");
}

function gapsIn({ unlisted }: Listing, omitted: ReadonlyMap<string, string>): string[] {
  return [
    ...[...omitted].map(([step, reason]) => `${step} (${reason})`),
    ...(unlisted > 0 ? [`${counted(unlisted, "folder")} not listed`] : []),
  ];
}

function totals({ files, folders }: Listing): string {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return `${counted(files.length, "file")} in ${counted(folders.length, "folder")}, ${counted(bytes, "byte")}.`;
}

function renderFile({ path, size, lines, begins }: LargeFile): string {
  const facts = [
    counted(size, "byte"),
    ...(lines === undefined ? [] : [counted(lines, "line")]),
    ...(begins === undefined ? [] : [`begins with ${code(begins)}`]),
  ];
  return `- ${code(local(path))}: ${facts.join(", ")}`;
}
