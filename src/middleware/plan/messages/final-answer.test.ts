import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { asksBack, isAwaitingUser, isFinalAnswer } from "./final-answer.ts";

it("an answer is final unless the provider says that it is not one", () => {
  const reasons: [string, boolean][] = [
    ["stop", true],
    ["end_turn", true],
    ["STOP", true],
    ["length", false],
    ["MAX_TOKENS", false],
    ["refusal", false],
    ["SAFETY", false],
    ["RECITATION", false],
    ["pause_turn", false],
    ["content_filter", false],
    ["tool_use", false],
    ["loop_guard", false],
    ["budget", false],
  ];
  for (const [reason, isFinal] of reasons) {
    for (const key of ["finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason"]) {
      const inMetadata = new AIMessage({ content: "x", response_metadata: { [key]: reason } });
      const inKwargs = new AIMessage({ content: "x", additional_kwargs: { [key]: reason } });
      expect([reason, key, isFinalAnswer(inMetadata)]).toEqual([reason, key, isFinal]);
      expect([reason, key, isFinalAnswer(inKwargs)]).toEqual([reason, key, isFinal]);
    }
  }
  const cut = { incomplete_details: { reason: "max_output_tokens" } };
  expect(isFinalAnswer(new AIMessage({ content: "x", response_metadata: cut }))).toBe(false);
});

it("a text asks back when a question mark ends it, before any closing characters", () => {
  for (const text of ["Which?", "**Which one?**\n", '("Which?")', "どれですか？"])
    expect(asksBack(text)).toBe(true);
  for (const text of ["", "Done.", "Which? The second.", "`a ? b : c`"]) expect(asksBack(text)).toBe(false);
});

it("a question is open until the user has spoken or other tools were called", () => {
  const call = (name: string) =>
    new AIMessage({ content: "", tool_calls: [{ name, args: {}, id: "1", type: "tool_call" }] });
  expect(isAwaitingUser([new HumanMessage("go"), call("ask")], ["ask"])).toBe(true);
  expect(isAwaitingUser([call("ask"), call("work")], ["ask"])).toBe(false);
  expect(isAwaitingUser([call("ask"), new HumanMessage("b")], ["ask"])).toBe(false);
  expect(isAwaitingUser([], ["ask"])).toBe(false);
});
