import { afterEach, expect, it } from "vitest";
import { collected, serve, type Served } from "../../../../test/served.ts";
import { createDeepAgent } from "../../../deep/index.ts";
import { callTool, ScriptedModel, type Step } from "../../../testing/index.ts";

let served: Served;
afterEach(() => served.close());

const TODOS = [
  { content: "Look", status: "in_progress" },
  { content: "Write", status: "pending" },
];

async function serveScript(steps: Step[]): Promise<Served> {
  served = await serve({ agent: createDeepAgent({ model: new ScriptedModel(steps) }) });
  return served;
}

/** It is asked again where items are open. */
const ANSWERS = ["Done.", "Done.", "All of it is done."];
const ask = (content: string) => ({ messages: [{ type: "human", content }] });

it("a run streams its values, messages, updates and custom events, and its state is there afterwards", async () => {
  const { client } = await serveScript([callTool("write_todos", { todos: TODOS }), ...ANSWERS]);
  const thread = await client.threads.create();
  const events = await collected(
    client.runs.stream(thread.thread_id, "agent", {
      input: ask("Do it"),
      streamMode: ["values", "messages-tuple", "updates", "custom"],
    }),
  );
  const kinds = new Set(events.map(({ event }) => event));
  expect([...kinds].toSorted()).toEqual(["custom", "messages", "metadata", "updates", "values"]);
  const last = events.findLast(({ event }) => event === "values")?.data as {
    messages: { content: string; type: string }[];
  };
  expect(last.messages.map(({ type }) => type)).toEqual(["human", "ai", "tool", "ai"]);
  const state = await client.threads.getState<{ todos: { content: string }[] }>(thread.thread_id);
  expect(state.values.todos.map(({ content }) => content)).toEqual(["Look", "Write"]);
  expect((await client.threads.get(thread.thread_id)).status).toBe("idle");
  expect((await client.runs.list(thread.thread_id)).map(({ status }) => status)).toEqual(["success"]);
});
