import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { Send } from "@langchain/langgraph";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WorkCounter } from "../../../test/helpers/measure/work-counter.ts";
import { isRelease, rounds } from "../../../test/helpers/runner/rounds.ts";
import { Blobs } from "../sqlite/blobs.ts";
import type { Connection } from "../sqlite/database/connection.ts";
import { openDatabase } from "../sqlite/file/open.ts";
import { Decoder } from "./decode.ts";
import { Encoder, REFERENCE } from "./encode.ts";
import { Memo } from "./memo.ts";
import { MessageLists, WATCHED_MESSAGES } from "./message-lists.ts";

/** What can be done to a list of messages between two checkpoints; `at` counts from its end. */
type Edit =
  | { kind: "append"; count: number }
  | { kind: "insert" | "replace" | "remove" | "cut"; at: number }
  | { kind: "change"; at: number }
  | { kind: "load" };

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ kind: fc.constant("append" as const), count: fc.integer({ min: 1, max: 40 }) }),
  fc.record({
    kind: fc.constantFrom("insert" as const, "replace" as const, "remove" as const, "cut" as const),
    at: fc.nat(400),
  }),
  fc.record({ kind: fc.constant("change" as const), at: fc.nat(WATCHED_MESSAGES - 1) }),
  fc.constant({ kind: "load" as const }),
);

let connection: Connection;
beforeEach(async () => void (connection = await openDatabase(":memory:")));
afterEach(() => connection.close());

describe("a list of messages", () => {
  it("is stored the same as by an encoder without memory, after any edits", async () => {
    const check = async (start: number, edits: Edit[]): Promise<void> => {
      const store = storeOf(1);
      let list = messagesOf(start);
      for (const each of edits) {
        list = each.kind === "load" ? await store.read(store.encoder.encode(list)) : applied(list, each);
        // An encoder that remembers nothing; in the same store, so that the same content has the same number.
        const anew = storeOf(1).encoder.encode(list);
        expect(plain(store.encoder.encode(list))).toBe(plain(anew));
        const read = await storeOf(1).read(anew);
        expect(await storeOf(1).read(store.encoder.encode(list))).toEqual(read);
        expect(read.map(textOf)).toEqual(list.map(textOf));
      }
    };
    const property = fc.asyncProperty(fc.nat(400), fc.array(edit, { minLength: 1, maxLength: 8 }), check);
    await fc.assert(property, { numRuns: rounds(60), interruptAfterTimeLimit: 60_000 });
  });

  it("is stored after a truncation as if the list had never been longer", () => {
    const { encoder } = storeOf(1);
    const list = messagesOf(300);
    encoder.encode(list);
    for (let length = 80; length > 0; length--) {
      const cut = list.slice(0, length);
      expect(plain(encoder.encode(cut))).toBe(plain(storeOf(1).encoder.encode(cut)));
    }
  });

  it("keeps an in-place change of a message that is no longer watched", async () => {
    const store = storeOf(1);
    for (let length = 80; length < 120; length++) {
      const list = messagesOf(length);
      store.encoder.encode(list);
      const at = length - 8;
      list[at]!.content = "changed";
      store.encoder.encode(list);
      const longer = [...list, ...messagesOf(11)];
      expect((await storeOf(1).read(store.encoder.encode(longer)))[at]!.text).toBe("changed");
    }
  });

  it("keeps an in-place change that a message got while the list was short", async () => {
    const store = storeOf(1);
    for (let length = 1; length < 64; length++) {
      const list = messagesOf(85);
      store.encoder.encode(list);
      const short = list.slice(0, length);
      short.at(-1)!.content = "changed";
      store.encoder.encode(short);
      const longer = [...short, ...messagesOf(64)];
      expect((await storeOf(1).read(store.encoder.encode(longer)))[length - 1]!.text).toBe("changed");
    }
  });

  it("stores an in-place change of a message only if the message is among the newest", () => {
    const { encoder } = storeOf(1);
    const list = messagesOf(300);
    const before = encoder.encode(list);
    list.at(-WATCHED_MESSAGES)!.additional_kwargs["seen"] = true;
    expect(encoder.encode(list)).not.toBe(before);
    const older = encoder.encode(list);
    list.at(-WATCHED_MESSAGES - 100)!.additional_kwargs["seen"] = true;
    expect(encoder.encode(list)).toBe(older);
  });

  it("is read the same again, with one object for a message in several places", async () => {
    const { encoder, read } = storeOf(1);
    const list = messagesOf(300);
    const text = encoder.encode({ first: list[0], list, part: list.slice(0, 100), last: list.at(-1) });
    const both = [await read(text), await read(text)] as unknown as Record<string, BaseMessage[]>[];
    for (const { first, list: all, part, last } of both) {
      expect(all!.map(textOf)).toEqual(list.map(textOf));
      expect(all![0]).toBe(first);
      expect(all!.at(-1)).toBe(last);
      for (const [at, each] of part!.entries()) expect(each).toBe(all![at]);
    }
    expect(both[0]!["list"]).toEqual(both[1]!["list"]);
    expect(both[0]!["first"]).not.toBe(both[1]!["first"]);
  });

  it("is recognised by its messages and not by its array, also in a send", () => {
    const { encoder, written } = storeOf(1);
    const list = messagesOf(300);
    encoder.encode(list);
    const before = written();
    encoder.encode({ sent: new Send("tools", { messages: [...list], left: 3 }) });
    expect(written() - before).toBeLessThanOrEqual(1);
  });

  it("is not confused with the list of another thread", () => {
    const [one, other] = [storeOf(1), storeOf(2)];
    const list = messagesOf(300);
    one.encoder.encode(list);
    const both = new Encoder({ ...other.options, lists: one.options.lists, memo: one.options.memo });
    expect(plain(both.encode(list))).toBe(plain(storeOf(2).encoder.encode(list)));
  });

  it("is forgotten when its messages are garbage-collected", async () => {
    const store = storeOf(1);
    const encoded = (): WeakRef<BaseMessage> => {
      const list = messagesOf(300);
      store.encoder.encode(list);
      return new WeakRef(list[100]!);
    };
    const one = encoded();
    await new Promise(setImmediate);
    setFlagsFromString("--expose-gc");
    (runInNewContext("gc") as () => void)();
    expect(one.deref()).toBeUndefined();
  });

  it.runIf(isRelease)(
    "costs as much work per append at 4,000 messages as at 200, also after a read",
    async () => {
      const appendTo = async (length: number, isRead: boolean): Promise<() => void> => {
        const store = storeOf(length);
        let list = messagesOf(length);
        const text = store.encoder.encode(list);
        if (isRead) list = await storeOf(length, store.options).read(text);
        for (let n = 0; n < 8; n++) store.encoder.encode((list = [...list, message(`before ${n}`)]));
        return () => void store.encoder.encode((list = [...list, message(crypto.randomUUID())]));
      };
      const pairs: (() => void)[][] = [];
      for (const isRead of [false, true])
        pairs.push([await appendTo(200, isRead), await appendTo(4000, isRead)]);
      const work = new WorkCounter();
      try {
        for (const [ofShort, ofLong] of pairs) {
          const [short, long] = [work.of(ofShort!), work.of(ofLong!)];
          // To see that a message is the same object as before is one comparison, and all that is done with it.
          expect((long - 4000) / short).toBeLessThanOrEqual(1.5);
        }
      } finally {
        work.end();
      }
    },
  );
});

function storeOf(
  thread: number,
  memory: { lists: MessageLists; memo: Memo } = { lists: new MessageLists(), memo: new Memo() },
) {
  const blobs = new Blobs(connection);
  const options = { blobs, ...memory, thread };
  const written = (): number => connection.get("SELECT count(*) AS count FROM blobs")!["count"] as number;
  const read = async (text: string): Promise<BaseMessage[]> => {
    const decoder = new Decoder({ ...options, serde: { dumpsTyped: unused, loadsTyped: unused } });
    const tree: unknown = JSON.parse(text);
    await decoder.load([tree]);
    return decoder.build(tree) as BaseMessage[];
  };
  return { options, encoder: new Encoder(options), written, read };
}

function unused(): never {
  throw new Error("The serializer is not needed for messages.");
}

function applied(list: readonly BaseMessage[], each: Exclude<Edit, { kind: "load" }>): BaseMessage[] {
  if (each.kind === "append") return [...list, ...messagesOf(each.count)];
  const at = Math.max(0, list.length - 1 - each.at);
  if (each.kind === "insert") return list.toSpliced(at, 0, message("inserted"));
  if (each.kind === "replace") return list.toSpliced(at, 1, message("replaced"));
  if (each.kind === "remove") return list.toSpliced(at, 1);
  if (each.kind === "cut") return list.slice(0, at);
  const changed = list[at];
  if (changed) changed.content = `changed ${crypto.randomUUID()}`;
  return [...list];
}

function messagesOf(count: number): BaseMessage[] {
  return Array.from({ length: count }, (_, n) => message(`message ${n} `.repeat(n % 20)));
}

function message(content: string): BaseMessage {
  const id = crypto.randomUUID();
  if (id < "4") return new HumanMessage({ id, content });
  if (id < "a") return new ToolMessage({ id, content, tool_call_id: id, status: "success" });
  return new AIMessage({ id, content, tool_calls: [{ id, name: "work", args: { content } }] });
}

function textOf({ id, content }: BaseMessage): unknown {
  return [id, content];
}

/** What a text leads to, without what is said about it. */
function plain(text: string): string {
  const tree = JSON.parse(text) as { [REFERENCE]?: number };
  return tree[REFERENCE] === undefined ? text : `blob ${tree[REFERENCE]}`;
}
