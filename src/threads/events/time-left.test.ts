import { describe, expect, it } from "vitest";
import type { Todo } from "../../plan/index.ts";
import { timeLeft } from "./time-left.ts";

const MINUTE = 60_000;
const none = (): number => 0;
const done = (elapsedMs: number, estimate?: number): Todo => ({
  id: "d",
  content: "done",
  status: "completed",
  estimate,
  actuals: { startedAt: 0, elapsedMs, modelCalls: 1, toolCalls: 1, inputTokens: 0, outputTokens: 0 },
});
const left = (estimate?: number, status: Todo["status"] = "pending"): Todo => ({
  id: "l",
  content: "left",
  status,
  estimate,
});

describe("the time left", () => {
  it("is the sum of the estimates until an item is finished", () => {
    expect(timeLeft([left(2), left(3)], none)).toBe(5 * MINUTE);
  });

  it("is corrected by what finished items really took", () => {
    expect(timeLeft([done(MINUTE, 2), left(10)], none)).toBe(5 * MINUTE);
  });

  it("takes an item without an estimate for an average one", () => {
    expect(timeLeft([done(4000), done(6000), left(), left()], none)).toBe(10_000);
  });

  it("counts what an item in progress has had already, and never goes below nothing", () => {
    expect(timeLeft([left(1, "in_progress")], () => 20_000)).toBe(40_000);
    expect(timeLeft([left(1, "in_progress")], () => 10 * MINUTE)).toBe(0);
  });

  it("is unknown without estimates and finished items, and when nothing is left", () => {
    expect(timeLeft([left()], none)).toBeUndefined();
    expect(timeLeft([done(1)], none)).toBeUndefined();
    expect(timeLeft([], none)).toBeUndefined();
  });

  it("excludes blocked and cancelled items", () => {
    expect(timeLeft([left(1), left(5, "blocked"), left(7, "cancelled")], none)).toBe(MINUTE);
  });
});
