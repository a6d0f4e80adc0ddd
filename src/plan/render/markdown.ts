import { attempt } from "../../errors.ts";
import { type Status } from "../../vocabulary.ts";
import { PRIORITIES, type Issue, type OptionalField, type Todo } from "../todo/index.ts";
import { MARKS } from "./render.ts";

/** An item of a Markdown task list. A line added by hand has no id. */
export type MarkdownTodo = Omit<Todo, "id"> & { id?: string };

/** The items of a Markdown list, or the reasons why it is not a plan. */
export type MarkdownResult = { ok: true; todos: MarkdownTodo[] } | { ok: false; issues: Issue[] };

/** A detail of an item, in a line below it. If `read` returns undefined, that is an issue, provided `valid` is set. */
interface Detail {
  field: OptionalField;
  write?: (value: never) => string;
  read: (text: string) => unknown;
  valid?: string;
}

const trimmed = (text: string): string => text.trim();
const yes = (text: string): true | undefined => /^(?:yes|true)$/i.test(text.trim()) || undefined;

const DETAILS: Readonly<Record<string, Detail>> = {
  priority: {
    field: "priority",
    read: (text) => PRIORITIES.find((priority) => priority === text),
    valid: "high, medium or low",
  },
  after: {
    field: "dependsOn",
    write: (ids: string[]) => ids.join(", "),
    read: (text) => text.split(",").flatMap((id) => id.trim().replace(/^#+/, "") || []),
  },
  estimate: {
    field: "estimate",
    read: (text) => (/^\d+(?:\.\d+)?(?:e[+-]?\d+)?$/.test(text) ? Number(text) : undefined),
    valid: "minutes as a number",
  },
  note: { field: "note", read: trimmed },
  key: { field: "key", read: trimmed },
  "must verify": { field: "mustVerify", write: () => "yes", read: yes },
  unverified: { field: "unverified", write: () => "yes", read: yes },
  actuals: {
    field: "actuals",
    write: JSON.stringify,
    read: (text) => attempt((): unknown => JSON.parse(text)),
    valid: "the value as it was exported",
  },
};
const DETAIL = new RegExp(String.raw`^\s{2,}[-*+] (${Object.keys(DETAILS).join("|")}): (.*)$`, "u");

/**
 * A plan as a Markdown task list that the user can edit and `parseMarkdown` reads back unchanged.
 *
 * @example
 * ```ts
 * import { renderMarkdown } from "holdfast/plan";
 *
 * renderMarkdown([{ id: "1", content: "Build", status: "completed" }]); // "- [x] #1: Build\n"
 * ```
 */
export function renderMarkdown(todos: readonly Todo[]): string {
  return todos
    .flatMap((todo) => [
      `- ${MARKS[todo.status]} #${formatId(todo.id)}: ${todo.content}`,
      ...Object.entries(DETAILS).flatMap(([name, { field, write = String }]) =>
        todo[field] === undefined ? [] : `  - ${name}: ${write(todo[field] as never)}`,
      ),
    ])
    .map((line) => `${line}\n`)
    .join("");
}

/**
 * Reads a Markdown task list. Skips headings, prose and blank lines. Values are not checked against
 * a policy here: give the result to `applyWrite`.
 *
 * @example
 * ```ts
 * import { applyWrite, EMPTY_PLAN, LEAN_POLICY, parseMarkdown } from "holdfast/plan";
 *
 * const read = parseMarkdown("# Release\n\n- [x] #1: Build\n- [ ] #2: Test\n");
 * const result = read.ok ? applyWrite(EMPTY_PLAN, read.todos, LEAN_POLICY, { author: "person" }) : read;
 * console.log(result.ok ? result.plan.todos : result.issues);
 * ```
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
    const [, name = "", text = ""] = DETAIL.exec(line) ?? [];
    const todo = todos.at(-1);
    if (!todo || name === "") return;
    const { field, read, valid } = DETAILS[name]!;
    const value = read(text);
    if (value !== undefined) Object.assign(todo, { [field]: value });
    else if (valid !== undefined) issues.push(badDetail(name, { text, valid, line: index + 1 }));
  });
  return issues.length > 0 ? { ok: false, issues } : { ok: true, todos };
}

/** An id as text: as a JSON string if it could not be told apart from the text around it. */
function formatId(id: string): string {
  return /^[^\s":]+$/.test(id) ? id : JSON.stringify(id);
}

function readId(text: string): string {
  return (text.startsWith('"') ? attempt(() => String(JSON.parse(text))) : undefined) ?? text;
}

function badDetail(
  field: string,
  { text: sent, valid, line }: { text: string; valid: string; line: number },
): Issue {
  const message = `Line ${line}: ${field} is "${sent}"; use ${valid}.`;
  return { rule: "field", item: `line ${line}`, field, sent, valid, message };
}

function statusOf(mark: string): Status | undefined {
  const target = `[${mark.toLowerCase()}]`;
  return (Object.keys(MARKS) as Status[]).find((status) => MARKS[status] === target);
}

function badMark(mark: string, line: number): Issue {
  const valid = Object.entries(MARKS)
    .map(([status, text]) => `${text} ${status}`)
    .join(", ");
  const message = `Line ${line}: "[${mark}]" is not a mark; use ${valid}.`;
  return { rule: "status", item: `line ${line}`, field: "status", sent: mark, valid, message };
}
