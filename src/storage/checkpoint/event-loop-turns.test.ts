import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { EventLoopTurns } from "./event-loop-turns.ts";

/** Counts the turns of the event loop until work is done. */
async function turnsUntil(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let next = setImmediate(function turn() {
    turns += 1;
    next = setImmediate(turn);
  });
  await work;
  clearImmediate(next);
  return turns;
}

// Time passes only where a test says so: what the machine does meanwhile changes nothing.
let now: number;
beforeEach(() => {
  now = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(() => vi.restoreAllMocks());

it("waiting callers resume in order, each up to its next wait, many in one turn", async () => {
  const turns = new EventLoopTurns();
  const seen: string[] = [];
  const all = Array.from({ length: 100 }, async (_, at) => {
    await turns.yieldIfBusy();
    seen.push(`${at} begins`);
    for (let step = 0; step < 20; step += 1) await Promise.resolve();
    seen.push(`${at} ends`);
  });
  expect(await turnsUntil(Promise.all(all))).toBeLessThanOrEqual(2);
  expect(seen).toEqual(all.flatMap((_, at) => [`${at} begins`, `${at} ends`]));
});

it("the event loop turns after each caller that keeps the process busy", async () => {
  const turns = new EventLoopTurns();
  const all = Array.from({ length: 5 }, async () => {
    await turns.yieldIfBusy();
    now += 11;
  });
  expect(await turnsUntil(Promise.all(all))).toBeGreaterThanOrEqual(4);
});

it("callers that wait get a time slice as long as the turn before", async () => {
  const turns = new EventLoopTurns();
  setImmediate(() => (now += 200));
  const all = Array.from({ length: 8 }, async () => {
    await turns.yieldIfBusy();
    now += 11;
  });
  expect(await turnsUntil(Promise.all(all))).toBeLessThan(7);
});
