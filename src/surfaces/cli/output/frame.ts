import { shortened } from "../../../middleware/text/index.ts";
import { countTodos, MARKS, type Todo } from "../../../plan/index.ts";
import { itemWords } from "../../../plan/render/index.ts";
import { timeLeft } from "../../../threads/events/index.ts";
import { amount, dollars } from "../../../threads/log/index.ts";
import {
  helpersOf,
  MAIN,
  tokensOf,
  workedMs,
  type AgentView,
  type RunView,
  costOf,
  type Prices,
} from "../../../threads/view/index.ts";
import { clock, duration, roughly } from "./amounts.ts";
import { fit, oneLine, shown, type Harmless } from "./harmless.ts";
import { STATUS_STYLES, type Paint } from "./paint.ts";

export interface FrameOptions {
  columns: number;
  /** The maximum number of lines. */
  rows: number;
  now: number;
  paint: Paint;
  prices?: Prices;
}

const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const SPIN_MS = 100;

/** The most lines of a running command's output. */
const MOST_OUTPUT = 4;

/** Renders the live plan, a status line and the end of a command's output as lines that fit the terminal. Pure. */
export function frame(view: RunView, options: FrameOptions): Harmless[] {
  const { rows, columns, paint } = options;
  const main = view.agents.get(MAIN);
  const items = main ? planLines(view, main, { ...options, indent: shown`` }) : [];
  const room = Math.min(MOST_OUTPUT, rows - 1 - items.length);
  const output = main && room > 0 ? outputLines(main, room) : [];
  const lines = [
    ...visibleLines(items, rows - 1, paint),
    statusLine(view, options),
    ...output.map((line) => paint("dim", shown`  ${line}`)),
  ];
  return lines.map((line) => fit(line, columns));
}

/** The last lines that an agent's running command has printed. */
function outputLines(agent: AgentView, most: number): Harmless[] {
  const output = callsOf(agent)[0]?.output?.trimEnd();
  return output ? output.split("\n").slice(-most).map(oneLine) : [];
}

interface Line {
  text: Harmless;
  /** Whether it is about current work; such lines are kept if there is no room for all. */
  isActive: boolean;
}

function planLines(view: RunView, agent: AgentView, options: FrameOptions & { indent: Harmless }): Line[] {
  const helpers = helpersOf(view, agent.owner);
  const { indent } = options;
  const under = (helper: AgentView): Line[] => helperLines(view, helper, options);
  const own = agent.todos.flatMap((todo) => [
    {
      text: shown`${indent}${itemText(view, agent, todo, options)}`,
      isActive: todo.status === "in_progress",
    },
    ...helpers.filter((helper) => helper.todoId === todo.id).flatMap(under),
  ]);
  const ids = new Set(agent.todos.map((todo) => todo.id));
  const others = helpers.filter((helper) => helper.todoId === undefined || !ids.has(helper.todoId));
  return [...own, ...others.flatMap(under)];
}

function helperLines(view: RunView, helper: AgentView, options: FrameOptions & { indent: Harmless }): Line[] {
  const { paint, now } = options;
  const { completed, total } = countTodos(helper.todos);
  const progress = total > 0 ? ` ${completed}/${total}` : "";
  const worked = clock((view.askedAt ?? now) - helper.startedAt);
  const about = [worked, tokens(tokensOf(helper.usage)), doing(helper, now)];
  const head = shown`${paint("magenta", oneLine(helper.name + progress))} ${paint("dim", join(about))}`;
  const indent = shown`${options.indent}    `;
  return [
    { text: shown`${indent}${head}`, isActive: true },
    ...planLines(view, helper, { ...options, indent }),
  ];
}

function itemText(view: RunView, agent: AgentView, todo: Todo, { now, paint }: FrameOptions): Harmless {
  const { id, status, actuals, note } = todo;
  const text = oneLine(`${MARKS[status]} ${id} ${itemWords(todo)}`);
  const line = paint(STATUS_STYLES[status], text);
  const tail = (parts: (string | undefined)[]): Harmless => shown`${line} ${paint("dim", join(parts))}`;
  switch (status) {
    case "in_progress": {
      const mark = agent.owner === MAIN ? view.marks.get(id) : undefined;
      const worked = mark && clock((view.askedAt ?? now) - mark.at);
      const spent = mark && [worked, tokens(Math.round(mark.tokens))];
      return tail([spinner(now), ...(spent ?? [])]);
    }
    case "completed":
      return actuals
        ? tail([duration(actuals.elapsedMs), tokens(actuals.inputTokens + actuals.outputTokens)])
        : line;
    case "blocked":
      return note ? tail([note]) : line;
    default:
      return line;
  }
}

/** `3/8 · writing /survey.md · 0:42 · 12k tokens · $0.02 · about 2 min left`. */
function statusLine(view: RunView, { now, paint, prices }: FrameOptions): Harmless {
  const main = view.agents.get(MAIN);
  const todos = main?.todos ?? [];
  const { completed, cancelled, total } = countTodos(todos);
  const working = view.askedAt ?? now;
  const elapsed = ({ id }: Todo): number => working - (view.marks.get(id)?.at ?? working);
  const left = timeLeft(todos, elapsed);
  const parts = [
    main && doing(main, now),
    clock(workedMs(view, now)),
    tokens(tokensOf(view.usage)),
    prices && dollars(costOf(view.usage, prices)),
    left === undefined ? undefined : `${roughly(left)} left`,
  ];
  const progress = total > 0 ? shown`${completed}/${total - cancelled}` : shown`no plan`;
  return shown`${paint("cyan", oneLine(spinner(now)))} ${paint("bold", progress)} ${paint("dim", join(parts))}`;
}

/** An agent's activity and its duration: `running npm test 0:12`, `thinking 0:03`, `retrying in 4 s (…)`. */
function doing(agent: AgentView, now: number): string | undefined {
  const { waiting } = agent;
  const calls = callsOf(agent);
  const [first] = calls;
  if (first) {
    const { name, about, startedAt } = first;
    const more = calls.length > 1 ? `+${calls.length - 1}` : undefined;
    const verb = name === "execute" ? "running" : name;
    return [shortened(`${verb} ${about}`), more, duration(now - startedAt)].filter(Boolean).join(" ");
  }
  if (!waiting) return undefined;
  const { since, retry } = waiting;
  if (!retry) return ["thinking", duration(now - since)].filter(Boolean).join(" ");
  return `retrying in ${Math.max(0, Math.ceil((retry.at - now) / 1000))} s (${retry.reason})`;
}

/** An agent's running calls, without those of its sub-agents. */
function callsOf({ tools }: AgentView) {
  return [...tools.values()].filter(({ name }) => name !== "task");
}

function tokens(count: number): string | undefined {
  return count > 0 ? `${amount(count)} tokens` : undefined;
}

function join(parts: readonly (string | undefined)[]): Harmless {
  return oneLine(parts.filter(Boolean).join(" · "));
}

function spinner(now: number): string {
  return SPINNER[Math.floor(now / SPIN_MS) % SPINNER.length]!;
}

/** The lines around the current work, with counts of those left out above and below. */
function visibleLines(lines: readonly Line[], rows: number, paint: Paint): Harmless[] {
  const texts = lines.map(({ text }) => text);
  if (texts.length <= rows) return texts;
  if (rows < 3)
    return lines
      .filter(({ isActive }) => isActive)
      .slice(0, Math.max(0, rows))
      .map(({ text }) => text);
  const room = rows - 2;
  const active = Math.max(
    0,
    lines.findIndex(({ isActive }) => isActive),
  );
  const from = Math.min(Math.max(0, active - 1), texts.length - room);
  const below = texts.length - from - room;
  return [
    paint("dim", from > 0 ? shown`… ${from} above` : shown``),
    ...texts.slice(from, from + room),
    paint("dim", below > 0 ? shown`… ${below} more` : shown``),
  ];
}
