import { setImmediate as nextTurn } from "node:timers/promises";
import { createAgent, tool } from "langchain";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { z } from "zod";
import { lightLoop } from "../../middleware/light-loop/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/scripted-model.ts";
import { yieldToEventLoop } from "./yield-to-event-loop.ts";

// Time passes only where a test says so: what the machine does meanwhile changes nothing.
let now = 0;
beforeEach(() => {
  now = Math.max(now, performance.now()) + 1000;
  vi.spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(() => vi.restoreAllMocks());

it("ready agents continue one by one, each in its own turn of the event loop", async () => {
  const order: string[] = [];
  const agent = async (name: string): Promise<void> => {
    // Long enough for the process to need a breath.
    now += 12;
    await yieldToEventLoop();
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
  await yieldToEventLoop();
  let isLater = false;
  setImmediate(() => (isLater = true));
  await yieldToEventLoop();
  expect(isLater).toBe(false);
});

it("other work runs between the model and a tool, and between a tool and the model", async () => {
  let turn = 0;
  const count = (): void => {
    turn += 1;
    waiting = setImmediate(count);
  };
  let waiting = setImmediate(count);
  const at: number[] = [];
  const busy = (): void => {
    at.push(turn);
    now += 12;
  };
  const step =
    (next: Step): Step =>
    () => {
      busy();
      return next;
    };
  const work = tool(() => (busy(), "done"), { name: "work", description: "Works.", schema: z.object({}) });
  const model = new ScriptedModel([
    step(callTool("work", {})),
    step(callTool("work", {})),
    step("Finished."),
  ]);
  await lightLoop(createAgent({ model, tools: [work] })).invoke({ messages: "Go." });
  clearImmediate(waiting);
  expect(at).toHaveLength(5);
  expect(new Set(at).size).toBe(5);
});
