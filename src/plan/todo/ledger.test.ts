import { expect, it } from "vitest";
import { settle } from "./ledger.ts";

const figures = (elapsedMs: number) => ({
  elapsedMs,
  modelCalls: 0,
  toolCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
});

it("the time after a turn's tools counts for the items in progress then", () => {
  const before = { spent: {}, settled: figures(0), active: ["1"], helped: figures(0) };
  // The tools took 4 of 64 seconds, and the last of them completed item 1.
  const { spent } = settle(before, figures(70_000), {
    answer: figures(6000),
    toolsMs: 64_000,
    parts: [
      { weight: 1, isWork: true, interval: [6000, 10_000] },
      { weight: 0, move: { active: ["2"] } },
    ],
  });
  expect([spent["1"]!.elapsedMs, spent["2"]!.elapsedMs]).toEqual([10_000, 60_000]);
});

it("without tool times, a turn of plan calls counts for the items before it", () => {
  const before = { spent: {}, settled: figures(0), active: ["1"], helped: figures(0) };
  // A verifier took a minute to let item 1 pass.
  const { spent } = settle(before, figures(66_000), {
    answer: figures(6000),
    toolsMs: 60_000,
    parts: [{ weight: 1, move: { active: ["2"] } }],
  });
  expect([spent["1"]?.elapsedMs, spent["2"]?.elapsedMs]).toEqual([66_000, undefined]);
});
