import { FIELDS, figuresBy, figuresSince, NO_FIGURES, sumFigures, type Figures } from "./actuals.ts";
import { own } from "./own.ts";
import type { Actuals, Todo } from "./todo.ts";

/** The cost of each item of a plan. Together it is all spending since the plan began. */
export interface Ledger {
  /** Figures by item; those of no item stand under `NO_ITEM`. */
  spent: Readonly<Record<string, Figures>>;
  /** The thread's own figures when they were last shared out. What came later is for the items in `active`. */
  settled: Figures;
  active: readonly string[];
  /** The sub-agents' part of it, which the thread's own figures do not hold. */
  helped: Figures;
}

export const NO_ITEM = "";

/** A change of what is worked on. */
export interface Move {
  /** The items in progress from here on. */
  active: readonly string[];
  /** Items that were closed together, where not all of them had been started: what was spent was for all of them. */
  closed?: readonly string[];
  /** The plan before it is over. */
  isReset?: boolean;
}

/** A part of a model's answer: its text, or one of its calls. */
export interface Part {
  /** Its share of the answer, such as its length. */
  weight: number;
  /** The item that it is for. Default: those in progress there. */
  item?: string | undefined;
  move?: Move | undefined;
  /** A call to a tool other than the plan's that was run. */
  isWork?: boolean;
  /** When it was run, in milliseconds; default: a share of the time that tools took. */
  interval?: Interval | undefined;
  /** The spending of the sub-agent that it started, its time included. */
  helper?: Figures | undefined;
}

export type Interval = readonly [from: number, to: number];

/** An answer, and what came of its calls. */
export interface Turn {
  answer: Figures;
  /** The time of all its tools. */
  toolsMs: number;
  parts: readonly Part[];
}

/** Shares out what was spent: `now` are the thread's own figures, the last turn's included. */
export function settle(ledger: Ledger, now: Figures, { answer, toolsMs, parts }: Turn): Ledger {
  const book = new Book(ledger.spent);
  let { active, helped } = ledger;
  // A new plan has ids of its own from the start: what was done before it is no work on them.
  const reset = parts.findLastIndex(({ move }) => move?.isReset);
  if (reset >= 0) {
    book.reset();
    active = [];
  }
  const due = figuresSince(ledger.settled, now);
  const toolCalls = parts.filter(({ isWork }) => isWork).length;
  book.add(active, figuresSince({ ...answer, toolCalls, elapsedMs: answer.elapsedMs + toolsMs }, due));
  const times = timesOf(parts, toolsMs);
  const weights = parts.map(({ weight }) => weight);
  const shares = shared(answer, weights);
  book.add(active, { ...NO_FIGURES, elapsedMs: times.rest });
  for (const [at, { item, isWork, helper, move }] of parts.entries()) {
    const owners = item === undefined || at < reset ? active : [item];
    const elapsedMs = shares[at]!.elapsedMs + times.parts[at]!;
    book.add(owners, { ...shares[at]!, elapsedMs, toolCalls: isWork ? 1 : 0 });
    if (helper) {
      book.add(owners, helper);
      helped = sumFigures(helped, helper);
    }
    if (move?.closed && at >= reset) book.level(move.closed);
    if (move && at >= reset) ({ active } = move);
  }
  return { spent: book.spent, settled: now, active, helped };
}

/** Adds what a sub-agent has spent on an item, or on those that are worked on. */
export function withHelper(ledger: Ledger, item: string | undefined, figures: Figures): Ledger {
  const book = new Book(ledger.spent);
  book.add(item === undefined ? ledger.active : [item], figures);
  return { ...ledger, spent: book.spent, helped: sumFigures(ledger.helped, figures) };
}

/** The items with the figures of a ledger. Those in progress have what they had before they were started again. */
export function withFigures(todos: readonly Todo[], { spent }: Ledger, at: number): Todo[] {
  return todos.map((todo) => {
    const { actuals, status, id } = todo;
    if (status === "in_progress") return actuals ? todo : { ...todo, actuals: startedAt(at) };
    const figures = own(spent, id);
    const next = figures && { startedAt: actuals?.startedAt ?? at, ...figures };
    return next && !isSameFigures(actuals, next) ? { ...todo, actuals: next } : todo;
  });
}

/** The tolerance for a later reading of the clock, in milliseconds: less than anybody is shown. */
const SLACK = 100;

/** Whether an item need not be written again: only the clock was read a moment later. */
export function isSameFigures(a: Figures | undefined, b: Figures): boolean {
  if (!a || Math.abs(a.elapsedMs - b.elapsedMs) >= SLACK) return false;
  return FIELDS.every((field) => field === "elapsedMs" || a[field] === b[field]);
}

function startedAt(at: number): Actuals {
  return { startedAt: at, ...NO_FIGURES };
}

/** Figures by item, while they are shared out. */
class Book {
  spent: Record<string, Figures>;

  constructor(spent: Readonly<Record<string, Figures>>) {
    this.spent = { ...spent };
  }

  /** Shares figures out among items alike. */
  add(items: readonly string[], figures: Figures): void {
    if (FIELDS.every((field) => figures[field] === 0)) return;
    const owners = items.length > 0 ? items : [NO_ITEM];
    const shares = shared(
      figures,
      owners.map(() => 1),
    );
    for (const [at, id] of owners.entries()) {
      this.spent[id] = sumFigures(own(this.spent, id) ?? NO_FIGURES, shares[at]!);
    }
  }

  /** Gives all of these items alike of what they have had together. */
  level(items: readonly string[]): void {
    const total = items.map((id) => own(this.spent, id) ?? NO_FIGURES).reduce(sumFigures, NO_FIGURES);
    for (const id of items) delete this.spent[id];
    this.add(items, total);
  }

  /** Leaves what belongs to no item. */
  reset(): void {
    const { [NO_ITEM]: rest } = this.spent;
    this.spent = rest ? { [NO_ITEM]: rest } : {};
  }
}

/** Figures in whole parts by weight. */
function shared(figures: Figures, weights: readonly number[]): Figures[] {
  const parts = Object.fromEntries(FIELDS.map((field) => [field, apportion(figures[field], weights)]));
  return weights.map((_, at) => figuresBy((field) => parts[field]![at]!));
}

/** A whole number in whole parts by weight: those that were cut off most get what is left. */
function apportion(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  const exact = weights.map((weight) => (total * (sum > 0 ? weight : 1)) / (sum > 0 ? sum : weights.length));
  const parts = exact.map(Math.floor);
  const order = exact
    .map((value, at) => ({ at, cut: value - Math.floor(value) }))
    .toSorted((a, b) => b.cut - a.cut || a.at - b.at);
  let left = Math.round(total - parts.reduce((a, b) => a + b, 0));
  for (const { at } of order) if (left-- > 0) parts[at]! += 1;
  return parts;
}

/**
 * The time of each part, and the rest of the tools' time. Calls for the same items that ran side by side took their
 * time once; calls for different ones each took their own.
 */
function timesOf(parts: readonly Part[], toolsMs: number): { parts: number[]; rest: number } {
  const intervals = parts.map(({ interval, helper }) => (helper ? undefined : interval));
  if (intervals.every((interval) => !interval)) {
    const byHelpers = parts.reduce((sum, { helper }) => sum + (helper?.elapsedMs ?? 0), 0);
    const left = Math.max(0, toolsMs - byHelpers);
    const weights = parts.map(({ isWork, helper }) => (isWork && !helper ? 1 : 0));
    const isNobodys = weights.every((weight) => weight === 0);
    return { parts: isNobodys ? parts.map(() => 0) : apportion(left, weights), rest: isNobodys ? left : 0 };
  }
  const covered = new Map<string, Interval[]>();
  let active: readonly string[] | undefined;
  const times = parts.map(({ item, move }, at) => {
    const owner = item ?? `in progress ${active?.join("\n")}`;
    active = move?.active ?? active;
    const interval = intervals[at];
    if (!interval) return 0;
    const before = covered.get(owner) ?? [];
    covered.set(owner, [...before, interval]);
    return lengthOf([...before, interval]) - lengthOf(before);
  });
  const all = parts.flatMap(({ interval }) => (interval ? [interval] : []));
  return { parts: times, rest: Math.max(0, toolsMs - lengthOf(all)) };
}

/** The time that is covered by at least one interval. */
export function lengthOf(intervals: readonly Interval[]): number {
  let length = 0;
  let end = -Infinity;
  for (const [from, to] of intervals.toSorted((a, b) => a[0] - b[0])) {
    length += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return length;
}
