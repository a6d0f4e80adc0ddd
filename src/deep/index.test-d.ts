import { createMiddleware } from "langchain";
import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { Todo } from "../plan/index.ts";
import { ScriptedModel } from "../testing/index.ts";
import { createDeepAgent } from "./index.ts";

const model = new ScriptedModel([]);
type Result<Agent extends { invoke: (...args: never[]) => unknown }> = Awaited<ReturnType<Agent["invoke"]>>;

test("todos and files are in the result", () => {
  const agent = createDeepAgent({ model });
  expectTypeOf<Result<typeof agent>["todos"]>().toEqualTypeOf<Todo[]>();
  expectTypeOf<Result<typeof agent>["files"]>().toEqualTypeOf<Record<string, string>>();
});

test("an agent without planning has no todos in its result", () => {
  const agent = createDeepAgent({ model, plan: false });
  expectTypeOf<Result<typeof agent>>().not.toHaveProperty("todos");
});

test("a response format gives the structured response its shape", () => {
  const agent = createDeepAgent({ model, responseFormat: z.object({ verdict: z.string() }) });
  expectTypeOf<Result<typeof agent>["structuredResponse"]>().toEqualTypeOf<{ verdict: string }>();
});

test("the state of further middleware is in the result", () => {
  const counting = createMiddleware({
    name: "counting",
    stateSchema: z.object({ count: z.number().default(0) }),
  });
  const agent = createDeepAgent({ model, middleware: [counting] });
  expectTypeOf<Result<typeof agent>["count"]>().toEqualTypeOf<number>();
});

test("files can be seeded in the input", () => {
  const agent = createDeepAgent({ model });
  expectTypeOf(agent.invoke({ messages: [], files: { "a.md": "x" } })).resolves.toHaveProperty("files");
});
