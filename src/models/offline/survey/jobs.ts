import { AT_ONCE, call, type Answer, type Call, type Conversation } from "../conversation.ts";
import { Plan } from "../plan.ts";
import { code, counted, local, reasonIn, shortened } from "../words.ts";
import { isCounted } from "./listing.ts";

/** A part of the survey that a sub-agent can do from its description: a search, then a look at the matching files. */
export interface Job {
  /** The title of its section, and the beginning of its description. */
  title: string;
  /** Its item in the plan of the survey. */
  step: string;
  /** The items of the sub-agent's plan. */
  phases: readonly [search: string, look: string];
  search: (path: string) => Call;
  look: (path: string) => Call;
  /** Matches the part of a look's result for the report. */
  excerpt: RegExp;
}

const MARKERS = String.raw`\b(?:TODO|FIXME|XXX|HACK)\b`;
const MANIFESTS = "**/{package.json,pyproject.toml,Cargo.toml,go.mod,pom.xml}";
const MOST_FILES = 16;
const MOST_CHARACTERS = 80;

export const JOBS: readonly Job[] = [
  {
    title: "Leftover markers",
    step: "Find leftover markers",
    phases: ["Search for TODO, FIXME, XXX and HACK", "Get their line numbers"],
    search: (path) => call("grep", { pattern: MARKERS, path, regex: true, output: "count" }),
    look: (path) => call("grep", { pattern: MARKERS, path, regex: true, limit: 1 }),
    excerpt: /^(\d+:.*)$/m,
  },
  {
    title: "Documents",
    step: "Read the titles of documents",
    phases: ["Find the documents", "Read their first lines"],
    search: (path) => call("glob", { pattern: "**/*.md", path }),
    look: (path) => call("read_file", { file_path: path, limit: 1 }),
    excerpt: /^ *\d+\t#*(.+)$/m,
  },
  {
    title: "Package manifests",
    step: "Read the package manifests",
    phases: ["Find the manifests", "Read the names in them"],
    search: (path) => call("glob", { pattern: MANIFESTS, path }),
    look: (path) => call("read_file", { file_path: path, limit: 20 }),
    excerpt: /^ *\d+\t.*?\b(?:name|module|artifactId)\b["\s:=>]*([\w@./-]+)/m,
  },
];

export function describeJob({ title, phases: [search, look] }: Job, base: string): string {
  return `${title}: look through the folder ${JSON.stringify(base)} and all below it. ${search}. Then, for the first ${MOST_FILES} files: ${look.toLowerCase()}.
Return Markdown and nothing else: a line that says how many files were found, an empty line, and an item "- PATH: EXCERPT" for each file you looked at.`;
}

/** Does a job as a sub-agent: a short plan, its two phases, and the report. */
export function doJob(job: Job, conversation: Conversation, tools: readonly string[]): Answer {
  const [search, look] = job.phases;
  const steps = [
    { content: search, estimate: 0.05 },
    { content: look, after: [1], estimate: 0.05 },
  ];
  const plan = new Plan(steps, conversation, tools);
  if (plan.opening.length > 0) return plan.opening;
  const folder = /the folder ("(?:[^"\\]|\\.)*")/.exec(conversation.request)?.[1] ?? '"/"';
  const base = JSON.parse(folder) as string;
  const { next, report } = workOn(job, conversation, base);
  const done = conversation.findCall(job.search(base)) ? [search] : [];
  if (next.length > 0) return [...plan.report({ done }), ...next];
  return plan.close({ done: [search, look] }, report);
}

/** The next calls of a job; if there are none, its report. */
export function workOn(job: Job, { findCall }: Conversation, base: string): { next: Call[]; report: string } {
  const search = job.search(base);
  const searchCall = findCall(search);
  if (!searchCall) return { next: [search], report: "" };
  if (searchCall.failed) return { next: [], report: `Not searched: ${reasonIn(searchCall)}.` };
  const paths = searchCall.result
    .split("\n")
    .filter((line) => line.startsWith("/"))
    .map((line) => (search.name === "grep" ? line.slice(0, line.lastIndexOf(":")) : line))
    .filter((path) => isCounted(path, base));
  const looks = paths.slice(0, MOST_FILES).map((path) => ({ path, look: job.look(path) }));
  const open = looks.flatMap(({ look }) => (findCall(look) ? [] : look));
  if (open.length > 0) return { next: open.slice(0, AT_ONCE), report: "" };
  const items = looks.map(({ path, look }) => {
    const { result = "", failed = false } = findCall(look) ?? {};
    const excerpt = failed ? undefined : job.excerpt.exec(result)?.[1]?.trim();
    return `- ${code(local(path))}: ${excerpt ? code(shortened(excerpt, MOST_CHARACTERS)) : "no excerpt"}`;
  });
  const more = paths.length > items.length ? [`- and ${paths.length - items.length} more`] : [];
  const atLeast = /^\[.+\]$/m.test(searchCall.result) ? "at least " : "";
  const report = [`${atLeast}${counted(paths.length, "file")}`, "", ...items, ...more].join("\n");
  return { next: [], report: report.trim() };
}
