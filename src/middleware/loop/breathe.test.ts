import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { breathe } from "./breathe.ts";

// Time passes only where a test says so: what the machine does meanwhile changes nothing.
let now: number;
beforeEach(() => {
  now = performance.now();
  vi.spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(() => vi.restoreAllMocks());

it("agents that are all ready go on one by one, each in a turn of the event loop of its own", async () => {
  const order: string[] = [];
  const agent = async (name: string): Promise<void> => {
    // Long enough for the process to need a breath.
    now += 12;
    await breathe();
    order.push(name);
  };
  const others = (async () => {
    for (let turn = 1; turn <= 3; turn += 1) {
      await nextTurn();
      order.push(`turn ${turn}`);
    }
  })();
  await Promise.all([others, agent("a"), agent("b"), agent("c")]);
  expect(order.filter((one) => one.startsWith("turn"))).toHaveLength(3);
  expect(order.indexOf("turn 2")).toBeLessThan(order.indexOf("c"));
});

it("an agent that has just let others go first does not wait again", async () => {
  await nextTurn();
  await breathe();
  let isLater = false;
  setImmediate(() => (isLater = true));
  await breathe();
  expect(isLater).toBe(false);
});
