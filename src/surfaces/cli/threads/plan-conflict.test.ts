import { describe, expect, it } from "vitest";
import type { Todo } from "../../../plan/index.ts";
import { planItems } from "../../../threads/plan/plan-text.ts";
import { planText } from "./plan-conflict.ts";

const DUG: Todo = {
  id: "1",
  content: "Dig",
  status: "completed",
  actuals: { startedAt: 1, elapsedMs: 4, modelCalls: 1, toolCalls: 2, inputTokens: 30, outputTokens: 5 },
};

describe("the text of a plan in an editor", () => {
  it("has a word of help and not what the items cost", () => {
    expect(planText([DUG])).toMatch(/^<!-- One item per line\.[^]*-->\n- \[x\] #1: Dig\n$/);
  });

  it("gives the items back with what they cost", () => {
    const edited = `${planText([DUG])}- [ ] Plant\n`;
    expect(planItems(edited, [DUG])).toEqual([DUG, { content: "Plant", status: "pending" }]);
  });

  it("without items is a change of mind", () => {
    expect(() => planItems("", [DUG])).toThrow("There are no items in it");
  });
});
