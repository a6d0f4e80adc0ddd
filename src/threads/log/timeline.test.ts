import { describe, expect, it } from "vitest";
import { timelineOf } from "./timeline/lanes.ts";
import { timeScale } from "./timeline/scale.ts";
import type { Span } from "./timeline/spans.ts";

const HOUR = 3_600_000;

describe("the time line", () => {
  it("is as long as what happened, and gives a night little room", () => {
    const scale = timeScale([
      { from: 0, to: 1000 },
      { from: 500, to: 2000 },
      { from: 10 * HOUR, to: 10 * HOUR + 2000 },
    ]);
    expect(scale.length).toBe(4000);
    expect([0, 2000, 10 * HOUR, 10 * HOUR + 2000].map((at) => Number(scale.place(at).toFixed(3)))).toEqual([
      0, 0.481, 0.519, 1,
    ]);
    expect(scale.place(-5)).toBe(0);
    expect(scale.place(99 * HOUR)).toBe(1);
  });

  it("has no more bars than can be seen, however much happened", () => {
    const spans = Array.from({ length: 5000 }, (_, at): Span => ({
      kind: "call",
      owner: "main",
      id: `${at}`,
      label: "",
      from: at,
      to: at + 900,
    }));
    const { rows } = timelineOf(spans, 0).lanes[0]!;
    expect(rows.length).toBe(4);
    expect(rows.flatMap(({ bars }) => bars).length).toBeLessThan(300);
  });

  it("has a lane for each agent, and rows in which no bar covers another", () => {
    const span = (kind: Span["kind"], owner: string, id: string, from: number, to?: number): Span => ({
      kind,
      owner,
      id,
      label: id,
      from,
      to,
    });
    const { lanes } = timelineOf(
      [
        span("item", "main", "1", 0, 500),
        span("item", "main", "2", 500),
        span("call", "main", "a", 100, 400),
        span("call", "main", "b", 200, 300),
        span("call", "main", "c7", 500),
        span("helper", "main", "main/scout:c7", 500),
        span("call", "main/scout:c7", "x", 600, 700),
      ],
      1000,
    );
    const ids = lanes.map(({ name, rows }) => [
      name,
      rows.map(({ bars }) => bars.map(({ span: { id } }) => id)),
    ]);
    expect(ids).toEqual([
      ["Agent", [["1", "2"], ["a", "main/scout:c7"], ["b"]]],
      ["main/scout:c7", [["x"]]],
    ]);
    expect(lanes[0]!.rows[0]!.bars).toMatchObject([
      { start: 0, width: 0.5 },
      { start: 0.5, width: 0.5 },
    ]);
  });

  it("counts no time spent waiting for the user, for any number of open questions", () => {
    const span = (kind: Span["kind"], id: string, from: number, to: number): Span => ({
      kind,
      owner: "main",
      id,
      label: id,
      from,
      to,
    });
    const { lanes, worked } = timelineOf(
      [
        span("item", "1", 0, 10_000),
        span("call", "a", 1000, 2000),
        span("question", "q1", 2000, 8000),
        span("question", "q2", 3000, 9000),
      ],
      10_000,
    );
    expect(worked).toBe(3000);
    const took = lanes[0]!.rows.flatMap(({ bars }) => bars.map((bar) => [bar.span.id, bar.took]));
    expect(Object.fromEntries(took)).toEqual({ 1: 3000, a: 1000, q1: 6000, q2: 6000 });
  });
});
