import { load } from "@langchain/core/load";
import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  ChatMessageChunk,
  FunctionMessage,
  FunctionMessageChunk,
  HumanMessage,
  HumanMessageChunk,
  RemoveMessage,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
  ToolMessageChunk,
  type BaseMessage,
} from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { toJson } from "./json.ts";
import { NEEDS_LOAD, reviver, type Reviver } from "./revive.ts";

const KWARGS: Record<string, unknown> = { deep: { list: [1, null, { a: true }] }, nothing: undefined };
const FIELDS = {
  id: "1",
  name: "someone",
  content: [{ type: "text" as const, text: 'says "lc":1 and {"lc":2}' }],
  additional_kwargs: KWARGS,
  response_metadata: { model_name: "m", "odd key": 1, snake_case: { in_side: [2] } },
};
const CALL = { id: "c", name: "f", args: { some_key: [1], x: { y: null } }, type: "tool_call" as const };
// The types of the constructors infer that there is none.
const USED: object = { usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } };

const MESSAGES: BaseMessage[] = [
  new HumanMessage(FIELDS),
  new HumanMessage("short"),
  new SystemMessage(FIELDS),
  new AIMessage({ ...FIELDS, tool_calls: [CALL], ...USED }),
  new AIMessage({
    id: "v1",
    content: [{ type: "text", text: "a" }],
    tool_calls: [CALL],
    response_metadata: { output_version: "v1" },
  }),
  new AIMessage({ content: "", invalid_tool_calls: [{ id: "c", name: "f", args: "{", error: "cut" }] }),
  new ToolMessage({
    ...FIELDS,
    tool_call_id: "c",
    status: "error",
    artifact: { big_one: [1] },
    metadata: { a: 1 },
  }),
  new ToolMessage({ content: "x", tool_call_id: "c", artifact: undefined }),
  new ToolMessage({ content: "x", tool_call_id: "c", artifact: { a: undefined, b: new Set([1]) } }),
  new ChatMessage({ ...FIELDS, role: "critic" }),
  new FunctionMessage({ content: "x", name: "f" }),
  new RemoveMessage({ id: "1" }),
  new AIMessageChunk({
    content: "a",
    tool_call_chunks: [{ id: "c", name: "f", args: '{"a":', index: 0, type: "tool_call_chunk" }],
    ...USED,
  }),
  new HumanMessageChunk(FIELDS),
  new SystemMessageChunk(FIELDS),
  new ToolMessageChunk({ content: "x", tool_call_id: "c", status: "success" }),
  new ChatMessageChunk({ content: "x", role: "critic" }),
  new FunctionMessageChunk({ content: "x", name: "f" }),
];

describe("a message", () => {
  it.each(MESSAGES.map((message) => [message.constructor.name, message]))(
    "is read as LangChain's and LangGraph's readers do, as a new object each time: %s",
    async (_, message) => {
      const text = toJson(message);
      const make = reviver(text) as Reviver;
      const serialized: unknown = await new MemorySaver().serde.loadsTyped("json", text);
      expect(make()).toStrictEqual(serialized);
      // The loader itself does not know what stands for `undefined`.
      const loaded: unknown = text.includes('"lc":2') ? serialized : await load(text);
      expect(make()).toStrictEqual(loaded);
      const changed = make() as HumanMessage;
      changed.response_metadata["more"] = true;
      Object.assign(changed.additional_kwargs, { more: true });
      expect(make()).toStrictEqual(serialized);
    },
  );

  it("is left to LangChain's loader when the message has special keys", () => {
    const escaped = new HumanMessage({ content: "x", additional_kwargs: { a: { lc: 1 } } });
    const nested = new ToolMessage({ content: "x", tool_call_id: "c", artifact: new HumanMessage("y") });
    for (const odd of [escaped, nested]) expect(reviver(toJson(odd))).toBe(NEEDS_LOAD);
    const { name } = class Own extends HumanMessage {};
    const text = toJson(new HumanMessage("x")).replace('"HumanMessage"', `"${name}"`);
    expect(reviver(text)).toBe(NEEDS_LOAD);
  });
});
