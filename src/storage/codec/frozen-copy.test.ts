import { AIMessage } from "@langchain/core/messages";
import { Send } from "@langchain/langgraph";
import { DeltaSnapshot } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";
import { Encoder } from "./encode.ts";
import { frozenCopy } from "./frozen-copy.ts";
import { toJson } from "./json.ts";
import { Memo } from "./memo.ts";
import { MessageLists } from "./message-lists.ts";

it("later changes of the value do not change the copy", () => {
  const value = { list: [{ name: "one" }], none: null, count: 1 };
  const copy = frozenCopy(value);
  value.list[0]!.name = "two";
  value.list.push({ name: "three" });
  value.count = 2;
  expect(copy).toEqual({ list: [{ name: "one" }], none: null, count: 1 });
});

it("changes in a map, set, bytes, class instance or send do not change the copy", () => {
  class Counter {
    count = 1;
  }
  const list = ["a"];
  const [map, set, bytes, counter] = [new Map([["a", list]]), new Set(list), Buffer.from("a"), new Counter()];
  const value = { map, set, bytes, counter, send: new Send("node", { list, again: new Send("node", map) }) };
  const before = toJson(value);
  const copy = frozenCopy(value);
  const stored = encoded(copy);
  list.push("b");
  map.set("b", []);
  set.add("b");
  bytes[0] = 0;
  counter.count = 2;
  expect(toJson(value)).not.toBe(before);
  expect(encoded(copy)).toEqual(stored);
});

it("the copy is stored as the value itself", () => {
  const written = { lc: 1, type: "constructor", id: ["a"], kwargs: { map: new Map([["a", new Set([1])]]) } };
  const own = { of: new Date(0), toJSON: () => ({ map: new Map() }) };
  const value = [new Date(0), new Error("no"), /a/g, { written, own, none: undefined, nothing: null }];
  const marked = [new Send("node", value), new DeltaSnapshot(value), new AIMessage("hello")];
  for (const each of [...value, value, Object.create(null), ...marked]) {
    expect(encoded(frozenCopy(each))).toEqual(encoded(each));
  }
});

it("messages are not copied", () => {
  const message = new AIMessage("hello");
  const copy = frozenCopy([{ message }]) as [{ message: unknown }];
  expect(copy[0].message).toBe(message);
});

it("the copy keeps cycles, and Holdfast leaves a too deeply nested value as it is", () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  const copy = frozenCopy(circle) as typeof circle;
  expect(copy).not.toBe(circle);
  expect(copy.self).toBe(copy);
  let deep: unknown = "the end";
  for (let n = 0; n < 100_000; n += 1) deep = [deep];
  expect(() => frozenCopy(deep)).not.toThrow();
});

it("a record with a key of any name stays a plain record", () => {
  const value = JSON.parse('{"__proto__": {"a": [1]}, "b": 2}') as object;
  const copy = frozenCopy(value) as object;
  expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
});

/** What a value is stored as. */
function encoded(value: unknown): unknown[] {
  const stored: unknown[] = [];
  const put = (_thread: number, kind: string, body: string | Uint8Array): number =>
    stored.push([kind, Buffer.from(body).toString()]);
  const encoder = new Encoder({ blobs: { put }, memo: new Memo(), lists: new MessageLists(), thread: 1 });
  return [encoder.encode(value), ...stored];
}
