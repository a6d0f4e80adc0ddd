import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, MemorySaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { compareFigures } from "../../attack/ledger.ts";
import { newDatabase } from "../../test/helpers/postgres/database.ts";
import { rounds } from "../../test/helpers/runner/rounds.ts";
import { figuresIn } from "../middleware/plan/ledger.ts";
import type { Todo } from "../plan/index.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";
import { createDeepAgent } from "./index.ts";
import type { DeepAgentOptions } from "./options.ts";

const SECOND = 1000;
const DAY = 86_400 * SECOND;
type Call = ReturnType<typeof callTool>;

type Clock = { now: number };
type Options = Pick<
  DeepAgentOptions,
  "interruptOn" | "budget" | "subagents" | "maxConcurrency" | "loopGuard"
>;

/** An agent whose clock is moved by its model, a second a call, and by its tools. */
function agentOf(steps: (clock: Clock) => Step[], options: Options = {}) {
  const clock = { now: DAY };
  const tools = ["work", "command"].map((name) =>
    tool(
      ({ seconds }) => {
        clock.now += seconds * SECOND;
        return "worked";
      },
      { name, description: name, schema: z.object({ seconds: z.number() }) },
    ),
  );
  const agent = createDeepAgent({
    model: new ScriptedModel(steps(clock)),
    tools,
    checkpointer: new MemorySaver(),
    plan: { now: () => clock.now },
    ...options,
  });
  const config = { configurable: { thread_id: "t" } };
  return {
    clock,
    go: async (
      input: { messages: HumanMessage[] } | Command | null = { messages: [new HumanMessage("Go")] },
    ) => agent.invoke(input as never, config),
    values: async () => (await agent.graph.getState(config)).values as { todos: Todo[] },
  };
}

let count = 0;

/** An answer that takes a second and so many tokens. */
const turn = (clock: Clock, calls: Call[], { input = 0, output = 0, text = "" } = {}): Step => {
  const tool_calls = calls.map((call) => ({
    ...call,
    id: `call-${(count += 1)}`,
    type: "tool_call" as const,
  }));
  const usage_metadata = { input_tokens: input, output_tokens: output, total_tokens: input + output };
  return () => {
    clock.now += SECOND;
    return Object.assign(new AIMessage({ content: text, tool_calls }), { usage_metadata });
  };
};
const work = (seconds: number): Call => callTool("work", { seconds });
const write = (...todos: string[]): Call => callTool("write_todos", { todos });
const done = (id: string): Call => callTool("update_todos", { done: id });

/** The figures of the items without the time of their start, and what belongs to none. */
async function figures(made: ReturnType<typeof agentOf>) {
  const values = await made.values();
  const { rest, total } = figuresIn(values);
  const items = values.todos.map(({ actuals }) => actuals);
  return { items, rest, total };
}

it("waiting for consent does not change the figures of either item", async () => {
  const steps = (clock: Clock): Step[] => [
    turn(clock, [write("one", "two")], { input: 100, output: 10 }),
    turn(clock, [work(3)], { input: 1000, output: 100 }),
    turn(clock, [done("1"), callTool("command", { seconds: 7 })], { input: 2000, output: 200 }),
    turn(clock, [done("2")], { input: 3000, output: 300 }),
    turn(clock, [], { text: "Done." }),
  ];
  const unasked = agentOf(steps);
  await unasked.go();
  const expected = await figures(unasked);
  expect(expected.items).toMatchObject([
    { modelCalls: 1, toolCalls: 1, inputTokens: 1095 },
    { modelCalls: 2, toolCalls: 1, inputTokens: 4905 },
  ]);
  const [one, two] = expected.items.map((actuals) => actuals?.elapsedMs);
  expect(one! + two!).toBe((1 + 3 + 1 + 7 + 1) * SECOND);
  expect(two).toBeGreaterThan(8 * SECOND);

  const asked = agentOf(steps, { interruptOn: { command: true } });
  await asked.go();
  asked.clock.now += DAY;
  await asked.go(new Command({ resume: { type: "approve" } }));
  const { startedAt: _, ...second } = expected.items[1]!;
  expect(await figures(asked)).toMatchObject({ ...expected, items: [expected.items[0], second] });
});

it("items that are completed together share the cost", async () => {
  const made = agentOf((clock) => [
    turn(clock, [write("one", "two", "three")]),
    turn(clock, [work(3), work(4)], { input: 1000, output: 100 }),
    turn(clock, [done("1,2"), work(1)], { input: 0, output: 0 }),
    turn(clock, [done("3")]),
    turn(clock, [], { text: "Done." }),
  ]);
  await made.go();
  const { items } = await figures(made);
  expect(items.map((actuals) => actuals?.inputTokens)).toEqual([500, 500, 0]);
  expect(items.map((actuals) => actuals?.toolCalls)).toEqual([1, 1, 1]);
});

describe("the cost of items with sub-agents", () => {
  const task = (todo_id: string): Call =>
    callTool("task", { description: "help", subagent_type: "helper", todo_id });
  const usage = { input_tokens: 2000, output_tokens: 500, total_tokens: 2500 };
  const report = (text: string) => Object.assign(new AIMessage(text), { usage_metadata: usage });
  const helper = (...steps: Step[]) => [
    { name: "helper", description: "helps", model: new ScriptedModel(steps, { loop: true }) },
  ];
  const play = (calls: Call[], more: Parameters<typeof agentOf>[1]) =>
    agentOf(
      (clock) => [
        turn(clock, [write("one", "two", "three")]),
        turn(clock, calls, { input: 300, output: 30 }),
        turn(clock, [work(1)]),
        ...["Done.", "Done.", "Done."].map((text) => turn(clock, [], { text })),
      ],
      more,
    );

  it("each item has what its own has spent, and a share of the call that started them", async () => {
    const made = play([task("1"), task("2")], { subagents: helper(report("ok")) });
    await made.go();
    const { items, total } = await figures(made);
    expect(items.map((actuals) => actuals?.inputTokens)).toEqual([2150, 2150, 0]);
    expect(total.inputTokens).toBe(4300);
  });

  it("several sub-agents on one item add up, including their discarded answers", async () => {
    const steps = [
      callTool("write_todos", { todos: ["look"] }),
      report("I will look."),
      callTool("work", { seconds: 1 }),
      report("Looked."),
    ];
    const made = play([task("1"), task("1")], { subagents: helper(...steps), maxConcurrency: 1 });
    await made.go();
    const { items, total } = await figures(made);
    expect(items[0]).toMatchObject({ inputTokens: 300 + 4 * 2000, modelCalls: 1 + 2 * 4 });
    expect(total.inputTokens).toBe(300 + 4 * 2000);
  });

  it("a sub-agent that fails is charged for what it spent", async () => {
    const looking = Object.assign(
      new AIMessage({ content: "", tool_calls: [{ name: "ls", args: {}, id: "l" }] }),
      { usage_metadata: usage },
    );
    const made = play([task("1")], { subagents: helper(looking, new Error("no such model")) });
    await made.go();
    expect((await figures(made)).total).toMatchObject({ inputTokens: 300 + 2000 });
  });

  it("an item's budget stops all sub-agents of the item in time", async () => {
    const budget = { perItem: { tokens: 5000 } };
    const steps = Array.from({ length: 20 }, () =>
      Object.assign(new AIMessage({ content: "", tool_calls: [{ name: "ls", args: {}, id: "l" }] }), {
        usage_metadata: usage,
      }),
    );
    const made = play([task("1"), task("1")], { subagents: helper(...steps), budget, loopGuard: false });
    await made.go();
    const { total } = await figures(made);
    // Two may be asked at the same time when the limit is reached.
    expect(total.inputTokens + total.outputTokens).toBeLessThanOrEqual(330 + 5000 + 2500);
  });
});

it("an item's budget counts from the report of the previous item", async () => {
  const made = agentOf(
    (clock) => [
      turn(clock, [write("one", "two")]),
      turn(clock, [done("1: by hand"), callTool("command", { seconds: 1 })], { output: 2500 }),
      turn(clock, [work(1)], { output: 10 }),
      turn(clock, [], { text: "Done." }),
    ],
    { budget: { perItem: { tokens: 2000 } } },
  );
  const { messages } = (await made.go()) as { messages: { text: string }[] };
  expect(messages.at(-1)?.text).toBe("Stopped after 2,000 tokens, the most for one item (2).");
});

it("figures stay complete when a task is questioned, stopped and taken over", async () => {
  const tries = rounds(16);
  const { failures, notes } = await compareFigures(await newDatabase(), { tries, seed: 1 });
  expect(failures, notes).toBe(0);
});
