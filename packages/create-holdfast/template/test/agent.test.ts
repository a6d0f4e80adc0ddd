// The scripted model plays the model's part: no key, no network, the same every time.
import assert from "node:assert/strict";
import { test } from "node:test";
import { callTool, ScriptedModel } from "holdfast/testing";
import { createMyAgent } from "../src/agent.ts";
import { startServer } from "../src/server.ts";

const script = () =>
  new ScriptedModel([
    callTool("write_todos", { todos: ["Look up the day"] }),
    callTool("weekday", { date: "2026-12-24" }),
    callTool("update_todos", { done: "1" }),
    "It is a Thursday.",
  ]);
const input = { messages: [{ role: "user" as const, content: "Which day is Christmas Eve 2026?" }] };

test("the agent uses its tool and finishes its plan", async () => {
  const model = script();
  const { messages, todos } = await createMyAgent({ model }).invoke(input);
  assert.deepEqual(
    todos.map(({ content, status }) => [content, status]),
    [["Look up the day", "completed"]],
  );
  assert.ok(messages.some(({ text }) => text === "Thursday"));
  assert.equal(messages.at(-1)?.text, "It is a Thursday.");
  assert.equal(model.requests.length, 4);
});

test("the server runs the agent for programs that know its token", async () => {
  const { url, token, stop } = await startServer({ model: script(), file: ":memory:", port: 0 });
  const ask = (headers: Record<string, string>) =>
    fetch(`${url}/runs/wait`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ assistant_id: "agent", input }),
    });
  try {
    assert.equal((await ask({})).status, 401);
    const answer = await ask({ authorization: `Bearer ${token}` });
    assert.match(await answer.text(), /It is a Thursday\./);
  } finally {
    await stop();
  }
});
