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
  it("has a line of help and no costs of items", () => {
    expect(planText([DUG])).toMatch(/^<!-- One item per line\.[^]*-->\n- \[x\] #1: Dig\n$/);
  });

  it("returns the items with their costs", () => {
    const edited = `${planText([DUG])}- [ ] Plant\n`;
    expect(planItems(edited, [DUG])).toEqual([DUG, { content: "Plant", status: "pending" }]);
  });

  it("is refused as a cancelled edit when it has no items", () => {
    expect(() => planItems("", [DUG])).toThrow("There are no items in it");
  });
});
