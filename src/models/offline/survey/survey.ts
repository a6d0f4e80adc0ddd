import { AT_ONCE, call, type Answer, type Call, type Conversation } from "../conversation.ts";
import { Plan, type Step } from "../plan.ts";
import { local, reasonIn, reportIn, shortened, code, counted } from "../words.ts";
import { describeJob, JOBS, workOn, type Job } from "./jobs.ts";
import { listFiles, REPORTS, type ListedFile, type Listing } from "./listing.ts";

const LIST = "List the files and their sizes";
const COUNT = "Count the lines of the largest files";
const BEGINNINGS = "Look at the largest files";
const WRITE = "Write survey.md";
const CHECK = "Check survey.md";
const MOST_LARGE = 10;
const MOST_CHARACTERS = 60;

/** The plan of a survey. */
export const SURVEY_STEPS: readonly Step[] = [
  { content: LIST, estimate: 0.1 },
  { content: COUNT, after: [1], estimate: 0.05 },
  { content: BEGINNINGS, after: [1], estimate: 0.05 },
  ...JOBS.map(({ step }) => ({ content: step, after: [1], estimate: 0.1 })),
  { content: WRITE, after: [2, 3, ...JOBS.map((_, at) => at + 4)], estimate: 0.05 },
  { content: CHECK, after: [JOBS.length + 4], estimate: 0.05 },
];

/** Surveys a folder. Each answer is the next step, computed from all calls so far. */
export function survey(conversation: Conversation, base: string, tools: readonly string[]): Answer {
  const plan = new Plan(SURVEY_STEPS, conversation, tools);
  if (plan.rejection !== undefined) return `Nothing was surveyed. ${plan.rejection}`;
  return plan.opening.length > 0 ? plan.opening : new Survey(conversation, plan, tools).next(base);
}

/** The state of a survey. Its methods return the next answer; undefined if their step is finished. */
class Survey {
  readonly #conversation: Conversation;
  readonly #plan: Plan;
  readonly #canDelegate: boolean;
  readonly #done: string[] = [];
  readonly #blocked = new Map<string, string>();

  constructor(conversation: Conversation, plan: Plan, tools: readonly string[]) {
    this.#conversation = conversation;
    this.#plan = plan;
    this.#canDelegate = tools.includes("task");
  }

  next(base: string): Answer {
    const listing = listFiles(this.#conversation, base);
    const { problem } = listing;
    const objection = listing.next.length > 0 ? this.#plan.objection(LIST) : undefined;
    if (problem !== undefined) this.#blocked.set(LIST, problem);
    if (problem !== undefined || objection !== undefined)
      return this.#close(`Nothing was surveyed: ${problem ?? objection}.`);
    if (listing.next.length > 0) return this.#work(listing.next);
    this.#done.push(LIST);
    const findings: Findings = { listing, largest: [], sections: [], omitted: new Map() };
    return this.#lookAtLargest(findings) ?? this.#delegate(findings) ?? this.#write(findings);
  }

  #lookAtLargest({ listing, largest, omitted }: Findings): Answer | undefined {
    const files = listing.files
      .filter(({ size }) => size > 0)
      .toSorted((a, b) => b.size - a.size)
      .slice(0, MOST_LARGE)
      .map((file) => ({
        ...file,
        count: call("grep", { pattern: "^", path: file.path, regex: true, output: "count" }),
        look: call("read_file", { file_path: file.path, limit: 1 }),
      }));
    for (const [step, calls] of [
      [COUNT, files.map(({ count }) => count)],
      [BEGINNINGS, files.map(({ look }) => look)],
    ] as const) {
      const open = calls.filter((each) => !this.#conversation.findCall(each));
      if (open.length === 0) this.#done.push(step);
      else if (this.#isWanted(step, omitted)) return this.#work(open.slice(0, AT_ONCE));
    }
    for (const { path, size, count, look } of files) {
      const lines = /:(\d+)$/m.exec(this.#resultOf(count))?.[1];
      const begins = /^ *1\t(.*\S.*)$/m.exec(this.#resultOf(look))?.[1]?.trim();
      largest.push({
        path,
        size,
        ...(lines !== undefined && { lines: Number(lines) }),
        ...(begins !== undefined && { begins: shortened(begins, MOST_CHARACTERS) }),
      });
    }
    return undefined;
  }

  /** Starts all sub-agents in one turn; without sub-agents, does their jobs one by one. */
  #delegate({ listing, sections, omitted }: Findings): Answer | undefined {
    const open: Call[][] = [];
    for (const job of JOBS) {
      const { title, step } = job;
      const task = this.#conversation.calls.findLast(
        ({ name, args }) => name === "task" && String(args["description"]).startsWith(`${title}:`),
      );
      const { next, report } = task
        ? { next: [], report: reportIn(task) }
        : this.#canDelegate
          ? { next: [this.#start(job, listing.base)], report: "" }
          : workOn(job, this.#conversation, listing.base);
      if (next.length > 0) {
        if (this.#isWanted(step, omitted)) open.push(next);
      } else if (task?.failed) {
        const reason = reasonIn({ args: task.args, result: report });
        omitted.set(step, reason);
        this.#blocked.set(step, reason);
      } else {
        this.#done.push(step);
        sections.push({ title, text: report });
      }
    }
    const now = this.#canDelegate ? open : open.slice(0, 1);
    return now.length > 0 ? this.#work(now.flat()) : undefined;
  }

  #start(job: Job, base: string): Call {
    const description = describeJob(job, base);
    const todo_id = this.#plan.idOf(job.step);
    const todo = todo_id === undefined ? {} : { todo_id };
    return call("task", { description, subagent_type: "general-purpose", ...todo });
  }

  /** Writes the report, never over a file that is no report, and then checks it. */
  #write(findings: Findings): Answer {
    const { calls, findCall } = this.#conversation;
    const lastWrite = calls.findLast(({ name }) => name === "write_file");
    if (!lastWrite) {
      const [usual, other] = REPORTS;
      const find = call("glob", { pattern: usual });
      const look = call("read_file", { file_path: usual, limit: REPORT_START });
      const exists = this.#resultOf(find).split("\n").includes(usual);
      const file_path = exists && !isReport(this.#resultOf(look)) ? other : usual;
      const write = call("write_file", { file_path, content: renderReport(findings) });
      const next = !findCall(find) ? find : exists && !findCall(look) ? look : write;
      const objection = this.#plan.objection(WRITE);
      if (objection === undefined) return this.#work([next]);
      return this.#close(renderAnswer(findings, `No report was written: ${objection}.`));
    }
    if (lastWrite.failed) {
      const reason = reasonIn(lastWrite);
      this.#blocked.set(WRITE, reason);
      return this.#close(renderAnswer(findings, `The report could not be written: ${reason}.`));
    }
    this.#done.push(WRITE);
    return this.#check(findings, String(lastWrite.args["file_path"]));
  }

  #check(findings: Findings, path: string): Answer {
    const look = call("read_file", { file_path: path, limit: REPORT_START + 1 });
    const objection = this.#plan.objection(CHECK);
    const isOpen = !this.#conversation.findCall(look);
    if (isOpen && objection === undefined) return this.#work([look]);
    const place = `The report is in ${local(path)}`;
    if (isOpen) return this.#close(renderAnswer(findings, `${place}, but it was not checked: ${objection}.`));
    if (isReport(this.#resultOf(look))) this.#done.push(CHECK);
    else this.#blocked.set(CHECK, "it does not hold what was written");
    const problem = this.#blocked.get(CHECK);
    return this.#close(renderAnswer(findings, problem ? `${place}, but ${problem}.` : `${place}.`));
  }

  #resultOf(each: Call): string {
    const finished = this.#conversation.findCall(each);
    return finished && !finished.failed ? finished.result : "";
  }

  #isWanted(step: string, omitted: Map<string, string>): boolean {
    const objection = this.#plan.objection(step);
    if (objection !== undefined) omitted.set(step, objection);
    return objection === undefined;
  }

  #work(calls: Call[]): Call[] {
    return [...this.#plan.report({ done: this.#done, blocked: this.#blocked }), ...calls];
  }

  #close(answer: string): Answer {
    return this.#plan.close({ done: this.#done, blocked: this.#blocked }, answer);
  }
}

/** A large file. Its number of lines and its beginning are missing if they were not read. */
interface LargeFile extends ListedFile {
  lines?: number;
  begins?: string;
}

interface Findings {
  listing: Listing;
  largest: LargeFile[];
  sections: { title: string; text: string }[];
  /** Skipped steps, with the reason. */
  omitted: Map<string, string>;
}

const SIGNATURE = "Made by Holdfast's offline model";
/** The number of lines by which a report is recognized. */
const REPORT_START = 3;

/** True for a result of `read_file` that shows the beginning of a report. */
function isReport(result: string): boolean {
  return /^ *1\t# Survey/m.test(result) && new RegExp(String.raw`^ *3\t${SIGNATURE}`, "m").test(result);
}

/** The report as Markdown. Paths are relative to the report's directory. */
function renderReport({ listing, largest, sections, omitted }: Findings): string {
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
function renderAnswer({ listing, largest: [first], sections, omitted }: Findings, ending: string): string {
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
