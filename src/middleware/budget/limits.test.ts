import { setTimeout as sleep } from "node:timers/promises";
import { AIMessage, HumanMessage, type BaseMessage, type UsageMetadata } from "@langchain/core/messages";
import { tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../deep/index.ts";
import { metadataOf } from "../../marks.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import type { BudgetOptions } from "./options.ts";

type ScriptedCall = ReturnType<typeof callTool>;

const go = { messages: [new HumanMessage("go")] };
const USAGE: UsageMetadata = {
  input_tokens: 1000,
  output_tokens: 100,
  total_tokens: 1100,
  input_token_details: { cache_read: 400 },
};
/** 600 × 3 + 400 × 0.3 + 100 × 15 millionths of a dollar. */
const COST = 0.00342;
const prices = { input: 3, output: 15, cached: 0.3 };

/** An answer with calls that was paid for. */
const turn = (...calls: ScriptedCall[]): AIMessage =>
  Object.assign(
    new AIMessage({
      content: calls.length > 0 ? "" : "Done.",
      tool_calls: calls.map((call) => ({ ...call, id: `${call.name}-${(made += 1)}` })),
    }),
    { usage_metadata: USAGE },
  );
let made = 0;

let looks = 0;
const look = () => callTool("ls", { path: `/${(looks += 1)}` });
const delegate = (more = {}) =>
  callTool("task", { description: "look", subagent_type: "general-purpose", ...more });

async function run(budget: BudgetOptions, steps: Step[]) {
  const model = new ScriptedModel(steps);
  const agent = createDeepAgent({ model, budget, tools: [rest] });
  const { messages } = (await agent.invoke(go)) as { messages: BaseMessage[] };
  const last = messages.at(-1)!;
  return { model, text: last.text, reason: metadataOf(last)["finish_reason"], messages };
}

const rest = tool(async () => (await sleep(20), "rested"), {
  name: "rest",
  description: "rests",
  schema: z.object({}),
});
const warned = ({ requests }: ScriptedModel) =>
  requests.map(({ messages }) =>
    messages.filter(({ name }) => name === "budget_warning").map(({ text }) => text),
  );

describe("the spending limit of a run", () => {
  it("covers tokens, including those of sub-agents", async () => {
    const { text, reason, model } = await run({ tokens: 4000 }, [
      turn(look()),
      turn(delegate()),
      turn(look()),
      turn(look()),
      turn(look()),
    ]);
    expect(text).toBe("Stopped after 4,000 tokens, the most for one run.");
    expect(reason).toBe("budget");
    expect(model.requests).toHaveLength(4);
  });

  it("covers dollars, at a lower price for cached tokens", async () => {
    const steps = Array.from({ length: 5 }, () => turn(look()));
    const { text, model } = await run({ cost: 3 * COST - 0.0001, prices }, steps);
    expect(text).toBe("Stopped after $0.01016, the most for one run.");
    expect(model.requests).toHaveLength(3);
  });

  it("covers time", async () => {
    const { text, model } = await run({ ms: 10 }, [callTool("rest"), "Never said."]);
    expect(text).toBe("Stopped after 0.01 seconds, the most for one run.");
    expect(model.requests).toHaveLength(1);
  });

  it("covers one item, including the work of its sub-agents", async () => {
    const { text, model } = await run({ perItem: { tokens: 3000 } }, [
      turn(look(), look()),
      turn(look()),
      turn(look()),
      turn(callTool("write_todos", { todos: ["One", "Two"] })),
      turn(look()),
      turn(callTool("update_todos", { done: "1: looked" }), look()),
      turn(delegate({ todo_id: "2" })),
      turn(look()),
      turn(look()),
      turn(look()),
    ]);
    expect(text).toBe("Stopped after 3,000 tokens, the most for one item (2).");
    expect(model.requests).toHaveLength(9);
  });

  it("needs prices for dollars, unless the model is known by its name", () => {
    expect(() => createDeepAgent({ model: "openai:gpt-5.1", budget: { cost: 1 } })).not.toThrow();
    expect(() => createDeepAgent({ model: "openai:gpt-0", budget: { cost: 1 } })).toThrow("needs prices");
    expect(() => createDeepAgent({ model: new ScriptedModel([]), budget: { cost: 1 } })).toThrow(
      "createDeepAgent: budget: has a cost and needs prices",
    );
  });
});

describe("before a limit is reached", () => {
  it("Holdfast warns each agent once, at the end of its request", async () => {
    const { model, messages } = await run({ tokens: 5500 }, [
      turn(look()),
      turn(look()),
      turn(look()),
      turn(look()),
      turn(delegate()),
      turn(),
      "ok",
    ]);
    const told = warned(model);
    expect(told.slice(0, 4).flat()).toEqual([]);
    expect(told[4]).toEqual([
      "<system_reminder>80% of what one run may spend (5,500 tokens) is gone; it is stopped at the limit. Finish what matters most now, and say what is left.</system_reminder>",
    ]);
    expect(model.requests[4]!.messages.at(-1)!.name).toBe("budget_warning");
    expect(messages.some(({ name }) => name === "budget_warning")).toBe(false);
  });

  it("Holdfast gives no warning when enough of the budget is left", async () => {
    const { model } = await run({ tokens: 1_000_000, ms: 1_000_000 }, [turn(look()), turn()]);
    expect(warned(model).flat()).toEqual([]);
  });
});
