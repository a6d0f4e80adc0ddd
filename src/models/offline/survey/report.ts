import { code, counted, grouped, local, table } from "../words.ts";
import { bytesOf, type Findings } from "./findings.ts";
import { REPORTS } from "./left-out.ts";
import type { Section } from "./steps.ts";
import { topOf } from "./walk.ts";

const MOST_NAMED = 50;
const MOST_GROUPS = 100;
const MOST_UNCOMPARED = 20;
const NUMBERS = ["files", "bytes", "lines"];
const MADE_BY = "Made by Holdfast's offline model";
/** How many lines tell whether a file is a report. */
export const REPORT_START = 3;

const TITLES: Readonly<Record<Section, string>> = {
  languages: "Languages",
  largest: "Largest files",
  duplicates: "Duplicated files",
  markers: "Leftover markers",
  manifests: "Dependency manifests",
};

/** Whether a file that begins with these lines is an earlier report. Many a file has its title. */
export function isReport(lines: readonly string[]): boolean {
  return lines[0]?.startsWith("# Survey") === true && lines[2]?.startsWith(MADE_BY) === true;
}

/** The report as Markdown. Its paths count from the folder that it is in. */
export function renderReport(findings: Findings): string {
  const { listing, omitted } = findings;
  const sections = (Object.keys(TITLES) as Section[]).map((section) => {
    const reason = omitted.get(section);
    const lines = reason === undefined ? RENDER[section](findings) : [`Left out: ${reason}.`];
    return [`## ${TITLES[section]}`, "", ...lines, ""].join("\n");
  });
  return [
    titleFor(listing.base),
    "",
    `${MADE_BY}, which is no language model, from what the file tools returned.`,
    "",
    `${counted(listing.files.length, "file")} in ${counted(listing.folders.length, "folder")}, ${counted(bytesOf(listing), "byte")}.`,
    "",
    ...folderTable(findings),
    ...sections,
    "## Not looked at",
    "",
    ...notLookedAt(findings),
    "",
  ].join("\n");
}

const RENDER: Readonly<Record<Section, (findings: Findings) => string[]>> = {
  languages: ({ languages }) => {
    const { rows, notes } = languages!;
    const withoutText = rows.reduce((sum, row) => sum + row.withoutText, 0);
    if (rows.length === 0) return ["There are no files."];
    return [
      ...table(
        ["language", "files", "bytes", "lines"],
        rows.map((row) => [row.language, grouped(row.files), grouped(row.bytes), grouped(row.lines)]),
        NUMBERS,
      ),
      "",
      "Languages are told by file names.",
      ...(withoutText > 0
        ? [`${counted(withoutText, "file")} in this table could not be read as text and count no lines.`]
        : []),
      ...notSearched(notes),
    ];
  },
  largest: ({ largest }) =>
    largest!.length === 0
      ? ["There are no files with anything in them."]
      : table(
          ["file", "bytes", "begins with"],
          largest!.map(({ path, size, begins }) => [shown(path), grouped(size), code(begins)]),
          NUMBERS,
        ),
  duplicates: ({ duplicates }) => {
    const { alike, compared } = duplicates!;
    const same = alike.filter(({ reason }) => reason === undefined);
    const others = alike.filter(({ reason }) => reason !== undefined);
    const copies = same.reduce((sum, { paths, size }) => sum + (paths.length - 1) * size, 0);
    const line = ({ paths, size, reason }: (typeof alike)[number]): string =>
      `- ${paths.map(shown).join(", ")}: ${counted(size, "byte")} each${reason === undefined ? "" : `; ${reason}`}`;
    return [
      `${counted(same.length, "set")} of files with the same text, ${counted(copies, "byte")} in copies. ${counted(compared, "file was", "files were")} read and compared, line ends aside; the others share their size and number of lines with no file, are empty, or are listed below.`,
      ...bulleted(same.map(line), MOST_GROUPS),
      ...(others.length > 0
        ? ["", "Same size, not compared:", ...bulleted(others.map(line), MOST_UNCOMPARED)]
        : []),
    ];
  },
  markers: ({ markers }) => {
    const { lines, files, shown: first, notes } = markers!;
    return [
      `${counted(lines, "line")} with TODO, FIXME, XXX or HACK as a word in ${counted(files, "file")}.`,
      ...bulleted(
        first.map(({ path, line, text }) => `- ${shown(`${path}:${line}`)} ${code(text)}`),
        first.length,
      ),
      ...(lines > first.length ? ["", `${counted(lines - first.length, "more line")} not shown.`] : []),
      ...notSearched(notes),
    ];
  },
  manifests: ({ manifests }) => {
    const { found, rows, notes } = manifests!;
    const left = found - rows.length;
    return [
      `${counted(found, "manifest")}.`,
      ...bulleted(
        rows.map(({ path, says }) => `- ${shown(path)}: ${says}`),
        rows.length,
      ),
      ...(left > 0 ? ["", `${counted(left, "manifest")} not read.`] : []),
      ...notSearched(notes),
    ];
  },
};

function titleFor(base: string): string {
  const folder = local(base);
  // What Markdown could take for more than a name is set as code.
  return base === "/" ? "# Survey" : `# Survey of ${/^[\da-z ./-]+$/i.test(folder) ? folder : code(folder)}`;
}

function shown(path: string): string {
  return code(local(path));
}

function folderTable({ listing }: Findings): string[] {
  const { base, files } = listing;
  const tops = new Map<string, { files: number; bytes: number }>();
  for (const { path, size = 0 } of files) {
    const isDirect = path.lastIndexOf("/") === (base === "/" ? 0 : base.length);
    const top = isDirect ? "" : topOf(path, base);
    const row = tops.get(top) ?? { files: 0, bytes: 0 };
    tops.set(top, { files: row.files + 1, bytes: row.bytes + size });
  }
  if (tops.size === 0) return [];
  const rows = [...tops].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [
    ...table(
      ["folder", "files", "bytes"],
      rows.map(([top, row]) => [
        top === "" ? "directly in it" : shown(`${base === "/" ? "" : base}/${top}`),
        grouped(row.files),
        grouped(row.bytes),
      ]),
      NUMBERS,
    ),
    "",
  ];
}

function notLookedAt({ listing }: Findings): string[] {
  const { leftOut, ignored, unlisted, failed, files } = listing;
  const unknown = files.filter(({ size }) => size === undefined).map(({ path }) => path);
  return [
    `- the survey itself: ${REPORTS.map(shown).join(" or ")}`,
    "- symbolic links, and names that the file tools cannot show",
    ...named("folders of what tools made or fetched", leftOut),
    ...(ignored > 0 ? [`- what git ignores: ${counted(ignored, "file or folder", "files or folders")}`] : []),
    ...named("folders that were too many to list", unlisted),
    ...named("files of unknown size, counted with 0 bytes", unknown),
    ...failed.map(({ folder, reason }) => `- ${shown(folder)}, which could not be listed: ${reason}`),
  ];
}

function notSearched(notes: readonly string[]): string[] {
  return notes.length > 0
    ? [
        "",
        "Not searched:",
        ...bulleted(
          notes.map((note) => `- ${note}`),
          MOST_NAMED,
        ),
      ]
    : [];
}

function named(what: string, paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const more = paths.length > MOST_NAMED ? ` and ${grouped(paths.length - MOST_NAMED)} more` : "";
  return [`- ${what}: ${paths.slice(0, MOST_NAMED).map(shown).join(", ")}${more}`];
}

function bulleted(lines: readonly string[], most: number): string[] {
  if (lines.length === 0) return [];
  const more = lines.length > most ? [`- and ${grouped(lines.length - most)} more`] : [];
  return ["", ...lines.slice(0, most), ...more];
}
