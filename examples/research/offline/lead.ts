import { isDeepStrictEqual } from "node:util";
import { contentWords, sentencesOf } from "../words.ts";
import { call, type Answer, type Conversation, type DoneCall } from "./conversation.ts";
import { describeReview } from "./critique.ts";
import { readDefects } from "./defects.ts";
import { readFindings, type Topic } from "./findings.ts";
import { draftReport, reviseReport } from "./report.ts";
import { describeJob } from "./researcher.ts";

const REPORT = "/final_report.md";
const FOLLOW_UP = "/research/follow-up.md";

/** Plans, sends researchers, writes, has the report reviewed and revises it: one step per call. */
export function lead({ request, calls }: Conversation): Answer {
  const question = request.replaceAll(/\s+/g, " ");
  const topics = topicsOf(question);
  if (topics.length === 0)
    return "Ask me a question, and I will look for sentences in the sources that answer it.";
  const refused = calls.find(({ name, failed }) => failed && name !== "task");
  if (refused) return `I stopped, because ${refused.name} failed. ${refused.result}`;

  const made = (name: string): DoneCall[] => calls.filter((one) => one.name === name);
  const tasks = (type: string): DoneCall[] =>
    made("task").filter(({ args }) => args["subagent_type"] === type);
  const [writing, reviewing, revising, following] = [1, 2, 3, 4].map((more) => String(topics.length + more));
  const [plan] = made("write_todos");
  const jobs = tasks("researcher").slice(0, topics.length);
  const [draft] = made("write_file");
  const [review] = tasks("critique");
  const followUp = tasks("researcher")[topics.length];

  if (!plan) {
    const todos = [
      ...topics.map(titleOf),
      `Write ${REPORT}`,
      "Have the report reviewed",
      "Revise the report",
    ];
    return [call("write_todos", { todos })];
  }
  if (jobs.length === 0) {
    return topics.map((topic, index) =>
      task("researcher", describeJob(topic, findingsPath(index)), String(index + 1)),
    );
  }
  if (!draft) {
    const failed = jobs.flatMap((job, index) => (job.failed ? [String(index + 1)] : []));
    const sections = topics.map((topic, index) => {
      const { result } = jobs[index]!;
      const error = /^Error: .+$/m.exec(result)?.[0];
      const failure = error && (sentencesOf(error)[0] ?? error);
      return { title: titleOf(topic), findings: readFindings(result), failure };
    });
    return [
      call("update_todos", { start: writing, ...(failed.length > 0 && { cancel: failed.join(",") }) }),
      call("write_file", { file_path: REPORT, content: draftReport(question, sections) }),
    ];
  }
  if (!review) {
    const description = describeReview(
      question,
      REPORT,
      topics.map((_, index) => findingsPath(index)),
    );
    return [call("update_todos", { done: writing }), task("critique", description, reviewing!)];
  }

  const defects = readDefects(review.result);
  const missing = defects.flatMap((defect) => (defect.kind === "missing" ? [defect.word] : []));
  if (missing.length > 0 && !followUp) {
    const part = missing.join(" ");
    return [
      call("update_todos", { add: [`Follow up: ${missing.join(", ")}`] }),
      task("researcher", describeJob({ part, question, want: "mentions" }, FOLLOW_UP), following!),
    ];
  }
  if (defects.length > 0 && made("edit_file").length === 0) {
    const further = followUp ? readFindings(followUp.result) : [];
    const edits = reviseReport(String(draft.args["content"]), defects, further);
    return edits.map((edit) => call("edit_file", { file_path: REPORT, ...edit }));
  }
  const failed = [review, followUp].flatMap((one) => (one?.failed ? [one.args["todo_id"]] : []));
  const cancel = [...failed, ...(defects.length > 0 ? [] : [revising])].join(",");
  const closing = { ...(defects.length > 0 && { done: revising }), ...(cancel && { cancel }) };
  if (!made("update_todos").some(({ args }) => isDeepStrictEqual(args, closing))) {
    return [call("update_todos", closing)];
  }
  const points = `${defects.length || "no"} point${defects.length === 1 ? "" : "s"}`;
  return `The report is in ${REPORT}. The review ${review.failed ? "failed" : `raised ${points}`}.`;
}

const QUESTION =
  "how|what|why|when|where|which|who|is|are|was|were|do|does|did|can|could|should|will|would|has|have";
const MOST_PARTS = 3;

/** The parts of a question, and the figures on it. Nothing when it has no words to search for. */
function topicsOf(question: string): Topic[] {
  const parts = question
    .split(
      new RegExp(
        `[?;.!](?:\\s+|$)|,?\\s+(?:and|but|or)\\s+(?=(?:${QUESTION})\\b)|,\\s+(?=(?:how|what|why)\\b)`,
        "i",
      ),
    )
    .filter((part) => contentWords(part).size > 0)
    .slice(0, MOST_PARTS)
    .map((part): Topic => ({ part, question, want: "answers" }));
  return parts.length > 0 ? [...parts, { part: question, question, want: "figures" }] : [];
}

function titleOf({ part, want }: Topic): string {
  return want === "figures" ? "Figures" : part[0]!.toUpperCase() + part.slice(1);
}

function findingsPath(index: number): string {
  return `/research/${index + 1}.md`;
}

function task(subagent_type: string, description: string, todo_id: string) {
  return call("task", { description, subagent_type, todo_id });
}
