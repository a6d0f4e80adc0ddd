import { MAIN } from "../../view/index.ts";
import { timeOutside, timeScale, type Stretch, type TimeScale } from "./scale.ts";
import type { Span } from "./spans.ts";

/** A span at its place, from 0 to 1. */
export interface Bar {
  span: Span;
  start: number;
  width: number;
  /** Its time in milliseconds, without what it waited for a person. */
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
  /** The time that was worked, in milliseconds. */
  worked: number;
}

/** A shorter bar could not be seen or pointed at. */
const NARROWEST = 0.006;
/** More rows of one kind would make the timeline higher than it is worth: the rest shares the last one. */
const MOST_ROWS = 4;

/** The bars of a thread over time, the main agent's first; what goes on ends `now`. */
export function timelineOf(all: readonly Span[], time: number): Timeline {
  // The call that started a helper is the helper's bar.
  const started = new Set(
    all.filter(({ kind }) => kind === "helper").map(({ id }) => id.slice(id.lastIndexOf(":") + 1)),
  );
  const spans = all.filter(({ kind, id }) => kind !== "call" || !started.has(id));
  // The clock of the page is looked at less often than events come.
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

/** Tells how long a span of these took: nobody works while a question waits. */
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
    // A bar on top of another one would not be seen.
    else if (bar.start > rows.at(-1)!.at(-1)!.start + NARROWEST) rows.at(-1)!.push(bar);
  }
  return rows;
}
