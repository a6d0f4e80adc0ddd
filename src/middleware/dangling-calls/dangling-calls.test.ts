import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import * as fc from "fast-check";
import { createAgent, createMiddleware } from "langchain";
import { describe, expect, it } from "vitest";
import { rounds } from "../../../test/helpers/runner/rounds.ts";
import { ScriptedModel } from "../../testing/index.ts";
import { danglingCallsMiddleware, paired } from "./index.ts";

const person = (text: string): HumanMessage => new HumanMessage(text);
const calls = (...ids: string[]): AIMessage =>
  new AIMessage({ content: "", tool_calls: ids.map((id) => ({ name: "work", args: {}, id })) });
const result = (id: string, content = `result of ${id}`): ToolMessage =>
  new ToolMessage({ content, tool_call_id: id });
const shown = (messages: readonly BaseMessage[]): string[] =>
  messages.map((message) => (message.type === "ai" ? "ai" : message.text.slice(0, 14)));

describe("a request", () => {
  it("has a late result in its place, once, and not a made-up one", () => {
    const late = [person("go"), calls("a", "b"), result("b"), person("hurry"), result("a"), person("well?")];
    expect(shown(paired(late))).toEqual(["go", "ai", "result of b", "result of a", "hurry", "well?"]);
  });

  it("has no result without a call, and one result for each call", () => {
    const orphan = [result("gone"), person("go"), calls("a"), result("a"), result("a", "again"), result("x")];
    expect(shown(paired(orphan))).toEqual(["go", "ai", "result of a"]);
    const unanswered = paired([calls("a"), person("stop")]);
    expect(shown(unanswered)).toEqual(["ai", "Not finished: ", "stop"]);
    expect(unanswered[1]!.text).toContain("may have carried it out");
  });

  it("keeps the results of models that use their call ids again", () => {
    const again = [calls("1"), person("go on"), calls("1", "1"), result("1", "x"), result("1", "y")];
    expect(shown(paired(again))).toEqual(["ai", "Not finished: ", "go on", "ai", "x", "y"]);
  });

  it("is repaired for the model while the state stays unchanged", async () => {
    const model = new ScriptedModel(["ok"]);
    const agent = createAgent({ model, middleware: [danglingCallsMiddleware()] });
    const messages = [person("go"), calls("a"), person("hurry"), result("a"), result("gone")];
    const after = await agent.invoke({ messages });
    expect(shown(model.requests[0]!.messages)).toEqual(["go", "ai", "result of a", "hurry"]);
    expect(shown(after.messages)).toEqual(["go", "ai", "hurry", "result of a", "result of gone", "ai"]);
  });

  it("keeps the same list object when nothing is wrong", async () => {
    const seen: BaseMessage[][] = [];
    const watch = createMiddleware({
      name: "watch",
      wrapModelCall: (request, handler) => {
        seen.push(request.messages);
        return handler(request);
      },
    });
    const outer = createMiddleware({ ...watch, name: "outer" });
    const middleware = [outer, danglingCallsMiddleware(), watch] as const;
    const agent = createAgent({ model: new ScriptedModel(["ok"]), middleware });
    await agent.invoke({ messages: [person("go"), calls("a"), result("a")] });
    expect(seen[1]).toBe(seen[0]);
  });
});

describe("any list of messages", () => {
  const id = fc.constantFrom("a", "b", "c", "d");
  const message: fc.Arbitrary<() => BaseMessage> = fc.oneof(
    fc.constant(() => person("text")),
    fc.constant(() => new AIMessage("text")),
    fc.array(id, { minLength: 1, maxLength: 3 }).map((ids) => () => calls(...ids)),
    id.map((one) => () => result(one)),
  );
  const list = fc.array(message, { maxLength: 14 }).map((makers) => makers.map((make) => make()));
  const idsOf = (one: BaseMessage | undefined): string[] =>
    one?.type === "ai" ? ((one as AIMessage).tool_calls ?? []).map((call) => call.id ?? "") : [];

  /** Whether each call is followed directly by exactly one result, and there is no other result. */
  function isWhole(messages: readonly BaseMessage[]): boolean {
    let expected: string[] = [];
    for (const one of messages) {
      if (one.type === "tool") {
        const at = expected.indexOf((one as ToolMessage).tool_call_id);
        if (at < 0) return false;
        expected = expected.toSpliced(at, 1);
      } else {
        if (expected.length > 0) return false;
        expected = idsOf(one);
      }
    }
    return expected.length === 0;
  }

  it("goes out whole, and untouched if it is whole", () => {
    fc.assert(
      fc.property(list, (messages) => {
        const sent = paired(messages);
        expect(isWhole(sent)).toBe(true);
        expect(sent === messages).toBe(isWhole(messages));
        expect(paired(sent)).toBe(sent);
      }),
      { numRuns: rounds(2000) },
    );
  });

  it("keeps its order, and every result that a call was waiting for", () => {
    fc.assert(
      fc.property(list, (messages) => {
        const sent = paired(messages);
        const others = messages.filter((one) => one.type !== "tool");
        expect(sent.filter((one) => one.type !== "tool")).toEqual(others);
        const waiting = new Map<string, number>();
        for (const one of messages) {
          for (const call of idsOf(one)) waiting.set(call, (waiting.get(call) ?? 0) + 1);
          if (one.type !== "tool") continue;
          const { tool_call_id } = one as ToolMessage;
          const left = waiting.get(tool_call_id) ?? 0;
          expect(sent.includes(one)).toBe(left > 0);
          waiting.set(tool_call_id, Math.max(0, left - 1));
        }
      }),
      { numRuns: rounds(2000) },
    );
  });

  it("keeps the beginning of the request when messages are added", () => {
    fc.assert(
      fc.property(list, list, (messages, more) => {
        fc.pre(isWhole(messages));
        const sent = paired([...messages, ...more]);
        expect(sent.slice(0, messages.length)).toEqual(messages);
      }),
    );
  });
});
