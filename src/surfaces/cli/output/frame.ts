import sliceAnsi from "slice-ansi";
import stringWidth from "string-width";
import { shortened } from "../../../middleware/shortened.ts";
import { countTodos, MARKS, type Todo } from "../../../plan/index.ts";
import { costOf, type Prices } from "../../../runs/prices.ts";
import { timeLeft } from "../../../runs/time-left.ts";
import { helpersOf, MAIN, tokensOf, type AgentView, type RunView } from "../../../runs/view.ts";
import { clock, dollars, duration, roughly, short } from "./amounts.ts";
import { oneLine, STATUS_STYLES, type Paint } from "./paint.ts";

export interface FrameOptions {
  columns: number;
  /** The most lines. */
  rows: number;
  now: number;
  paint: Paint;
  prices?: Prices | undefined;
}

const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const SPIN_MS = 100;

/** The live plan as lines that fit the terminal: what is done, what is being done by whom, what is left. Pure. */
export function frame(view: RunView, options: FrameOptions): string[] {
  const main = view.agents.get(MAIN);
  const items = main ? planLines(view, main, { ...options, indent: "" }) : [];
  const lines = [...window(items, options.rows - 1, options.paint), statusLine(view, options)];
  return lines.map((line) => fit(line, options.columns));
}

interface Line {
  text: string;
  /** Lines that are about what is going on now are kept when there is no room for all. */
  isActive: boolean;
}

function planLines(view: RunView, agent: AgentView, options: FrameOptions & { indent: string }): Line[] {
  const helpers = helpersOf(view, agent.owner);
  const { indent } = options;
  const under = (helper: AgentView): Line[] => helperLines(view, helper, options);
  const own = agent.todos.flatMap((todo) => [
    { text: indent + itemText(view, agent, todo, options), isActive: todo.status === "in_progress" },
    ...helpers.filter((helper) => helper.todoId === todo.id).flatMap(under),
  ]);
  const known = new Set(agent.todos.map((todo) => todo.id));
  const free = helpers.filter((helper) => helper.todoId === undefined || !known.has(helper.todoId));
  return [...own, ...free.flatMap(under)];
}

function helperLines(view: RunView, helper: AgentView, options: FrameOptions & { indent: string }): Line[] {
  const { paint, now } = options;
  const { completed, total } = countTodos(helper.todos);
  const progress = total > 0 ? ` ${completed}/${total}` : "";
  const about = [clock(now - helper.startedAt), tokens(tokensOf(helper.usage)), doing(helper, now)];
  const head = `${paint("magenta", `${helper.name}${progress}`)} ${paint("dim", join(about))}`;
  const indent = `${options.indent}    `;
  return [{ text: indent + head, isActive: true }, ...planLines(view, helper, { ...options, indent })];
}

function itemText(view: RunView, agent: AgentView, todo: Todo, { now, paint }: FrameOptions): string {
  const { id, content, status, actuals, note } = todo;
  const text = `${MARKS[status]} ${oneLine(`${id} ${content}`)}`;
  const line = paint(STATUS_STYLES[status], text);
  const tail = (parts: (string | undefined)[]): string => `${line} ${paint("dim", join(parts))}`;
  switch (status) {
    case "in_progress": {
      const mark = agent.owner === MAIN ? view.marks.get(id) : undefined;
      const spent = mark && [clock(now - mark.at), tokens(tokensOf(view.usage) - mark.tokens)];
      return tail([spinner(now), ...(spent ?? [])]);
    }
    case "completed":
      return actuals
        ? tail([duration(actuals.elapsedMs), tokens(actuals.inputTokens + actuals.outputTokens)])
        : line;
    case "blocked":
      return note ? tail([oneLine(note)]) : line;
    default:
      return line;
  }
}

/** `3/8 · writing /survey.md · 0:42 · 12k tokens · $0.02 · about 2 min left`. */
function statusLine(view: RunView, { now, paint, prices }: FrameOptions): string {
  const main = view.agents.get(MAIN);
  const todos = main?.todos ?? [];
  const { completed, cancelled, total } = countTodos(todos);
  const elapsed = ({ id }: Todo): number => now - (view.marks.get(id)?.at ?? now);
  const left = timeLeft(todos, elapsed);
  const parts = [
    main && doing(main, now),
    clock(now - view.startedAt),
    tokens(tokensOf(view.usage)),
    prices && dollars(costOf(view.usage, prices)),
    left === undefined ? undefined : `${roughly(left)} left`,
  ];
  const progress = total > 0 ? `${completed}/${total - cancelled}` : "no plan";
  return `${paint("cyan", spinner(now))} ${paint("bold", progress)} ${paint("dim", join(parts))}`;
}

/** What an agent is at, and for how long: `running npm test 0:12`, `thinking 0:03`, `retrying in 4 s (…)`. */
function doing({ tools, waiting }: AgentView, now: number): string | undefined {
  const calls = [...tools.values()].filter(({ name }) => name !== "task");
  const [first] = calls;
  if (first) {
    const { name, about, startedAt } = first;
    const more = calls.length > 1 ? `+${calls.length - 1}` : undefined;
    const verb = name === "execute" ? "running" : name;
    return [shortened(oneLine(`${verb} ${about}`)), more, duration(now - startedAt)]
      .filter(Boolean)
      .join(" ");
  }
  if (!waiting) return undefined;
  const { since, retry } = waiting;
  if (!retry) return ["thinking", duration(now - since)].filter(Boolean).join(" ");
  return `retrying in ${Math.max(0, Math.ceil((retry.at - now) / 1000))} s (${oneLine(retry.reason)})`;
}

function tokens(count: number): string | undefined {
  return count > 0 ? `${short(count)} tokens` : undefined;
}

function join(parts: readonly (string | undefined)[]): string {
  return parts.filter(Boolean).join(" · ");
}

function spinner(now: number): string {
  return SPINNER[Math.floor(now / SPIN_MS) % SPINNER.length]!;
}

/** The lines around what is going on, with a count of those above and below that are left out. */
function window(lines: readonly Line[], rows: number, paint: Paint): string[] {
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
    paint("dim", from > 0 ? `… ${from} above` : ""),
    ...texts.slice(from, from + room),
    paint("dim", below > 0 ? `… ${below} more` : ""),
  ];
}

/** A line that leaves the last column free, since some terminals wrap as soon as it is written. */
export function fit(line: string, columns: number): string {
  const width = Math.max(1, columns - 1);
  return stringWidth(line) <= width ? line : `${sliceAnsi(line, 0, Math.max(0, width - 1))}…`;
}
