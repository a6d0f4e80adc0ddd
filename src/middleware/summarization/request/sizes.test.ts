import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import {
  createAgent,
  summarizationMiddleware as langchainSummarization,
  type AnyAgentMiddleware,
} from "langchain";
import { describe, expect, it } from "vitest";
import { ScriptedModel } from "../../../testing/index.ts";
import { summarizationMiddleware, type ContextSize } from "../index.ts";
import { cutOf } from "./sizes.ts";

/** A model that takes 1,000 tokens. */
class SmallModel extends ScriptedModel {
  override get profile() {
    return { maxInputTokens: 1000 };
  }
}

const keep = { messages: 2 };
const SIZES: (ContextSize | ContextSize[])[] = [
  { messages: 6 },
  { tokens: 120 },
  { fraction: 0.12 },
  { messages: 6, tokens: 200 },
  { tokens: 60, fraction: 0.2 },
  [{ messages: 100 }, { tokens: 120 }],
  [{ messages: 4, tokens: 200 }, { fraction: 0.15 }],
  [],
];

describe("a conversation is summarized where LangChain would", () => {
  it.each(SIZES.map((trigger) => ({ trigger })))("by $trigger", async ({ trigger }) => {
    const lengths = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    const found = await Promise.all(lengths.map((length) => isSummarized(trigger, length, true)));
    expect(found).toEqual(await Promise.all(lengths.map((length) => isSummarized(trigger, length, false))));
    expect(found).toContain(false);
  });

  it("by the size in the run's context rather than the configured size", async () => {
    const context = { trigger: { messages: 3 } };
    expect(await isSummarized({ messages: 100 }, 5, true, context)).toBe(true);
    expect(await isSummarized({ messages: 3 }, 5, true, { trigger: { messages: 100 } })).toBe(false);
  });

  it("a fraction is an error when no profile gives the model's input length", async () => {
    const model = new ScriptedModel(["Well."]);
    const trigger = { tokens: 1000, fraction: 0.5 };
    const middleware = [summarizationMiddleware({ model, trigger, keep })];
    const run = createAgent({ model, tools: [], middleware }).invoke({ messages: "Go." });
    await expect(run).rejects.toThrow("a fraction needs a model whose profile");
  });
});

async function isSummarized(
  trigger: ContextSize | ContextSize[],
  length: number,
  isOurs: boolean,
  context?: object,
): Promise<boolean> {
  const model = new SmallModel([({ messages }) => (isSummary(messages) ? "A summary." : "Well.")], {
    loop: true,
  });
  const create = isOurs ? summarizationMiddleware : langchainSummarization;
  const middleware = [create({ model, trigger, keep }) as AnyAgentMiddleware];
  const agent = createAgent({ model, tools: [], middleware });
  const messages = Array.from({ length }, (_, n) => new HumanMessage(`${n} `.repeat(40)));
  await agent.invoke({ messages }, { context } as never);
  const sent = model.requests.at(-1)!.messages;
  return sent.some(({ additional_kwargs }) => additional_kwargs["lc_source"] === "summarization");
}

/** Whether a summary is asked for, by LangChain or by us. */
function isSummary(messages: readonly BaseMessage[]): boolean {
  return messages.some(({ text }) => /Context Extraction|Write the summary under these headings/.test(text));
}

describe("the last turn, whose results the model has not seen yet,", () => {
  const calls = [1, 2, 3].map((n) => ({ id: `c${n}`, name: "look", args: {} }));
  const messages = [
    new HumanMessage("Go."),
    new AIMessage("Well."),
    new AIMessage({ content: "", tool_calls: calls }),
    ...calls.map(({ id }) => new ToolMessage({ content: "x", tool_call_id: id })),
  ];
  /** Each result has 1,440 tokens. */
  const count = (some: readonly BaseMessage[]): number =>
    some.reduce((sum, { type }) => sum + (type === "tool" ? 1440 : 10), 0);
  const sizes = { trigger: [{ tokens: 8000 }], keep: { messages: 2 }, window: undefined };

  it("stays while the next request has room for it with the prompt and the tools", () => {
    expect(cutOf(messages, { ...sizes, besides: 2500 }, count)).toBe(2);
  });

  it("goes where it alone is too much", () => {
    expect(cutOf(messages, { ...sizes, besides: 6000 }, count)).toBe(messages.length);
  });
});
