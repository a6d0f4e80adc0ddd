import { attempt } from "../../errors.ts";
import type { Issue, Status, Todo } from "../todo/todo.ts";
import { MARKS } from "./render.ts";

/** An item as it stands in a Markdown task list. A new line written by hand has no id yet. */
export type MarkdownTodo = Omit<Todo, "id"> & { id?: string };

/** The items of a Markdown list, or the reasons why it is no plan. */
export type MarkdownResult = { ok: true; todos: MarkdownTodo[] } | { ok: false; issues: Issue[] };

/** A plan as a Markdown task list that a person can edit and `parseMarkdown` reads back unchanged. */
export function renderMarkdown(todos: readonly Todo[]): string {
  return todos
    .flatMap((todo) => [
      `- ${MARKS[todo.status]} #${shownId(todo.id)}: ${todo.content}`,
      ...(todo.priority ? [`  - priority: ${todo.priority}`] : []),
      ...(todo.dependsOn ? [`  - after: ${todo.dependsOn.join(", ")}`] : []),
      ...(todo.estimate !== undefined ? [`  - estimate: ${todo.estimate}`] : []),
      ...(todo.note !== undefined ? [`  - note: ${todo.note}`] : []),
      ...(todo.key !== undefined ? [`  - key: ${todo.key}`] : []),
      ...(todo.mustVerify ? ["  - must verify: yes"] : []),
      ...(todo.unverified ? ["  - unverified: yes"] : []),
      ...(todo.actuals ? [`  - actuals: ${JSON.stringify(todo.actuals)}`] : []),
    ])
    .map((line) => `${line}\n`)
    .join("");
}

/**
 * Reads a Markdown task list. Headings, prose and blank lines are passed over. Values are not checked against
 * a policy here: give the result to `applyWrite`.
 */
export function parseMarkdown(markdown: string): MarkdownResult {
  const todos: MarkdownTodo[] = [];
  const issues: Issue[] = [];
  markdown.split(/\r?\n/).forEach((line, index) => {
    const item = /^\s*[-*+] \[(.)\] ?(?:#("(?:[^"\\]|\\.)+"|\S+?): )?(.*)$/u.exec(line);
    if (item) {
      const status = statusOf(item[1]!);
      if (status) todos.push({ ...(item[2] && { id: readId(item[2]) }), content: item[3]!.trim(), status });
      else issues.push(badMark(item[1]!, index + 1));
      return;
    }
    const detail =
      /^\s{2,}[-*+] (priority|after|estimate|note|key|must verify|unverified|actuals): (.*)$/u.exec(line);
    const todo = todos.at(-1);
    if (!detail || !todo) return;
    const issue = readDetail(todo, detail[1] as Detail, detail[2]!, index + 1);
    if (issue) issues.push(issue);
  });
  return issues.length > 0 ? { ok: false, issues } : { ok: true, todos };
}

/** An id that could not be told from the text around it stands as a JSON string. */
function shownId(id: string): string {
  return /^[^\s":]+$/.test(id) ? id : JSON.stringify(id);
}

function readId(shown: string): string {
  return (shown.startsWith('"') ? attempt(() => String(JSON.parse(shown))) : undefined) ?? shown;
}

type Detail = "priority" | "after" | "estimate" | "note" | "key" | "must verify" | "unverified" | "actuals";

function readDetail(todo: MarkdownTodo, name: Detail, value: string, line: number): Issue | undefined {
  const bad = (valid: string): Issue => ({
    rule: "field",
    item: `line ${line}`,
    field: name,
    sent: value,
    valid,
    message: `Line ${line}: ${name} is "${value}"; use ${valid}.`,
  });
  switch (name) {
    case "priority":
      if (value !== "high" && value !== "medium" && value !== "low") return bad("high, medium or low");
      todo.priority = value;
      return undefined;
    case "after":
      todo.dependsOn = value
        .split(",")
        .map((id) => id.trim().replace(/^#+/, ""))
        .filter(Boolean);
      return undefined;
    case "estimate":
      if (!/^\d+(?:\.\d+)?(?:e[+-]?\d+)?$/.test(value)) return bad("minutes as a number");
      todo.estimate = Number(value);
      return undefined;
    case "note":
      todo.note = value.trim();
      return undefined;
    case "key":
      todo.key = value.trim();
      return undefined;
    case "must verify":
      if (isYes(value)) todo.mustVerify = true;
      return undefined;
    case "unverified":
      if (isYes(value)) todo.unverified = true;
      return undefined;
    case "actuals":
      try {
        todo.actuals = JSON.parse(value) as NonNullable<Todo["actuals"]>;
        return undefined;
      } catch {
        return bad("the value as it was exported");
      }
  }
}

function isYes(value: string): boolean {
  return /^(?:yes|true)$/i.test(value.trim());
}

function statusOf(mark: string): Status | undefined {
  const wanted = `[${mark.toLowerCase()}]`;
  return (Object.keys(MARKS) as Status[]).find((status) => MARKS[status] === wanted);
}

function badMark(mark: string, line: number): Issue {
  const valid = Object.entries(MARKS)
    .map(([status, text]) => `${text} ${status}`)
    .join(", ");
  const message = `Line ${line}: "[${mark}]" is not a mark; use ${valid}.`;
  return { rule: "status", item: `line ${line}`, field: "status", sent: mark, valid, message };
}
