import { AIMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { asItIs } from "./as-it-is.ts";

it("what is changed afterwards is not changed in it", () => {
  const value = { list: [{ name: "one" }], none: null, count: 1 };
  const copy = asItIs(value);
  value.list[0]!.name = "two";
  value.list.push({ name: "three" });
  value.count = 2;
  expect(copy).toEqual({ list: [{ name: "one" }], none: null, count: 1 });
});

it("messages, dates and other objects are the same ones", () => {
  const [message, date] = [new AIMessage("hello"), new Date()];
  const copy = asItIs([message, { date }]) as [unknown, { date: unknown }];
  expect(copy[0]).toBe(message);
  expect(copy[1].date).toBe(date);
});

it("what leads back to itself does so in the copy, and what is too deep stays what it is", () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  const copy = asItIs(circle) as typeof circle;
  expect(copy).not.toBe(circle);
  expect(copy.self).toBe(copy);
  let deep: unknown = "the end";
  for (let n = 0; n < 100_000; n += 1) deep = [deep];
  expect(() => asItIs(deep)).not.toThrow();
});

it("a record with a key of any name stays a plain record", () => {
  const value = JSON.parse('{"__proto__": {"a": [1]}, "b": 2}') as object;
  const copy = asItIs(value) as object;
  expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
});
