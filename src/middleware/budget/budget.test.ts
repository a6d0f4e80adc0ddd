import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, HumanMessage, type BaseMessage, type UsageMetadata } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { describe, expect, it } from "vitest";
import { createDeepAgent } from "../../deep/index.ts";
import { DEFAULT_MIDDLEWARE, type DeepAgentOptions } from "../../deep/options.ts";
import { makeLeadAgent } from "../../lead/index.ts";
import { metadataOf } from "../../marks.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import type { BudgetOptions } from "./options.ts";

type ScriptedCall = ReturnType<typeof callTool>;

const go = { messages: [new HumanMessage("go")] };

/** A model that never ends: it does something else each time. */
function endless(act: (n: number) => ScriptedCall | ScriptedCall[] = look): ScriptedModel {
  let made = 0;
  return new ScriptedModel([(): Step => act((made += 1))], { loop: true });
}

const look = (n: number): ScriptedCall => callTool("ls", { path: `/${n}` });
const delegate = (n: number): ScriptedCall =>
  callTool("task", { description: `Job ${n}`, subagent_type: "general-purpose" });

type Options = Pick<
  DeepAgentOptions,
  "budget" | "loopGuard" | "maxDepth" | "middleware" | "plan" | "subagents" | "summarization" | "without"
> & {
  model: ScriptedModel;
};

async function end(options: Options) {
  const agent = createDeepAgent({ plan: false, ...options });
  const { messages } = (await agent.invoke(go)) as { messages: BaseMessage[] };
  const { text, response_metadata } = messages.at(-1)!;
  return { text, reason: metadataOf({ response_metadata })["finish_reason"], messages };
}

const STOPPED = "Stopped after 12 model calls, the most for one run.";
const budget: BudgetOptions = { modelCalls: 12 };

describe("the budget of a run", () => {
  it("ends an endless main agent with a message, by default after 1,000 model calls", async () => {
    const model = endless();
    const without = DEFAULT_MIDDLEWARE.filter(
      (name) => !["BudgetMiddleware", "FilesMiddleware"].includes(name),
    );
    // Many calls in a step: a conversation of a thousand steps would show no more.
    const often = createMiddleware({
      name: "Often",
      wrapModelCall: async (request, handler) => {
        for (let n = 1; n < 25; n += 1) await handler(request);
        return handler(request);
      },
    });
    const { text, reason } = await end({ model, without, middleware: [often] });
    expect({ text, reason }).toEqual({
      text: "Stopped after 1,000 model calls, the most for one run.",
      reason: "budget",
    });
    expect(model.requests).toHaveLength(1000);
  });

  it("is one for all sub-agents, side by side and at every depth", async () => {
    const model = endless((n) => Array.from({ length: 3 }, (_, at) => delegate(n * 3 + at)));
    const { text } = await end({ model, budget, maxDepth: 3 });
    expect(text).toBe(STOPPED);
    expect(model.requests).toHaveLength(12);
  });

  it("ends a sub-agent with its partial result and the reason", async () => {
    let turn = 0;
    const steps = (): Step => {
      turn += 1;
      if (turn === 1) return delegate(1);
      const calls = [{ ...look(turn), id: `c${turn}`, type: "tool_call" as const }];
      return new AIMessage({ content: `Seen ${turn}.`, tool_calls: calls });
    };
    const model = new ScriptedModel([steps], { loop: true });
    const { messages } = await end({ model, budget });
    expect(messages.at(-2)!.text).toBe(
      "Seen 12.\n[In part: Stopped after 12 model calls, the most for one run.]",
    );
  });

  it("counts the calls that are repeated within a step", async () => {
    const model = new ScriptedModel([callTool("write_todos", { todos: ["A", "B"] }), "", "", "", ""], {
      loop: true,
    });
    const { text } = await end({ model, plan: {}, budget: { modelCalls: 3 } });
    expect(text).toBe("Stopped after 3 model calls, the most for one run.");
    expect(model.requests).toHaveLength(3);
  });

  it("is whole again for the next message, and for another run at the same time", async () => {
    const model = endless();
    const agent = createDeepAgent({ model, budget, plan: false, checkpointer: new MemorySaver() });
    const run = (thread_id: string) => agent.invoke(go, { configurable: { thread_id } });
    await Promise.all([run("a"), run("b")]);
    await run("a");
    expect(model.requests).toHaveLength(36);
  });

  it("can be in tokens", async () => {
    const usage: UsageMetadata = { input_tokens: 90, output_tokens: 10, total_tokens: 100 };
    let n = 0;
    const model = new ScriptedModel(
      [
        () => {
          const tool_calls = [{ ...look((n += 1)), id: `c${n}`, type: "tool_call" as const }];
          return Object.assign(new AIMessage({ content: "", tool_calls }), { usage_metadata: usage });
        },
      ],
      { loop: true },
    );
    const { text } = await end({ model, budget: { tokens: 1000 } });
    expect(text).toBe("Stopped after 1,000 tokens, the most for one run.");
    expect(model.requests).toHaveLength(10);
  });

  it.each([
    ["of the run", undefined, 60],
    ["of the model that writes them", { input: 10, output: 10 }, 9],
  ] as const)("counts what summaries cost, by the prices %s", async (_name, prices, most) => {
    const usage_metadata = { input_tokens: 100_000, output_tokens: 0, total_tokens: 100_000 };
    const summary = Object.assign(new AIMessage("They looked."), { usage_metadata });
    const model = endless();
    const writer = new ScriptedModel([(): Step => summary], { loop: true });
    const summarization = {
      model: writer,
      prices,
      trigger: { messages: 6 },
      keep: { messages: 2 },
    };
    const { text } = await end({
      model,
      summarization,
      budget: { cost: 1.95, prices: { input: 1, output: 1 } },
    });
    expect(text).toBe("Stopped after $1.95, the most for one run.");
    // A summary in two turns or so, for 10 cents or a dollar.
    expect(writer.requests).toHaveLength(prices ? 2 : 20);
    expect(model.requests.length).toBeLessThan(most);
  });

  it("holds for a deep agent used as a sub-agent, in addition to its parent's budget", async () => {
    const inner = endless();
    const runnable = createDeepAgent({ model: inner, plan: false, budget: { modelCalls: 3 } });
    const outer = new ScriptedModel(
      Array.from({ length: 3 }, (_, n) => callTool("task", { description: `${n}`, subagent_type: "inner" })),
      { loop: true },
    );
    const subagents = [{ name: "inner", description: "i", runnable }];
    const { text } = await end({ model: outer, subagents, budget: { modelCalls: 5 } });
    expect(text).toBe("Stopped after 5 model calls, the most for one run.");
    expect(inner.requests).toHaveLength(3);
    expect(outer.requests).toHaveLength(2);
  });

  it("holds for a lead agent and its sub-agents, too", async () => {
    let turn = 0;
    const model = endless((n) => ((turn += 1) === 1 ? [delegate(1), delegate(2)] : look(n)));
    const config = { configurable: { thread_id: "t", subagent_enabled: true } };
    const baseDir = mkdtempSync(join(tmpdir(), "holdfast-budget-"));
    const agent = makeLeadAgent(config, {
      model,
      budget,
      baseDir,
      title: { model: new ScriptedModel(["T"]) },
    });
    const { messages } = await agent.invoke(go, config);
    expect(messages.at(-1)!.text).toBe(STOPPED);
    expect(model.requests).toHaveLength(12);
  });
});

describe("the loop guard of a deep agent", () => {
  const same = () => new ScriptedModel([callTool("ls", { path: "/" })], { loop: true });

  it("is there by default, also in sub-agents", async () => {
    const model = same();
    const { reason } = await end({ model });
    expect(reason).toBe("loop_guard");
    expect(model.requests).toHaveLength(5);
    const helper = same();
    const subagents = [{ name: "helper", description: "h", model: helper }];
    const task = callTool("task", { description: "Look", subagent_type: "helper" });
    await end({ model: new ScriptedModel([task, "ok"]), subagents });
    expect(helper.requests).toHaveLength(5);
  });

  it("has limits, and can be left out", async () => {
    const strict = same();
    await end({ model: strict, loopGuard: { stopAfter: 2 } });
    expect(strict.requests).toHaveLength(2);
    const free = same();
    expect((await end({ model: free, loopGuard: false, budget })).reason).toBe("budget");
    expect(free.requests).toHaveLength(12);
  });
});
