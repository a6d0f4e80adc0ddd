import { FIELDS, figuresBy, figuresSince, NO_FIGURES, sumFigures } from "./actuals.ts";
import { own, type Figures, type Todo } from "./todo.ts";

/** The cost of each item of a plan. The sum is all spending since the plan began. */
export interface Ledger {
  /** Figures by item id. Spending that belongs to no item is under `NO_ITEM`. */
  spent: Readonly<Record<string, Figures>>;
  /** The thread's own figures when they were last shared out. Later spending belongs to the items in `active`. */
  settled: Figures;
  active: readonly string[];
  /** The sub-agents' part of the spending, which is not in the thread's own figures. */
  helped: Figures;
}

export const NO_ITEM = "";

/** A change of the items in progress. */
export interface Move {
  /** The items in progress after the change. */
  active: readonly string[];
  /** Items that were closed together although not all had been started: their cost is shared out among all of them. */
  closed?: readonly string[];
  /** Whether the change begins a new plan. */
  isReset?: boolean;
}

/** A part of a model's answer: its text, or one of its calls. */
export interface Part {
  /** Its share of the answer, such as its length. */
  weight: number;
  /** The item that it is for. Default: the items in progress at that point. */
  item?: string;
  move?: Move;
  /** Whether it is a call to another tool than the plan's, and was run. */
  isWork?: boolean;
  /** When it ran, in milliseconds. Default: it gets a share of the time of all tools. */
  interval?: Interval;
  /** The spending of the sub-agent that it started, including time. */
  helper?: Figures;
}

export type Interval = readonly [from: number, to: number];

/** A model's answer with its calls. */
export interface Turn {
  answer: Figures;
  /** The time of all its tools. */
  toolsMs: number;
  parts: readonly Part[];
}

/** Shares out the spending since the last time. `now`: the thread's own figures, including the last turn. */
export function settle(ledger: Ledger, now: Figures, { answer, toolsMs, parts }: Turn): Ledger {
  const spending = new Spending(ledger.spent);
  let { active, helped } = ledger;
  // A new plan has new ids: nothing that was done before it is work on them.
  const reset = parts.findLastIndex(({ move }) => move?.isReset);
  if (reset >= 0) {
    spending.reset();
    active = [];
  }
  const unsettled = figuresSince(ledger.settled, now);
  const toolCalls = parts.filter(({ isWork }) => isWork).length;
  const { parts: times, before = 0, after = 0 } = timesOf(parts, toolsMs);
  const known = { ...answer, toolCalls, elapsedMs: answer.elapsedMs + toolsMs - before };
  spending.add(active, figuresSince(known, unsettled));
  const weights = parts.map(({ weight }) => weight);
  const shares = split(answer, weights);
  for (const [at, { item, isWork, helper, move }] of parts.entries()) {
    const owners = item === undefined || at < reset ? active : [item];
    const elapsedMs = shares[at]!.elapsedMs + times[at]!;
    spending.add(owners, { ...shares[at]!, elapsedMs, toolCalls: isWork ? 1 : 0 });
    if (helper) {
      spending.add(owners, helper);
      helped = sumFigures(helped, helper);
    }
    if (move?.closed && at >= reset) spending.level(move.closed);
    if (move && at >= reset) ({ active } = move);
  }
  spending.add(active, { ...NO_FIGURES, elapsedMs: after });
  return { spent: spending.spent, settled: now, active, helped };
}

/** Adds a sub-agent's spending to an item. Default: to the items in progress. */
export function withHelper(ledger: Ledger, item: string | undefined, figures: Figures): Ledger {
  const spending = new Spending(ledger.spent);
  spending.add(item === undefined ? ledger.active : [item], figures);
  return { ...ledger, spent: spending.spent, helped: sumFigures(ledger.helped, figures) };
}

/** The items with the figures of a ledger. An item in progress keeps the figures from before its latest start. */
export function withFigures(todos: readonly Todo[], { spent }: Ledger, at: number): Todo[] {
  return todos.map((todo) => {
    const { actuals, status, id } = todo;
    if (status === "in_progress")
      return actuals ? todo : { ...todo, actuals: { startedAt: at, ...NO_FIGURES } };
    const figures = own(spent, id);
    const next = figures && { startedAt: actuals?.startedAt ?? at, ...figures };
    return next && !isSameFigures(actuals, next) ? { ...todo, actuals: next } : todo;
  });
}

/** The tolerance for a later reading of the clock, in milliseconds. No display shows less. */
const SLACK = 100;

/** Whether figures differ only by a slightly later reading of the clock, so that the item need not be saved. */
export function isSameFigures(a: Figures | undefined, b: Figures): boolean {
  if (!a || Math.abs(a.elapsedMs - b.elapsedMs) >= SLACK) return false;
  return FIELDS.every((field) => field === "elapsedMs" || a[field] === b[field]);
}

/** Figures by item, for adding to them. */
class Spending {
  spent: Record<string, Figures>;

  constructor(spent: Readonly<Record<string, Figures>>) {
    this.spent = { ...spent };
  }

  /** Shares figures out equally among items. */
  add(items: readonly string[], figures: Figures): void {
    if (FIELDS.every((field) => figures[field] === 0)) return;
    const owners = items.length > 0 ? items : [NO_ITEM];
    const shares = split(
      figures,
      owners.map(() => 1),
    );
    for (const [at, id] of owners.entries()) {
      this.spent[id] = sumFigures(own(this.spent, id) ?? NO_FIGURES, shares[at]!);
    }
  }

  /** Shares the sum of these items' figures out equally among them. */
  level(items: readonly string[]): void {
    const total = items.map((id) => own(this.spent, id) ?? NO_FIGURES).reduce(sumFigures, NO_FIGURES);
    for (const id of items) delete this.spent[id];
    this.add(items, total);
  }

  /** Removes the figures of all items; those of no item stay. */
  reset(): void {
    const { [NO_ITEM]: rest } = this.spent;
    this.spent = rest ? { [NO_ITEM]: rest } : {};
  }
}

/** Splits figures into whole parts by weight. */
function split(figures: Figures, weights: readonly number[]): Figures[] {
  const parts = Object.fromEntries(FIELDS.map((field) => [field, apportion(figures[field], weights)]));
  return weights.map((_, at) => figuresBy((field) => parts[field]![at]!));
}

/** Splits a whole number into whole parts by weight. The parts with the largest fractions get the remainder. */
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
 * The time of each part, and the rest of the tools' time. It came after them if it is known when they ran, as for a
 * summary or a request that the provider refused; else it is that of plan calls, as for a verifier. The time of parallel
 * calls for the same items counts once; calls for different items each count in full.
 */
function timesOf(
  parts: readonly Part[],
  toolsMs: number,
): { parts: number[]; before?: number; after?: number } {
  const intervals = parts.map(({ interval, helper }) => (helper ? undefined : interval));
  if (intervals.every((interval) => !interval)) {
    const byHelpers = parts.reduce((sum, { helper }) => sum + (helper?.elapsedMs ?? 0), 0);
    const left = Math.max(0, toolsMs - byHelpers);
    const weights = parts.map(({ isWork, helper }) => (isWork && !helper ? 1 : 0));
    const hasWork = weights.includes(1);
    return { parts: hasWork ? apportion(left, weights) : weights, before: hasWork ? 0 : left };
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
  return { parts: times, after: Math.max(0, toolsMs - lengthOf(all)) };
}

/** The total time that at least one interval covers. */
export function lengthOf(intervals: readonly Interval[]): number {
  let length = 0;
  let end = -Infinity;
  for (const [from, to] of intervals.toSorted((a, b) => a[0] - b[0])) {
    length += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return length;
}
