import { AIMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { runGraph, taskInput } from "../../../test/helpers/models/run-thread.ts";
import { ScriptedModel, type Step } from "../../testing/index.ts";
import { Thread } from "../thread/thread.ts";
import { createRunAgent } from "./agent.ts";
import { readBudget, withPricedBudget } from "./budget.ts";
import { DEFAULT_SETTINGS, type RunSettings } from "./settings.ts";

const usage_metadata = { input_tokens: 900, output_tokens: 100, total_tokens: 1000 };
const turn = (name: string, args: Record<string, unknown>, id: string) =>
  Object.assign(new AIMessage({ content: "", tool_calls: [{ name, args, id }] }), { usage_metadata });
const look = (n: number) => turn("ls", { path: `/${n}` }, `l${n}`);
const delegate = turn("task", { description: "look", subagent_type: "general-purpose" }, "t");

async function run(checkpointer: MemorySaver, steps: Step[], budget?: RunSettings["budget"]) {
  const settings = { ...DEFAULT_SETTINGS, model: "scripted", ...(budget && { budget }) };
  const model = new ScriptedModel(steps);
  const agent = createRunAgent({ settings, model, checkpointer });
  const thread = new Thread(agent, "t");
  const { createdAt } = await thread.state();
  const input = createdAt === undefined ? "Go" : await thread.nextInput();
  return runGraph(input === null ? null : taskInput(input!, {}), {
    thread,
    model: { model, name: "scripted", source: "option" },
    emit: () => {},
    signal: new AbortController().signal,
    answer: () => Promise.resolve(undefined),
  });
}

describe("a run that has used up its budget", () => {
  it("names the spent budget, and continues on resume", async () => {
    const saver = new MemorySaver();
    const stopped = await run(saver, [look(1), look(2), look(3)], { tokens: 2000 });
    const answer = "Stopped after 2,000 tokens, the most for one run.";
    expect(stopped).toMatchObject({ outcome: "open", reason: "token-limit", answer });
    expect(await run(saver, ["Done."])).toMatchObject({ outcome: "done", answer: "Done." });
  });

  it("keeps the work of a sub-agent, and continues in that sub-agent", async () => {
    const saver = new MemorySaver();
    const prices = { input: 3, output: 15, cached: 3 };
    const stopped = await run(saver, [delegate, look(1), look(2)], { cost: 0.005, prices });
    expect(stopped).toMatchObject({ outcome: "open", reason: "cost-limit" });
    const again = await run(saver, ["Seen.", "Done."], { ms: 60_000 });
    expect(again).toMatchObject({ outcome: "done", answer: "Done." });
  });
});

describe("--budget", () => {
  it("is a list of amounts", () => {
    expect(readBudget("tokens=200000, cost=2.5,minutes=0.5,item-tokens=5000")).toEqual({
      tokens: 200_000,
      cost: 2.5,
      ms: 30_000,
      perItem: { tokens: 5000 },
    });
  });

  it.each([
    "5",
    "tokens",
    "tokens=",
    "tokens=-1",
    "tokens=1.5",
    "hours=2",
    "tokens=1=2",
    "tokens=Infinity",
    "",
  ])("is refused as %j", (text) => {
    expect(() => readBudget(text)).toThrow(/^--budget is /);
  });

  it("needs prices for dollars", () => {
    const prices = { input: 3, output: 15, cached: 0.3 };
    expect(() => withPricedBudget({ budget: { cost: 5 } }, undefined)).toThrow("set HOLDFAST_PRICES");
    expect(() => withPricedBudget({ budget: { perItem: { cost: 5 } } }, undefined)).toThrow(
      "set HOLDFAST_PRICES",
    );
    expect(withPricedBudget({ budget: { cost: 5 } }, prices)).toEqual({ budget: { cost: 5, prices } });
    // A thread knows the prices that it was begun with.
    const priced = { budget: { cost: 5, prices } };
    expect(withPricedBudget(priced, undefined)).toEqual(priced);
  });
});
