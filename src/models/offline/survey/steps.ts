import type { Step } from "../plan/view.ts";

/** The steps of a survey. */
export const STEP = {
  list: "List the files and their sizes",
  languages: "Count bytes and lines per language",
  largest: "Look at the largest files",
  duplicates: "Find duplicated files",
  markers: "Find leftover markers",
  manifests: "Count the dependencies in manifests",
  write: "Write survey.md",
  check: "Check survey.md",
} as const;

/** A step that becomes a section of the report. */
export type Section = "languages" | "largest" | "duplicates" | "markers" | "manifests";

/** The plan of a survey. */
export const SURVEY_STEPS: readonly Step[] = [
  { content: STEP.list, estimate: 0.1 },
  { content: STEP.languages, after: [1], estimate: 0.1 },
  { content: STEP.largest, after: [1], estimate: 0.05 },
  { content: STEP.duplicates, after: [1], estimate: 0.1 },
  { content: STEP.markers, after: [1], estimate: 0.1 },
  { content: STEP.manifests, after: [1], estimate: 0.1 },
  { content: STEP.write, after: [2, 3, 4, 5, 6], estimate: 0.05 },
  { content: STEP.check, after: [7], estimate: 0.05 },
];
