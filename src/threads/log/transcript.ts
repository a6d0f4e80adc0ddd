import { MARKS, type Change, type Todo } from "../../plan/index.ts";
import { PLAN_TOOLS } from "../../plan/presets/index.ts";
import { itemWords, renderRules } from "../../plan/render/index.ts";
import { isFigureChange } from "../../plan/todo/index.ts";
import type { RunEvent } from "../events/index.ts";
import { jsonText } from "../json-text/index.ts";
import { MAIN, ownerName } from "../view/index.ts";
import { shownArguments } from "./arguments.ts";
import { lineDiff } from "./line-diff.ts";
import { itemFacts, planSections, type PlanRecord } from "./plans.ts";
import { factsOf, type ThreadState } from "./thread.ts";
import { clockOf } from "./timeline/lanes.ts";
import { answerWords, clock, duration, failureWord, inSight, sentBackWords, summaryWords } from "./words.ts";

/** A thread as Markdown: messages, answers, calls and results. */
export function transcript(events: readonly RunEvent[]): string {
  const lastAnswers = new Map<string, string>();
  for (const event of events) {
    if (event.type === "model-end" && event.text.trim()) lastAnswers.set(event.owner, event.text.trim());
  }
  const reports = new Map(
    [...lastAnswers].map(([owner, text]) => [owner.slice(owner.lastIndexOf(":") + 1), text]),
  );
  return `${events.flatMap((event) => partOf(withoutReport(event, reports))).join("\n\n")}\n`;
}

/** The result of a task without its sub-agent's last answer, which is in the transcript already. `reports`: those by call. */
function withoutReport(event: RunEvent, reports: ReadonlyMap<string, string>): RunEvent {
  if (event.type !== "tool-end" || event.name !== "task") return event;
  const report = reports.get(event.call);
  const { output = event.result } = event;
  return report === undefined || !output.startsWith(report)
    ? event
    : { ...event, output: output.slice(report.length).trimStart() };
}

/** A thread as one Markdown file: its plans, the current one first, the timeline, and the conversation. */
export function exportMarkdown(
  title: string,
  thread: ThreadState,
  { events, cost }: { events: readonly RunEvent[]; cost?: number },
): string {
  const { plans, spans } = thread;
  const sections: [id: string, title: string, text: string][] = [
    ...planSections(plans).map((section): [string, string, string] => [
      section.id,
      section.title,
      planMarkdown(section.plan),
    ]),
    ...(spans.length > 0
      ? [["timeline", "Timeline", timelineMarkdown(thread)] as [string, string, string]]
      : []),
    ["conversation", "Conversation", transcript(events)],
  ];
  const contents = sections.map(([id, head]) => `- [${plainLine(head)}](#${id})`).join("\n");
  const parts = sections.map(
    ([id, head, text]) => `<a id="${id}"></a>\n\n## ${plainLine(head)}\n\n${text.trimEnd()}`,
  );
  return `${[`# ${plainLine(title)}`, factsOf(thread, cost).join(" · "), contents, ...parts].join("\n\n")}\n`;
}

/** A plan as a Markdown task list, with its rules and the costs of its items. */
export function planMarkdown({ todos, rules }: Pick<PlanRecord, "todos" | "rules">): string {
  const items = todos.map((todo) => {
    const facts = itemFacts(todo).map(plainLine).join(" · ");
    return `- [${todo.status === "completed" ? "x" : " "}] ${plainLine(todo.content)} *(${facts})*`;
  });
  const above =
    rules.length > 0 ? [`Rules:\n\n${rules.map((rule) => `- ${plainLine(rule)}`).join("\n")}`] : [];
  return `${[...above, items.join("\n")].join("\n\n")}\n`;
}

function timelineMarkdown({ spans }: ThreadState): string {
  const timeOf = clockOf(spans, Infinity);
  const rows = spans.map((span) => {
    const { kind, label, from, to, owner } = span;
    const took = to === undefined ? "not finished" : duration(timeOf(span));
    const by = owner === MAIN ? "" : ` (${ownerName(owner)})`;
    const cells = [clock(from), took, kind, [`${label}${by}`, failureWord(span)].filter(Boolean).join(", ")];
    return `| ${cells.map((cell) => plainLine(cell).replaceAll("|", "\\|")).join(" | ")} |`;
  });
  return ["| began | took | what | |", "|---|---|---|---|", ...rows].join("\n");
}

/** Text as one line, with Markdown and HTML escaped. */
function plainLine(text: string): string {
  return inSight(text)
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll(/[\\`*_[\]<>#&]/g, (sign) => `\\${sign}`);
}

function partOf(event: RunEvent): string[] {
  switch (event.type) {
    case "run-start":
      return event.task === undefined ? [] : [`## You\n\n${event.task}`];
    case "message":
      return [`## You\n\n${event.text}`];
    case "model-start": {
      const words = sentBackWords(event);
      return words === undefined ? [] : [`*${words}*`];
    }
    case "model-end":
      return [
        ...(event.thoughts ? [folded(`${speaker(event.owner)}: thoughts`, event.thoughts)] : []),
        ...(event.text.trim() ? [`## ${speaker(event.owner)}\n\n${event.text.trim()}`] : []),
      ];
    case "plan-change":
      if (!event.rules && event.changes.every((change) => isFigureChange(change as Change))) return [];
      return event.owner === MAIN ? [planText(event.todos, event.rules)] : [];
    case "plan-snapshot":
      return event.owner === MAIN ? [planText(event.todos, event.rules)] : [];
    case "tool-end": {
      const { owner, name, about, args, ok, verdict, result, output = result } = event;
      if (ok && PLAN_TOOLS.has(name)) return [];
      const by = owner === MAIN ? "" : ` (${ownerName(owner)})`;
      const argsText = args === undefined ? "" : `\n\n${argumentsText(name, args)}`;
      const sign = ok ? "✓" : verdict === "part" ? "◐" : "✗";
      return [`### ${sign} ${name} ${about}${by}${argsText}\n\n${fenced(output)}`];
    }
    case "question":
      return [`## A question\n\n${event.text}`];
    case "answer": {
      const { answer, question } = event;
      const prefix = question?.text ? `${question.text}\n\n` : "";
      return [`## A decision\n\n${prefix}${answerWords(answer, question)}`];
    }
    case "summary":
      return [`*${event.owner === MAIN ? "" : `${ownerName(event.owner)}: `}${summaryWords(event)}*`];
    case "run-end":
      return event.outcome === "done" ? [] : [`*${event.error ?? event.outcome}*`];
    default:
      return [];
  }
}

/** The arguments of a call: a diff for a changed file, else JSON. */
function argumentsText(name: string, args: unknown): string {
  if (typeof args !== "object" || args === null) return fenced(jsonText(args, 2), "json");
  const call = shownArguments(name, args as Record<string, unknown>);
  const changes =
    call.type === "edit" ? call.edits : call.type === "write" ? [{ before: "", after: call.content }] : [];
  const diffs = changes.flatMap(({ before, after }) => {
    const diff = lineDiff(before, after);
    return diff ? [diff] : [];
  });
  if (diffs.length === 0 || diffs.length < changes.length) return fenced(jsonText(args, 2), "json");
  const hunks = diffs.flat();
  const lines = hunks.map((hunk) => hunk.lines.map(({ kind, text }) => `${SIGNS[kind]}${text}`).join("\n"));
  return fenced(lines.join("\n@@\n"), "diff");
}

const SIGNS = { same: " ", added: "+", removed: "-" } as const;

function speaker(owner: string): string {
  return owner === MAIN ? "Agent" : `Sub-agent ${ownerName(owner)}`;
}

function planText(todos: readonly Todo[], rules: readonly string[] = []): string {
  const items = todos.map((todo) => `- ${MARKS[todo.status]} ${itemWords(todo)}`).join("\n");
  return rules.length > 0 ? `${renderRules(rules)}\n\n${items}` : items;
}

/** Text in a collapsed section. */
function folded(title: string, text: string): string {
  return `<details><summary>${plainLine(title)}</summary>\n\n${fenced(text)}\n\n</details>`;
}

/** A fenced block that nothing in the text closes. */
function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}
