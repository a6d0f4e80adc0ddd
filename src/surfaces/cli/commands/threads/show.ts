import { countTodos, MARKS, renderMermaid } from "../../../../plan/index.ts";
import { itemWords, renderLines, renderRules } from "../../../../plan/render/index.ts";
import type { ThreadSummary } from "../../../../storage/index.ts";
import { jsonText } from "../../../../threads/json-text/index.ts";
import {
  costWords,
  planTitle,
  type PlanRecord,
  costOfThread,
  factsOf,
  threadOf,
  type ThreadState,
  planMarkdown,
  transcript,
} from "../../../../threads/log/index.ts";
import type { Question } from "../../../../threads/questions/index.ts";
import { replay } from "../../../../threads/record/index.ts";
import type { Thread, ThreadContent } from "../../../../threads/thread/index.ts";
import { readPrices } from "../../../../threads/view/index.ts";
import { EXIT } from "../../exit-codes.ts";
import { exact } from "../../output/index.ts";
import type { Terminal } from "../../terminal.ts";
import { withThread, type StateFlags } from "../../threads/index.ts";
import { quoted, refuse } from "../../wording.ts";

export interface ShowFlags extends StateFlags {
  thread: string;
  format: "checklist" | "markdown" | "mermaid" | "json";
  answer?: boolean;
  transcript?: boolean;
  json?: boolean;
  files?: boolean;
  file?: string;
}

/** `holdfast show`: prints the plan of a thread, its answer, or its files. */
export async function show(flags: ShowFlags, terminal: Terminal): Promise<number> {
  const text = await withThread(flags, terminal, async (hostThread, summary) => {
    const thread = await hostThread.read();
    if (flags.transcript || flags.json) return history(flags, summary, thread);
    const content = await thread.content();
    const part = partOf(flags, summary, content);
    if (part !== undefined) return part;
    const questions = await thread.questions();
    const events = await replay(thread, { questions, isRunning: summary.state === "running" });
    const story = threadOf({ events, questions });
    const cost = costOfThread(story, readPrices(terminal.env["HOLDFAST_PRICES"]));
    return planText(flags, summary, { ...content, story, cost });
  });
  const { stdout } = terminal;
  stdout.write(exact(text.endsWith("\n") ? text : `${text}\n`, stdout));
  return EXIT.done;
}

/** The whole thread, as a transcript or as events in JSON. */
async function history({ json }: ShowFlags, { state }: ThreadSummary, thread: Thread): Promise<string> {
  const events = await replay(thread, { isRunning: state === "running" });
  return json ? events.map((event) => jsonText(event)).join("\n") : transcript(events);
}

/** The file, the list of files or the answer, as the flags ask for; undefined without such a flag. */
function partOf(
  { answer, files: listed, file }: ShowFlags,
  { id }: ThreadSummary,
  thread: ThreadContent,
): string | undefined {
  if (file !== undefined) return contentOf(file, thread);
  if (listed)
    return Object.keys(thread.files).toSorted().join("\n") || `Thread ${quoted(id)} holds no files.`;
  return answer ? thread.answer || `Thread ${quoted(id)} has no answer yet.` : undefined;
}

/** All plans of the thread, the current one last, with costs and open questions. */
function planText(
  { format }: ShowFlags,
  summary: ThreadSummary,
  { todos, rules, answer, story, cost }: ShownThread,
): string {
  const { questions, time } = story;
  const current = { at: 0, ...story.plans.at(-1), todos, rules };
  const plans = todos.length > 0 ? [...story.plans.slice(0, -1), current] : story.plans;
  if (format === "json") {
    const plan = { plan: todos, rules: rules.length > 0 ? rules : undefined, plans };
    return jsonText({ ...summary, ...plan, questions, ...time, answer }, 2);
  }
  const openQuestions = questions.map(questionText);
  if (plans.length === 0 && openQuestions.length === 0)
    return `Thread ${quoted(summary.id)} has no plan; see --answer.`;
  if (format === "mermaid") return renderMermaid(todos);
  const parts = plans.map((plan, index) => {
    const title = planTitle(plan, index + 1, plans.length);
    if (format === "markdown") return `## ${title}\n\n${planMarkdown(plan).trimEnd()}`;
    return plans.length > 1 ? `${title}\n\n${checklist(plan)}` : checklist(plan);
  });
  return [...parts, factsOf(story, cost).join(" · "), ...openQuestions].join("\n\n");
}

interface ShownThread extends ThreadContent {
  story: ThreadState;
  cost: number | undefined;
}

/** A plan in lines, with the costs of its items. */
function checklist({ todos, rules }: PlanRecord): string {
  const lines = todos.map((todo) => {
    const cost =
      todo.actuals && todo.status !== "in_progress" ? ` (${costWords(todo.actuals).join(", ")})` : "";
    return `${MARKS[todo.status]} #${todo.id}: ${itemWords(todo)}${cost}`;
  });
  const { completed, total, cancelled } = countTodos(todos);
  const below = rules.length > 0 ? ["", renderRules(rules)] : [];
  return [...lines, "", `(${completed}/${total - cancelled} completed)`, ...below].join("\n");
}

/** An open question, with its options. */
function questionText({ text, options, todos = [] }: Question): string {
  const choices = options.map((option, index) => `  ${index + 1}. ${option}`);
  const plan = todos.length > 0 ? [renderLines(todos)] : [];
  return [`Waiting for an answer: ${text}`, ...plan, ...choices].join("\n");
}

function contentOf(file: string, { files }: ThreadContent): string {
  const content = files[file] ?? files[`/${file}`];
  if (content !== undefined) return content;
  const names = Object.keys(files).toSorted().slice(0, 10).join(", ") || "none";
  refuse(`There is no file ${JSON.stringify(file)} in the thread; there are: ${names}.`);
}
