import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { rounds } from "../../../test/rounds.ts";
import { paired } from "../dangling-calls/index.ts";
import { Beginnings } from "./beginnings.ts";

const [first, second, third] = [new HumanMessage("1"), new AIMessage("2"), new HumanMessage("3")];

it("a beginning is known by its messages, and only while they are the same ones", () => {
  const beginnings = new Beginnings<string>();
  expect(beginnings.of([])).toBeUndefined();
  beginnings.keep([first, second], 2, "two");
  expect(beginnings.of([first, second, third])).toMatchObject({ length: 2, found: "two" });
  expect(beginnings.of([first])).toBeUndefined();
  expect(beginnings.of([first, new AIMessage("2"), third])).toBeUndefined();
  expect(beginnings.of([third, second])).toBeUndefined();
});

it("calls and results are paired as if the conversation had never been seen before", () => {
  const ids = ["a", "b", "c"];
  const step = fc.oneof(
    fc.subarray(ids, { minLength: 1 }).map((calls) => ({ calls })),
    fc.constantFrom(...ids).map((result) => ({ result })),
    fc.constant({ text: "hello" }),
  );
  type Step = { calls?: string[]; result?: string; text?: string };
  const toMessage = ({ calls, result }: Step): BaseMessage => {
    if (calls)
      return new AIMessage({ content: "", tool_calls: calls.map((id) => ({ id, name: id, args: {} })) });
    return result === undefined
      ? new HumanMessage("hello")
      : new ToolMessage({ content: "r", tool_call_id: result });
  };
  const shown = (messages: BaseMessage[]): string =>
    JSON.stringify(messages.map((message) => [message.type, (message as ToolMessage).tool_call_id]));
  const check = (steps: Step[]): void => {
    const thread = [new HumanMessage("Go"), ...steps.map(toMessage)];
    for (let length = 1; length <= thread.length; length += 1) {
      // With a reminder at its end, which is not there in the next request.
      const request = [...thread.slice(0, length), new HumanMessage("reminder")];
      const anew = [new HumanMessage("Go"), ...request.slice(1)];
      expect(shown(paired(request))).toBe(shown(paired(anew)));
    }
  };
  fc.assert(fc.property(fc.array(step, { maxLength: 12 }), check), { numRuns: rounds(300) });
});
