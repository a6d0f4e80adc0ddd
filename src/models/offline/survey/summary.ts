import { counted, local } from "../words.ts";
import { bytesOf, type Findings } from "./findings.ts";

/** What became of the report. */
export interface Delivery {
  path?: string;
  /** What is wrong with the report at that path. */
  unchecked?: string;
  /** Why there is none. */
  problem?: string;
}

const MOST_LANGUAGES = 3;

/** The final answer: the main figures, and where the report is. */
export function renderAnswer(findings: Findings, { path = "", unchecked, problem }: Delivery): string {
  const { listing, languages, largest, duplicates, markers, manifests, omitted } = findings;
  const [first] = largest ?? [];
  const top = (languages?.rows ?? [])
    .slice(0, MOST_LANGUAGES)
    .map((row) => `${row.language} ${counted(row.lines, "line")}`);
  const same = duplicates?.alike.filter(({ reason }) => reason === undefined).length ?? 0;
  const counts = [
    ...(duplicates ? [`${counted(same, "set")} of duplicated files`] : []),
    ...(markers ? [`${counted(markers.lines, "line")} with leftover markers`] : []),
    ...(manifests ? [counted(manifests.found, "manifest")] : []),
  ];
  const unlisted = listing.unlisted.length + listing.failed.length;
  const missing = [
    ...[...omitted].map(([section, reason]) => `${section} (${reason})`),
    ...(unlisted > 0 ? [`${counted(unlisted, "folder")} not listed`] : []),
  ];
  const place = listing.base === "/" ? "" : `${local(listing.base)}: `;
  return [
    `Surveyed ${place}${counted(listing.files.length, "file")} in ${counted(listing.folders.length, "folder")}, ${counted(bytesOf(listing), "byte")}.`,
    ...(top.length > 0 ? [`Languages: ${top.join(", ")}.`] : []),
    ...(first ? [`Largest file: ${local(first.path)} with ${counted(first.size, "byte")}.`] : []),
    ...(counts.length > 0 ? [`Found ${counts.join(", ")}.`] : []),
    ...(missing.length > 0 ? [`Left out: ${missing.join("; ")}.`] : []),
    problem ?? `The report is in ${local(path)}${unchecked === undefined ? "" : `, but ${unchecked}`}.`,
  ].join("\n");
}
