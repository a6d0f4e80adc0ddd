import { AIMessage, AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { SharedReader, SharedWriter } from "./shared-json.ts";

it("the reader restores every written value, with any keys and any sharing order", () => {
  const key = fc.constantFrom("$", "$+", "$m", "$$", "a", "1");
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<unknown>(null, true, 0, "", "$", "a text that is long enough to be shared"),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(key, tie("value"), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(fc.array(value, { maxLength: 5 }), (values) => {
      const writer = new SharedWriter();
      const reader = new SharedReader();
      for (const one of [...values, ...values, values]) {
        expect(reader.read(JSON.parse(writer.write(one)))).toEqual(JSON.parse(JSON.stringify(one)));
      }
    }),
  );
});

it("messages come back as messages of their class", () => {
  const messages = [
    new HumanMessage({ content: "Hello", id: "1" }),
    new AIMessage({ content: "", id: "2", tool_calls: [{ name: "work", args: { n: 1 }, id: "c1" }] }),
    new ToolMessage({ content: "done", id: "3", tool_call_id: "c1" }),
    new AIMessageChunk({ content: "wor", id: "4" }),
  ];
  const read = new SharedReader().read(JSON.parse(new SharedWriter().write({ messages }))) as {
    messages: unknown[];
  };
  expect(read.messages).toEqual(messages);
  expect(read.messages.map((message) => message?.constructor)).toEqual([
    HumanMessage,
    AIMessage,
    ToolMessage,
    AIMessageChunk,
  ]);
});

it("a state that grows by a message costs one message and a number per older message", () => {
  const writer = new SharedWriter();
  const reader = new SharedReader();
  const files = { "/notes.md": "text ".repeat(1000) };
  const messages: HumanMessage[] = [];
  const sizes: number[] = [];
  for (let at = 0; at < 50; at += 1) {
    messages.push(new HumanMessage({ content: "word ".repeat(100), id: String(at) }));
    const text = writer.write({ messages: [...messages], files });
    sizes.push(text.length);
    expect(reader.read(JSON.parse(text))).toEqual({ messages, files });
  }
  expect(sizes[0]).toBeGreaterThan(5000);
  expect(sizes[49]).toBeLessThan(1800);
});
