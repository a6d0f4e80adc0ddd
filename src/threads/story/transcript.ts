import { itemWords, MARKS, type Todo } from "../../plan/index.ts";
import { renderRules } from "../../plan/render/render.ts";
import type { RunEvent } from "../events/events.ts";
import { jsonText } from "../events/json-text.ts";
import { MAIN, ownerName } from "../events/view.ts";
import { sentBackWords, summaryWords } from "./words.ts";

/** A thread from its first message to its last as Markdown: who said what, what was called and what came of it. */
export function transcript(events: readonly RunEvent[]): string {
  return `${events.flatMap(partOf).join("\n\n")}\n`;
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
      return event.text.trim() ? [`## ${speaker(event.owner)}\n\n${event.text.trim()}`] : [];
    case "plan-change":
    case "plan-snapshot":
      return event.owner === MAIN ? [planText(event.todos as Todo[], event.rules)] : [];
    case "tool-end": {
      const { owner, name, about, args, ok, result, output = result } = event;
      if (ok && PLAN_TOOLS.has(name)) return [];
      const by = owner === MAIN ? "" : ` (${ownerName(owner)})`;
      const given = args === undefined ? "" : `\n\n${fenced(jsonText(args, 2), "json")}`;
      return [`### ${ok ? "✓" : "✗"} ${name} ${about}${by}${given}\n\n${fenced(output)}`];
    }
    case "question":
      return [`## A question\n\n${event.text}`];
    case "answer":
      return [`## Your answer\n\n${fenced(jsonText(event.answer, 2), "json")}`];
    case "summary":
      return [`*${event.owner === MAIN ? "" : `${ownerName(event.owner)}: `}${summaryWords(event)}*`];
    case "run-end":
      return event.outcome === "done" ? [] : [`*${event.error ?? event.outcome}*`];
    default:
      return [];
  }
}

const PLAN_TOOLS = new Set(["write_todos", "update_todos", "todo"]);

function speaker(owner: string): string {
  return owner === MAIN ? "Agent" : `Sub-agent ${ownerName(owner)}`;
}

function planText(todos: readonly Todo[], rules: readonly string[] = []): string {
  const items = todos.map((todo) => `- ${MARKS[todo.status]} ${itemWords(todo)}`).join("\n");
  return rules.length > 0 ? `${renderRules(rules)}\n\n${items}` : items;
}

/** A fence that nothing in the text closes. */
function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}
