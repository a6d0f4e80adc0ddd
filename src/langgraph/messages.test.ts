import {
  AIMessage,
  AIMessageChunk,
  HumanMessage,
  RemoveMessage,
  ToolMessage,
  type BaseMessage,
} from "@langchain/core/messages";
import {
  messagesStateReducer,
  MessagesValue,
  REMOVE_ALL_MESSAGES,
  StateSchema,
  type Messages,
} from "@langchain/langgraph";
import {
  getInputTypeSchema,
  getOutputTypeSchema,
  getStateTypeSchema,
  getUpdateTypeSchema,
} from "@langchain/langgraph/zod/schema";
import * as fc from "fast-check";
import { createAgent, createMiddleware } from "langchain";
import { describe, expect, it } from "vitest";
import { rounds } from "../../test/helpers/runner/rounds.ts";
import { planMiddleware } from "../middleware/plan/index.ts";
import { ScriptedModel } from "../testing/index.ts";
import { addMessages, messagesField } from "./messages.ts";

/** A message of every shape that LangGraph takes, made anew for each reducer: both write to what they are given. */
type Made = () => unknown;

const ids = fc.option(fc.constantFrom("a", "b", "c", "d", "e", ""), { nil: undefined });
const message: fc.Arbitrary<Made> = fc.oneof(
  {
    weight: 4,
    arbitrary: ids.map(
      (id): Made =>
        () =>
          new HumanMessage({ content: "h", ...named(id) }),
    ),
  },
  {
    weight: 4,
    arbitrary: ids.map(
      (id): Made =>
        () =>
          new AIMessage({ content: "a", ...named(id) }),
    ),
  },
  ids.map(
    (id): Made =>
      () =>
        new AIMessageChunk({ content: "c", ...named(id) }),
  ),
  ids.map(
    (id): Made =>
      () =>
        new ToolMessage({ content: "t", tool_call_id: "1", ...named(id) }),
  ),
  ids.map((id): Made => () => ({ role: "user", content: "dict", ...named(id) })),
  fc.constant<Made>(() => ["human", "tuple"]),
  fc.constant<Made>(() => "text"),
  fc.constantFrom("a", "b", "z", REMOVE_ALL_MESSAGES).map(
    (id): Made =>
      () =>
        new RemoveMessage({ id }),
  ),
);
const update = fc.record({
  /** Which of the lists so far it goes to, counted back from the newest. */
  back: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat({ max: 3 })),
  value: fc.oneof({ weight: 5, arbitrary: fc.array(message, { maxLength: 4 }) }, message),
});
type Update = { back: number; value: Made | Made[] };

describe("the reducer of messages", () => {
  it("gives the same result as LangGraph's reducer, for any update of any list", () => {
    const check = (updates: readonly Update[]): void => {
      expect(outcome(addMessages, updates)).toEqual(outcome(messagesStateReducer, updates));
    };
    fc.assert(fc.property(fc.array(update, { maxLength: 6 }), check), { numRuns: rounds(2000) });
  });

  it("notices that a caller has changed one of its lists", () => {
    const list = addMessages([], [new HumanMessage({ id: "one", content: "" })]);
    list.push(new AIMessage({ id: "two", content: "" }));
    expect(addMessages(list, new AIMessage({ id: "two", content: "new" }))).toHaveLength(2);
    list[0]!.id = "first";
    expect(addMessages(list, new HumanMessage({ id: "first", content: "new" }))).toHaveLength(2);
    expect(addMessages(list, new HumanMessage({ id: "one", content: "" }))).toHaveLength(3);
  });

  it("adds a message that is given twice no more often than LangGraph's reducer", () => {
    const twice = (): unknown => {
      const same = new HumanMessage("once");
      return [same, same];
    };
    expect(addMessages([], twice() as Messages)).toHaveLength(1);
    expect(messagesStateReducer([], twice() as Messages)).toHaveLength(1);
  });

  it("keeps the very messages that there were, and the list that there was", () => {
    const before = addMessages([], [new HumanMessage("one"), new AIMessage("two")]);
    const after = addMessages(before, new AIMessage("three"));
    expect(before).toHaveLength(2);
    expect(after.slice(0, 2).every((one, at) => one === before[at])).toBe(true);
  });
});

describe("the messages of an agent with this reducer", () => {
  it("are described to LangGraph Studio like those of any agent", () => {
    for (const middleware of [planMiddleware(), createMiddleware({ name: "Field", stateSchema: schema() })]) {
      const [ours, theirs] = [[middleware], []].map((list) => {
        const { graph } = createAgent({ model: new ScriptedModel([]), middleware: list as never[] });
        const all = [getStateTypeSchema, getUpdateTypeSchema, getInputTypeSchema, getOutputTypeSchema];
        return all.map((read) => described(read(graph)));
      });
      expect(ours).toEqual(theirs);
      expect(ours).toHaveLength(4);
      expect(ours).toContainEqual(expect.objectContaining({ langgraph_type: "messages" }));
    }
  });

  it("leave the messages of a user's own state schema unchanged", async () => {
    const messages = MessagesValue;
    const agent = createAgent({
      model: new ScriptedModel([]),
      stateSchema: new StateSchema({ messages }) as never,
      middleware: [planMiddleware()],
    });
    const channel = agent.graph.channels["messages"] as unknown as { operator: unknown };
    expect(channel.operator).toBe(messagesStateReducer);
  });
});

function schema() {
  return new StateSchema({ messages: messagesField() });
}

function named(id: string | undefined): { id?: string } {
  return id === undefined ? {} : { id };
}

type Reducer = (left: Messages, right: Messages) => BaseMessage[];

/** The list after each update, or the error that one ends in. Ids that were made up are numbered. */
function outcome(reducer: Reducer, updates: readonly Update[]): unknown[] {
  const lists: BaseMessage[][] = [[]];
  const numbers = new Map<string, number>();
  const shown = (one: BaseMessage): unknown => {
    const { id = "" } = one;
    if (id.length > 1 && !numbers.has(id)) numbers.set(id, numbers.size);
    return [one.constructor.name, one.content, numbers.get(id) ?? id, one.lc_kwargs["id"] === one.id];
  };
  return updates.map(({ back, value: made }) => {
    const value = Array.isArray(made) ? made.map((make) => make()) : made();
    try {
      lists.push(reducer(lists.at(-1 - back) ?? [], value as Messages));
    } catch (error) {
      return String(error).replaceAll(/[\w-]{36}/g, "id");
    }
    return lists.at(-1)!.map(shown);
  });
}

/** How a chat is known, whatever else is said of it. */
function described(json: object | undefined): unknown {
  const { properties, required } = json as { properties: Record<string, object>; required?: string[] };
  const { default: _, $schema: __, ...rest } = properties["messages"] as Record<string, unknown>;
  return { ...rest, isRequired: required?.includes("messages") ?? false };
}
