import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { Command, Send } from "@langchain/langgraph";
import { DeltaSnapshot, MemorySaver, type Checkpoint } from "@langchain/langgraph-checkpoint";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rounds } from "../../../test/helpers/runner/rounds.ts";
import { sqliteSaver } from "../sqlite.ts";
import type { SqliteSaver } from "../sqlite/saver.ts";

const CONFIG = { configurable: { thread_id: "t", checkpoint_ns: "" } };
const METADATA = { source: "loop", step: 0, parents: {} } as const;

let saver: SqliteSaver;
let next = 0;
beforeAll(async () => void (saver = await sqliteSaver(":memory:")));
afterAll(() => saver.close());

const text = fc.oneof(fc.string({ unit: "binary" }), fc.string({ minLength: 100, maxLength: 700 }));
const id = fc.uuid();
// LangGraph's serializer drops a key `__proto__` (the store keeps it, as a test below says), and Vitest compares
// objects by what they say their constructor is.
const ODD_KEYS = /^(__proto__|constructor)$/;
const name = fc.string().filter((key) => !ODD_KEYS.test(key));
const json = fc.jsonValue().filter((value) => !/"(__proto__|constructor)":/.test(JSON.stringify(value)));
const call = fc.record({
  id,
  name: fc.string(),
  args: fc.dictionary(name, json),
});
const extra = fc.dictionary(name, json);
const content = fc.oneof(
  text,
  fc.array(
    text.map((part) => ({ type: "text" as const, text: part })),
    { maxLength: 3 },
  ),
);
const message = fc.oneof(
  fc.record({ id, content, additional_kwargs: extra }).map((fields) => new HumanMessage(fields)),
  fc.record({ id, content: text }).map((fields) => new SystemMessage(fields)),
  fc
    .record({ id, content, tool_calls: fc.array(call, { maxLength: 3 }) })
    .map((fields) => new AIMessage(fields)),
  fc.record({ id, content: text }).map((fields) => new AIMessageChunk(fields)),
  fc.record({ id, content: text, tool_call_id: id, artifact: json }).map((fields) => new ToolMessage(fields)),
  fc.record({ id, content: text, role: fc.string() }).map((fields) => new ChatMessage(fields)),
  id.map((of) => new RemoveMessage({ id: of })),
);
const key = fc.oneof(fc.string(), fc.constantFrom("~", "~s", "~~", "lc", "type", "0"));
const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })).map((n) => n + 0);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, undefined, true, false),
    number,
    text,
    message,
    fc.uint8Array({ maxLength: 300 }),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(key, tie("value"), { maxKeys: 5 }),
    fc.array(tie("value"), { maxLength: 3 }).map((items) => new Set(items)),
    fc.array(fc.tuple(text, tie("value")), { maxLength: 3 }).map((entries) => new Map(entries)),
    fc.array(text, { minLength: 60, maxLength: 200 }),
    fc
      .array(fc.tuple(text, number), { minLength: 60, maxLength: 200 })
      .map((entries) => Object.fromEntries(entries)),
    tie("value").map((args) => ({ node: "tools", args })),
    tie("value").map((inner) => new DeltaSnapshot(inner)),
  ),
}));

describe("a value of a channel", () => {
  it("is read as LangGraph's own serializer reads it", async () => {
    const check = async (channel: unknown): Promise<void> => {
      // LangGraph's serializer drops a key of this name; here it is kept.
      fc.pre(!(JSON.stringify(channel) ?? "").includes('"__proto__"'));
      expect(await throughStore(channel)).toStrictEqual(await throughSerializer(channel));
    };
    // Without shrinking: it would take minutes on values this large.
    await fc.assert(fc.asyncProperty(value, check), { numRuns: rounds(300), endOnFailure: true });
  });

  it("is read as it was, for every kind of message and collection", async () => {
    const kept = [
      new HumanMessage({ id: "1", content: "question" }),
      new AIMessage({ id: "2", content: "", tool_calls: [{ id: "c", name: "f", args: { a: 1 } }] }),
      new ToolMessage({ id: "3", tool_call_id: "c", content: "answer ".repeat(300) }),
      new Map<string, unknown>([["m", new HumanMessage({ id: "4", content: "in a map" })]]),
      new Set([1, "two"]),
      new Uint8Array([0, 255]),
      undefined,
      /a+/gi,
      { "~": 1, "~s": [2], lc: 3, nested: { "~~": null } },
    ];
    expect(await throughStore(kept)).toStrictEqual(kept);
  });

  it("in a send is the plain object that LangGraph reads", async () => {
    const args = { messages: [new HumanMessage({ id: "1", content: "question" })] };
    expect(await throughStore([new Send("tools", args)])).toEqual([{ node: "tools", args }]);
  });

  it.each([
    ["a command", new Command({ update: { a: "x".repeat(200) }, goto: "b" })],
    ["a date", { at: new Date(0) }],
    ["an error", new Error("x".repeat(200))],
    [
      "an object of a class",
      new (class Point {
        x = "1".repeat(200);
      })(),
    ],
    ["what has a toJSON", { toJSON: () => ({ a: "x".repeat(200) }) }],
    ["a hole in a list", [1, , 3]], // oxlint-disable-line no-sparse-arrays
    ["not a number", [Number.NaN, Number.POSITIVE_INFINITY]],
    ["a function", { keep: 1, drop: () => 1, list: [() => 1] }],
  ])("is read back as by LangGraph's serializer when the value is %s", async (_, odd) => {
    expect(await throughStore(odd)).toStrictEqual(await throughSerializer(odd));
  });

  it("is cut at the point where the value contains itself", async () => {
    const loop: Record<string, unknown> = { name: "loop" };
    loop["self"] = loop;
    expect(await throughStore({ loop })).toEqual({ loop: { name: "loop", self: "[Circular]" } });
    const map = new Map<string, unknown>();
    map.set("self", map);
    expect(await throughStore(map)).toEqual(new Map([["self", "[Circular]"]]));
  });

  it("is refused when Holdfast cannot save the value, and the store keeps working", async () => {
    const shared = new HumanMessage({ id: "1", content: "kept ".repeat(100) });
    await expect(throughStore([shared, 1n])).rejects.toThrow("BigInt");
    expect(await throughStore([shared])).toStrictEqual([shared]);
  });

  it("is read back when nested deep, and refused with a message when nested too deep", async () => {
    const nested = (depth: number): unknown => {
      let inner: unknown = "x";
      for (let at = 0; at < depth; at++) inner = at % 2 === 0 ? [inner] : { a: inner };
      return inner;
    };
    const holding = (depth: number) => [
      nested(depth),
      new AIMessage({
        id: "1",
        content: "",
        tool_calls: [{ id: "c", name: "f", args: { a: nested(depth) } }],
      }),
    ];
    expect(await throughStore(holding(400))).toStrictEqual(holding(400));
    for (const part of holding(10_000)) {
      await expect(throughStore([part])).rejects.toMatchObject({ code: "invalid-request" });
    }
  });

  it("is saved as it is at the call, also with a message changed since its last save", async () => {
    const changing = new AIMessage({
      id: "1",
      content: "first ".repeat(100),
      additional_kwargs: { deep: { a: 1 } },
    });
    await throughStore([changing]);
    (changing.additional_kwargs["deep"] as { a: number }).a = 2;
    const checkpoint = checkpointOf([changing]);
    const saved = saver.put(CONFIG, checkpoint, METADATA, checkpoint.channel_versions);
    changing.content = "too late";
    const tuple = await saver.getTuple(await saved);
    const [found] = tuple!.checkpoint.channel_values["channel"] as [AIMessage];
    expect(found.additional_kwargs).toEqual({ deep: { a: 2 } });
    expect(found.content).toBe("first ".repeat(100));
  });

  it("keeps a key that would be the prototype of another object", async () => {
    const odd: unknown = JSON.parse('{"__proto__":{"a":1},"b":2}');
    expect(JSON.stringify(await throughStore({ odd }))).toBe(JSON.stringify({ odd }));
  });
});

function checkpointOf(channel: unknown): Checkpoint {
  return {
    v: 4,
    id: String(++next).padStart(8, "0"),
    ts: "2026-01-01",
    channel_values: { channel },
    channel_versions: { channel: next },
    versions_seen: {},
  };
}

async function throughStore(channel: unknown): Promise<unknown> {
  const checkpoint = checkpointOf(channel);
  const place = await saver.put(CONFIG, checkpoint, METADATA, checkpoint.channel_versions);
  const tuple = await saver.getTuple(place);
  await saver.putWrites(place, [["channel", channel]], "task");
  const [write] = (await saver.getTuple(place))!.pendingWrites!;
  expect(write![2]).toStrictEqual(tuple!.checkpoint.channel_values["channel"]);
  return write![2];
}

async function throughSerializer(channel: unknown): Promise<unknown> {
  const { serde } = new MemorySaver();
  const [type, bytes] = await serde.dumpsTyped({ channel });
  return ((await serde.loadsTyped(type, bytes)) as { channel: unknown }).channel;
}
