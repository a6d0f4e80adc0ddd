import { PLAN_TOOLS } from "../../../plan/presets/index.ts";
import type { Todo } from "../../../plan/todo/index.ts";
import { MAIN } from "../../view/index.ts";
import type { CallEntry, Entry } from "../entries.ts";
import { itemFacts, planSections } from "../plans.ts";
import { agentOf, factsOf, type ThreadState, timeWords } from "../thread.ts";
import { type Bar, timelineOf } from "../timeline/lanes.ts";
import { answerWords, changeWords, duration, failureWord, inSight } from "../words.ts";
import { argumentParts } from "./call-parts.ts";
import { prose, type MakeElement } from "./prose.ts";

/**
 * A thread as one self-contained HTML file. Text of models and tools is escaped. It has no script, and its content security
 * policy allows none.
 */
export function exportHtml(title: string, thread: ThreadState, cost?: number): string {
  const sections = planSections(thread.plans);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
<p class="about">${escaped(factsOf(thread, cost).join(" · "))}</p>
${contentsHtml([...sections, ...(thread.spans.length > 0 ? [TIMELINE] : []), CONVERSATION])}
${sections.map((section) => planHtml(section.plan.todos, section.plan.rules, section)).join("\n")}
${timelineHtml(thread)}
<h2 id="${CONVERSATION.id}">${CONVERSATION.title}</h2>
${entriesHtml(thread, MAIN)}
</body>
</html>
`;
}

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.6 system-ui,sans-serif;max-width:46rem;margin:3rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1rem}.about,.note{opacity:.7;font-size:.875rem}.text{white-space:pre-wrap;overflow-wrap:anywhere}
.task{border-left:3px solid;padding-left:1rem;font-weight:600}pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.8125rem;border:1px solid;border-radius:6px;padding:.75rem;opacity:.85}
.prose{overflow-wrap:anywhere}.heading{font-weight:600}table{border-collapse:collapse}th,td{border:1px solid;padding:.25rem .5rem;text-align:left}blockquote{border-left:3px solid;margin-left:0;padding-left:1rem}
.helper{border-left:1px solid;margin:1rem 0;padding-left:1rem}summary{cursor:pointer}dd{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}
svg{width:100%}svg text{font-size:13px;fill:currentColor}rect{fill:#7a8699}rect.item{fill:#2f7ad1}rect.helper{fill:#8a63d2}rect.question{fill:#c98a12}rect.failed{fill:#c8323c}
.hidden{position:absolute;clip-path:inset(50%)}.diff td{border:0;padding:0 .5rem;white-space:pre-wrap;font-family:monospace}.line-added{background:#2ea04333}.line-removed{background:#f8514933}`;

interface Section {
  id: string;
  title: string;
}

const TIMELINE: Section = { id: "timeline", title: "Timeline" };
const CONVERSATION: Section = { id: "conversation", title: "Conversation" };

function contentsHtml(sections: readonly Section[]): string {
  const links = sections.map(({ id, title }) => `<li><a href="#${id}">${escaped(title)}</a></li>`);
  return `<nav aria-label="Contents"><ul>${links.join("")}</ul></nav>`;
}

function planHtml(
  todos: readonly Todo[],
  rules: readonly string[] = [],
  { id, title }: Partial<Section> = {},
): string {
  if (todos.length === 0) return "";
  const items = todos.map((todo) => {
    const facts = itemFacts(todo).join(" · ");
    return `<li>${escaped(todo.content)} <span class="about">${escaped(facts)}</span></li>`;
  });
  const ruleItems = rules.map((rule) => `<li>${escaped(rule)}</li>`).join("");
  const above = ruleItems === "" ? "" : `<h3>Rules</h3>\n<ul>${ruleItems}</ul>\n`;
  const head = id === undefined ? "<h2>Plan</h2>" : `<h2 id="${id}">${escaped(title ?? "Plan")}</h2>`;
  return `${head}\n${above}<ol>${items.join("")}</ol>`;
}

function entriesHtml(thread: ThreadState, owner: string): string {
  return thread.entries
    .filter((entry) => entry.owner === owner)
    .map((entry) => entryHtml(entry, thread))
    .join("\n");
}

function thoughtsHtml(thoughts: string | undefined): string {
  return thoughts === undefined
    ? ""
    : `<details class="thoughts"><summary>Thoughts</summary><p class="text about">${escaped(thoughts)}</p></details>\n`;
}

const element: MakeElement<{ html: string }> = (tag, attributes, ...content) => {
  const attributeTexts = Object.entries(attributes).map(
    ([name, value]) => ` ${name === "className" ? "class" : name.toLowerCase()}="${escaped(String(value))}"`,
  );
  const inner = content.map((one) => (typeof one === "string" ? escaped(one) : one.html)).join("");
  const isEmpty = tag === "br" || tag === "hr";
  return { html: `<${tag}${attributeTexts.join("")}>${inner}${isEmpty ? "" : `</${tag}>`}` };
};

function entryHtml(entry: Entry, thread: ThreadState): string {
  switch (entry.kind) {
    case "task":
      return `<p class="text task">${escaped(entry.text)}</p>`;
    case "text":
      return `${thoughtsHtml(entry.thoughts)}${prose(entry.text, element).html}`;
    case "call":
      // Its effect is shown as a change of the plan.
      return PLAN_TOOLS.has(entry.name) && entry.ok ? "" : callHtml(entry);
    case "helper": {
      const helper = thread.helpers.get(entry.helper);
      if (!helper) return "";
      const head = `${helper.name} (${helper.model})`;
      const plan = planHtml(agentOf(thread, helper.owner)?.todos ?? []);
      return `<div class="helper"><h2>${escaped(head)}</h2><p class="text about">${escaped(helper.description)}</p>${plan}${entriesHtml(thread, helper.owner)}</div>`;
    }
    case "plan": {
      const words = changeWords(entry);
      return words ? `<p class="note">${escaped(`Plan: ${words}`)}</p>` : "";
    }
    case "question": {
      const { question, answer } = entry;
      const { kind, call, text } = question;
      const words =
        answer === undefined ? "Not answered yet." : answerWords(answer, { kind, name: call?.name });
      return `<p class="text note">${escaped([text, words].filter(Boolean).join("\n"))}</p>`;
    }
    case "notice":
      return `<p class="note">${escaped(entry.text)}</p>`;
    case "end":
      return `<p class="note">${escaped([`Run ended: ${entry.outcome}`, entry.error].filter(Boolean).join(". "))}</p>`;
  }
}

const WIDTH = 1000;
const ROW = 18;
const HEAD = 20;

/** Durations as bars, with text for readers who cannot see them. */
function timelineHtml({ spans, time }: Pick<ThreadState, "spans" | "time">): string {
  const now = Math.max(0, ...spans.map(({ from, to = from }) => to));
  const { lanes } = timelineOf(spans, now);
  if (lanes.length === 0) return "";
  let top = 0;
  const groups = lanes.map(({ name, rows }) => {
    const title = `<text x="0" y="${top + 14}">${escaped(name)}</text>`;
    top += HEAD;
    const bars = rows.flatMap((row) => {
      const y = top;
      top += ROW;
      return row.bars.map((bar) => barSvg(bar, y));
    });
    return title + bars.join("");
  });
  return `<h2 id="timeline">Timeline</h2>
<p class="about">${escaped(timeWords(time).join(", "))}</p>
<svg viewBox="0 0 ${WIDTH} ${top}" role="img" aria-label="What took how long">${groups.join("")}</svg>`;
}

function barSvg({ span, start, width, took }: Bar, y: number): string {
  const { kind, label, ok } = span;
  const words = [label, duration(took), failureWord(span)].filter(Boolean).join(", ");
  const x = (start * WIDTH).toFixed(1);
  const wide = (Math.min(width, 1 - start) * WIDTH).toFixed(1);
  const look = `${kind}${ok === false ? " failed" : ""}`;
  return `<rect class="${look}" x="${x}" y="${y}" width="${wide}" height="${ROW - 4}" rx="3"><title>${escaped(words)}</title></rect>`;
}

/** A tool call as a line that opens. */
function callHtml({
  name,
  about,
  at,
  endedAt,
  ok,
  args,
  output,
  result,
  exitCode,
  verdict,
}: CallEntry): string {
  const facts = [
    failureWord({ ok, verdict }),
    exitCode !== undefined && exitCode !== 0 && (exitCode === null ? "stopped" : `exit code ${exitCode}`),
    endedAt === undefined ? "not finished" : endedAt - at >= 1000 && duration(endedAt - at),
  ].filter((fact) => typeof fact === "string");
  const summary = `<code>${escaped(name)}</code> ${escaped(about)} <span class="about">${escaped(facts.join(" · "))}</span>`;
  const text = output ?? result;
  const parts = argumentParts(name, args, element)
    .map(({ html }) => html)
    .join("");
  return `<details><summary>${summary}</summary>${parts}${text ? `<pre>${escaped(text)}</pre>` : ""}</details>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text escaped for HTML, between tags and in quotes. */
function escaped(text: string): string {
  return inSight(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);
}
