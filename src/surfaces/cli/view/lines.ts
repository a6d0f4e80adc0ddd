import { shortened } from "../../../middleware/text/index.ts";
import { countTodos, MARKS, type Change, type Todo } from "../../../plan/index.ts";
import { itemWords } from "../../../plan/render/index.ts";
import { isFigureChange } from "../../../plan/todo/index.ts";
import type { RunEvent } from "../../../threads/events/index.ts";
import { amount, answerWords, dollars, sentBackWords, summaryWords } from "../../../threads/log/index.ts";
import { CONTINUE } from "../../../threads/thread/index.ts";
import { MAIN, tokensOf, workedMs, type RunView } from "../../../threads/view/index.ts";
import {
  clock,
  duration,
  harmless,
  harmlessLines,
  oneLine,
  shown,
  type Harmless,
  STATUS_STYLES,
  type Paint,
} from "../output/index.ts";
import { callLines } from "./call-lines.ts";

type PlanChange = Extract<RunEvent, { type: "plan-change" }>;
type RunEnd = Extract<RunEvent, { type: "run-end" }>;

/** Plain lines for an event; `view` is the state after it. Empty for events that only the live display shows. */
export function linesOf(event: RunEvent, view: RunView, paint: Paint): Harmless[] {
  switch (event.type) {
    case "run-start": {
      // A new run is in the directory that the user just named; a resumed one may be in another.
      const where = event.resumed && event.dir !== undefined ? ` in ${event.dir}` : "";
      const verb = event.resumed ? "resumed" : "started";
      return [paint("dim", oneLine(`${verb} ${event.thread} with ${event.model}${where}`))];
    }
    case "plan-snapshot":
      return [
        ...planLines(event.todos, event.owner, paint),
        ...ruleLines(event.rules ?? [], event.owner, paint),
      ];
    case "plan-change":
      return changeLines(event, paint);
    case "model-end": {
      const text = harmless(event.text).trim();
      return [
        ...(event.thoughts ? [shown`${prefix(event.owner)}${thoughtLine(event.thoughts, paint)}`] : []),
        ...(text ? harmlessLines(text).map((line) => shown`${prefix(event.owner)}${line}`) : []),
      ];
    }
    case "tool-end":
      return callLines(event, paint, { dir: view.dir });
    case "model-retry": {
      const text = `retrying in ${event.seconds} s (${event.reason})`;
      return [shown`${prefix(event.owner)}${paint("yellow", oneLine(text))}`];
    }
    case "subagent-start":
      return [
        shown`${prefix(event.owner)}${paint("magenta", shown`started`)} ${oneLine(shortened(event.description, MAX_EXCERPT))}`,
      ];
    case "subagent-end":
      return [
        shown`${prefix(event.owner)}${oneLine(event.ok ? "finished" : `${event.verdict === "part" ? "finished in part" : "failed"}: ${event.error ?? ""}`)}`,
      ];
    case "message":
      return harmlessLines(harmless(event.text).trim()).map((line) => paint("dim", shown`> ${line}`));
    case "question":
      return questionLines(event, paint);
    case "summary":
    case "summary-failure":
      return [shown`${prefix(event.owner)}${paint("dim", oneLine(summaryWords(event)))}`];
    case "notice":
      return [paint("yellow", oneLine(event.text))];
    case "run-end":
      return endLines(event, view, paint);
    case "model-start": {
      const words = sentBackWords(event);
      return words === undefined ? [] : [shown`${prefix(event.owner)}${paint("dim", oneLine(words))}`];
    }
    case "text":
    case "thought":
    case "completion-refusal":
    case "tool-start":
    case "tool-output":
      return [];
    case "answer":
      return [paint("dim", oneLine(answerWords(event.answer, event.question)))];
  }
}

/** The beginning of the thoughts of a model, in one line. */
export function thoughtLine(thoughts: string, paint: Paint, verb = "thought"): Harmless {
  return paint("dim", oneLine(`${verb}: ${shortened(thoughts, MAX_EXCERPT)}`));
}

/** The most characters of a sub-agent's task, and of thoughts. */
const MAX_EXCERPT = 100;

const MAX_ECHOED = 12;

/** Renders a typed message, above the answer. */
export function echoOf(text: string, paint: Paint): Harmless[] {
  const lines = harmlessLines(text);
  const more = lines.length - MAX_ECHOED;
  const rows = lines.slice(0, MAX_ECHOED).map((line, at) => shown`${at === 0 ? shown`>` : shown` `} ${line}`);
  const rest = more > 0 ? [paint("dim", shown`  … ${more} more lines`)] : [];
  return [shown``, ...rows.map((row) => paint("bold", row)), ...rest];
}

/** The typed text of a message. For `/continue`, the harness wrote another text into the thread. */
export function typedFor(text: string): string {
  return text === CONTINUE ? "/continue" : text;
}

/** All items of a plan, one line each. */
export function planLines(todos: readonly Todo[], owner: string, paint: Paint): Harmless[] {
  return todos.map((todo) => shown`${prefix(owner)}${itemLine(todo, paint)}`);
}

/** A question with its plan and options. */
export function questionLines(
  {
    text,
    options,
    todos,
    rules,
    error,
  }: {
    text: string;
    options: readonly string[];
    todos?: readonly unknown[];
    rules?: readonly string[];
    error?: string;
  },
  paint: Paint,
): Harmless[] {
  return [
    ...(error === undefined ? [] : [paint("red", oneLine(error))]),
    ...harmlessLines(text),
    ...[...planLines((todos ?? []) as Todo[], MAIN, paint), ...ruleLines(rules ?? [], MAIN, paint)].map(
      (line) => shown`  ${line}`,
    ),
    ...options.map((option) => shown`  - ${oneLine(option)}`),
  ];
}

/** The rules of a plan, one line each. */
export function ruleLines(rules: readonly string[], owner: string, paint: Paint): Harmless[] {
  return rules.map((rule) => shown`${prefix(owner)}${paint("dim", shown`rule:`)} ${oneLine(rule)}`);
}

function changeLines({ owner, changes, todos, counts, rules }: PlanChange, paint: Paint): Harmless[] {
  const list = todos as Todo[];
  const isNew = changes.filter(({ type }) => type === "todo-add").length === list.length;
  // A new figure is no news: without this a slow run repeats its items after each answer.
  const ids = new Set(changes.filter((change) => !isFigureChange(change as Change)).map(idOf));
  const changed = isNew ? list : list.filter((todo) => ids.has(todo.id));
  const removals = changes
    .filter(({ type }) => type === "todo-remove")
    .map((change) => oneLine(`removed ${idOf(change)}`));
  const progress = paint("dim", shown`${counts.completed}/${counts.total - counts.cancelled} `);
  return [
    ...changed.map((todo) => shown`${prefix(owner)}${progress}${itemLine(todo, paint)}`),
    ...removals.map((line) => shown`${prefix(owner)}${progress}${line}`),
    ...(rules?.length === 0
      ? [shown`${prefix(owner)}${paint("dim", shown`the plan has no rules any more`)}`]
      : ruleLines(rules ?? [], owner, paint)),
  ];
}

function idOf(change: Record<string, unknown>): string | undefined {
  const { id, todo } = change as { id?: string; todo?: { id: string } };
  return id ?? todo?.id;
}

function itemLine(todo: Todo, paint: Paint): Harmless {
  const { id, status, actuals, note } = todo;
  const took = status === "completed" && actuals ? duration(actuals.elapsedMs) : undefined;
  const tail = oneLine([took, note].filter(Boolean).join("; "));
  const text = paint(STATUS_STYLES[status], oneLine(`${MARKS[status]} ${id} ${itemWords(todo)}`));
  return tail ? shown`${text}${paint("dim", shown` (${tail})`)}` : text;
}

const OUTCOMES = {
  done: ["green", "Done"],
  open: ["yellow", "Stopped with open items"],
  waiting: ["yellow", "Waiting for an answer"],
  failed: ["red", "Failed"],
  interrupted: ["yellow", "Interrupted"],
} as const;

function endLines(event: RunEnd, view: RunView, paint: Paint): Harmless[] {
  const { agents, usage, waitedMs } = view;
  const [style, outcome] = OUTCOMES[event.outcome];
  const isLimitReached = event.reason !== undefined && event.answer !== undefined;
  const word = isLimitReached ? event.answer!.replace(/\.$/, "") : outcome;
  const { completed, cancelled, total } = countTodos(agents.get(MAIN)?.todos ?? []);
  const parts = [
    total > 0 ? `${completed}/${total - cancelled}` : undefined,
    clock(workedMs(view, event.at)),
    waitedMs >= 1000 ? `waited ${clock(waitedMs)}` : undefined,
    tokensOf(usage) > 0 ? `${amount(tokensOf(usage))} tokens` : undefined,
    event.cost === undefined ? undefined : dollars(event.cost),
  ];
  const why = event.error === undefined ? shown`` : shown`: ${oneLine(event.error)}`;
  return [
    shown`${paint(style, oneLine(word))}${why} ${paint("dim", oneLine(`(${parts.filter(Boolean).join(", ")})`))}`,
    // Not `oneLine`, which would merge spaces inside a quoted word.
    ...(event.resume === undefined ? [] : [shown`Continue with: ${harmless(event.resume)}`]),
  ];
}

/** The prefix of a sub-agent's lines: `general-purpose: `. */
function prefix(owner: string): Harmless {
  if (owner === MAIN) return shown``;
  const names = owner.split("/").slice(1);
  return shown`${oneLine(names.map((name) => name.split(":", 1)[0]).join(" / "))}: `;
}
