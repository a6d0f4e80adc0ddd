import { createAgent } from "langchain";
import { expectTypeOf, test } from "vitest";
import type { Todo } from "../../plan/index.ts";
import { ScriptedModel } from "../../testing/index.ts";
import { planMiddleware } from "./index.ts";
import type { ExactTodo } from "./options.ts";

const agent = createAgent({ model: new ScriptedModel([]), middleware: [planMiddleware()] });

test("the result has typed todos, and nothing private", () => {
  expectTypeOf<Awaited<ReturnType<typeof agent.invoke>>["todos"]>().toEqualTypeOf<Todo[]>();
});

test("a preset with three statuses says so", () => {
  const classic = createAgent({
    model: new ScriptedModel([]),
    middleware: [planMiddleware({ preset: "classic" })],
  });
  type Three = Todo<"pending" | "in_progress" | "completed">;
  expectTypeOf<Awaited<ReturnType<typeof classic.invoke>>["todos"]>().toEqualTypeOf<Three[]>();
});

test("the input has no todos", () => {
  expectTypeOf(agent.invoke({ messages: [] })).resolves.toHaveProperty("todos");
  // @ts-expect-error The plan is the model's: a person changes it with updateState.
  expectTypeOf(agent.invoke({ messages: [], todos: [] })).resolves.toHaveProperty("todos");
});

test("exact todos are LangChain's", () => {
  const exact = createAgent({
    model: new ScriptedModel([]),
    middleware: [planMiddleware({ preset: "classic", exact: true })],
  });
  expectTypeOf<Awaited<ReturnType<typeof exact.invoke>>["todos"]>().toEqualTypeOf<ExactTodo[]>();
});
