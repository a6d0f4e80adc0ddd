import { expect, it } from "vitest";
import { ChildStream } from "./child-stream.ts";

function caller() {
  const heard: unknown[] = [];
  return {
    heard,
    closed: false,
    modes: new Set(["custom"]),
    push(chunk: unknown) {
      // As LangGraph's stream does.
      if (!this.closed) heard.push(chunk);
    },
  };
}

it("a child stream keeps chunks between two calls of its caller for the second", () => {
  const [first, second] = [caller(), caller()];
  const stream = new ChildStream(first);
  const chunk = (n: number): [string[], string, unknown] => [["a"], "custom", n];
  stream.push(chunk(1));
  first.closed = true;
  stream.push(chunk(2));
  stream.push(chunk(3));
  stream.switchTo(second);
  stream.push(chunk(4));
  expect(first.heard).toEqual([chunk(1)]);
  expect(second.heard).toEqual([chunk(2), chunk(3), chunk(4)]);
});
