import { MAIN } from "../../view/index.ts";
import { timeOutside, timeScale, type Stretch, type TimeScale } from "./scale.ts";
import type { Span } from "./spans.ts";

/** A span with its position on the timeline, from 0 to 1. */
export interface Bar {
  span: Span;
  start: number;
  width: number;
  /** Its time in milliseconds, without waiting for the user. */
  took: number;
}

/** The bars of an agent: rows of bars that do not overlap. */
export interface Lane {
  owner: string;
  name: string;
  rows: { kind: "items" | "calls"; bars: Bar[] }[];
}

export interface Timeline {
  lanes: Lane[];
  scale: TimeScale;
  /** The working time in milliseconds. */
  worked: number;
}

/** The minimal width of a bar, so that it can be seen and pointed at. */
const NARROWEST = 0.006;
/** The most rows of one kind; further bars share the last row. */
const MOST_ROWS = 4;

/** The bars of a thread over time, the main agent's first. Open spans end at `time`. */
export function timelineOf(all: readonly Span[], time: number): Timeline {
  // A call that started a helper is shown as the helper's bar.
  const helperCalls = new Set(
    all.filter(({ kind }) => kind === "helper").map(({ id }) => id.slice(id.lastIndexOf(":") + 1)),
  );
  const spans = all.filter(({ kind, id }) => kind !== "call" || !helperCalls.has(id));
  // Events may be newer than the page's clock, which is read less often.
  const now = spans.reduce((latest, { from, to = from }) => Math.max(latest, to), time);
  const scale = timeScale(spans.map(({ from, to = now }) => ({ from, to })));
  const clock = clockOf(spans, now);
  const barOf = (span: Span): Bar => {
    const start = scale.place(span.from);
    const width = Math.max(NARROWEST, scale.place(span.to ?? now) - start);
    return { span, start: Math.min(start, 1 - NARROWEST), width, took: clock(span) };
  };
  const owners = [...new Set([MAIN, ...spans.map(({ owner }) => owner)])];
  const names = new Map(spans.filter(({ kind }) => kind === "helper").map(({ id, label }) => [id, label]));
  const lanes = owners.map((owner): Lane => {
    const bars = spans.filter((span) => span.owner === owner).map(barOf);
    const items = bars.filter(({ span }) => span.kind === "item");
    const others = bars.filter(({ span }) => span.kind !== "item");
    return {
      owner,
      name: names.get(owner) ?? (owner === MAIN ? "Agent" : owner),
      rows: [
        ...packed(items).map((row) => ({ kind: "items" as const, bars: row })),
        ...packed(others).map((row) => ({ kind: "calls" as const, bars: row })),
      ],
    };
  });
  const waited = timeScale(questionsIn(spans, now)).length;
  return { lanes: lanes.filter(({ rows }) => rows.length > 0), scale, worked: scale.length - waited };
}

/** Returns a function for the working time of a span, without the time of open questions. */
export function clockOf(spans: readonly Span[], now: number): (span: Span) => number {
  const questions = questionsIn(spans, now);
  return ({ kind, from, to = now }) => timeOutside({ from, to }, kind === "question" ? [] : questions);
}

function questionsIn(spans: readonly Span[], now: number): Stretch[] {
  return spans.filter(({ kind }) => kind === "question").map(({ from, to = now }) => ({ from, to }));
}

function packed(bars: readonly Bar[]): Bar[][] {
  const rows: Bar[][] = [];
  for (const bar of bars) {
    const isFree = (row: Bar[]): boolean => {
      const last = row.at(-1);
      return !last || last.start + last.width <= bar.start + 1e-9;
    };
    const free = rows.find(isFree);
    if (free) free.push(bar);
    else if (rows.length < MOST_ROWS) rows.push([bar]);
    // A bar on top of another one would be hidden.
    else if (bar.start > rows.at(-1)!.at(-1)!.start + NARROWEST) rows.at(-1)!.push(bar);
  }
  return rows;
}
