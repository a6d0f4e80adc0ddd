import type { Client } from "@langchain/langgraph-sdk";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { asking, forgetLetters, sent } from "../../../../test/helpers/models/email-tool.ts";
import { serve, type Served } from "../../../../test/helpers/page/graph-server.ts";
import type { Todo } from "../../../plan/index.ts";
import { callTool, type Step } from "../../../testing/index.ts";
import { PlanEdits } from "../../../threads/plan/plan-edits.ts";

let served: Served | undefined;
let client: Client;

beforeEach(forgetLetters);
afterEach(async () => {
  await served?.close();
  served = undefined;
});

/** Serves an agent that asks before each letter, and returns a thread. */
async function serveAgent(steps: Step[]): Promise<string> {
  served = await serve({ agent: asking(steps) });
  ({ client } = served);
  return (await client.threads.create()).thread_id;
}

const input = { messages: [{ type: "human", content: "Write" }] };
const approve = { command: { resume: { decisions: [{ type: "approve" }] } } };
const letter = (to: string): Step => callTool("send", { to });

async function asked(thread: string): Promise<string[]> {
  const { tasks } = await client.threads.getState(thread);
  return tasks.flatMap(({ interrupts }) =>
    interrupts.map(({ value }) => JSON.stringify((value as { actionRequests: unknown }).actionRequests)),
  );
}

it("an answer that comes before anything is asked approves nothing", async () => {
  const thread = await serveAgent([letter("Ann"), "Sent."]);
  await client.runs.wait(thread, "agent", { input, interruptBefore: ["tools"] });
  expect(await asked(thread)).toEqual([]);
  await client.runs.wait(thread, "agent", approve);
  expect(sent).toEqual([]);
  expect(await asked(thread)).toEqual([expect.stringContaining("Ann")]);
  await client.runs.wait(thread, "agent", approve);
  expect(sent).toEqual(["Ann"]);
});

it("the second of two simultaneous answers does not answer the next question", async () => {
  const thread = await serveAgent([letter("Ann"), letter("Eve"), "Sent."]);
  await client.runs.wait(thread, "agent", { input });
  const queued = { ...approve, multitaskStrategy: "enqueue" } as const;
  const answers = [client.runs.create(thread, "agent", queued), client.runs.create(thread, "agent", queued)];
  for (const answer of await Promise.allSettled(answers)) {
    if (answer.status === "fulfilled") await client.runs.join(thread, answer.value.run_id).catch(() => {});
  }
  expect(sent).toEqual(["Ann"]);
  expect(await asked(thread)).toEqual([expect.stringContaining("Eve")]);
});

it("the server refuses an answer when no question is open", async () => {
  const thread = await serveAgent(["Hello."]);
  await expect(client.runs.wait(thread, "agent", approve)).rejects.toThrow(/422.*no open question/);
  await client.runs.wait(thread, "agent", { input });
  await expect(client.runs.wait(thread, "agent", approve)).rejects.toThrow(/422.*no open question/);
});

it("an answer at an earlier checkpoint applies to the question asked there", async () => {
  const thread = await serveAgent([letter("Ann"), "Sent.", "Sent again."]);
  await client.runs.wait(thread, "agent", { input });
  const { checkpoint } = await client.threads.getState(thread);
  await client.runs.wait(thread, "agent", approve);
  await client.runs.wait(thread, "agent", { ...approve, checkpointId: checkpoint.checkpoint_id! });
  expect(sent).toEqual(["Ann", "Ann"]);
});

it("an update of the files keeps the thread's question and its finished calls", async () => {
  const thread = await serveAgent([[callTool("send", { to: "Ann" }), callTool("ls", {})] as Step, "Sent."]);
  await client.runs.wait(thread, "agent", { input });
  const files = { "/note.md": "Hello" };
  await client.threads.updateState(thread, { values: { files } });
  expect(await asked(thread)).toEqual([expect.stringContaining("Ann")]);
  await client.runs.wait(thread, "agent", approve);
  expect(sent).toEqual(["Ann"]);
  const { values } = await client.threads.getState<{ files: object; messages: { type: string }[] }>(thread);
  expect(Object.keys(values.files)).toContain("/note.md");
  expect(values.messages.map(({ type }) => type)).toEqual(["human", "ai", "tool", "tool", "ai"]);
});

it("a list based on an older plan does not undo the agent's work", async () => {
  let go = (): void => {};
  const waiting = new Promise<void>((resolve) => {
    go = resolve;
  });
  const todos = [{ content: "One", status: "in_progress" }, { content: "Two" }];
  const thread = await serveAgent([
    callTool("write_todos", { todos }),
    callTool("update_todos", { done: ["1: by hand"], start: ["2"] }),
    async () => {
      await waiting;
      return callTool("update_todos", { done: ["2: by hand"], cancel: ["3"] });
    },
    "Done.",
  ]);
  const run = await client.runs.create(thread, "agent", { input });
  let now: Todo[] = [];
  while (now[0]?.status !== "completed") {
    now = (await client.threads.getState<{ todos?: Todo[] }>(thread)).values.todos ?? [];
  }
  const older = now.map((todo, at) => {
    const { unverified: _, ...rest } = todo;
    return { ...rest, status: at === 0 ? "in_progress" : "pending" };
  });
  const more = [...older, { content: "Three", status: "pending" }];
  await expect(client.threads.updateState(thread, { values: { todos: more } })).rejects.toThrow(
    /409.*moved on meanwhile/,
  );
  const submit = vi.spyOn(PlanEdits.prototype, "submit");
  const edit = fetch(`${served!.url}/threads/${thread}/state`, {
    method: "POST",
    headers: { "x-api-key": served!.token, "content-type": "application/json" },
    body: JSON.stringify({ values: { todos: more }, base: older }),
  });
  await vi.waitUntil(() => submit.mock.calls.length > 0, 120_000);
  go();
  expect((await edit).status).toBe(200);
  await client.runs.join(thread, run.run_id);
  const { values } = await client.threads.getState<{ todos: Todo[] }>(thread);
  expect(values.todos.map(({ content, status }) => `${content} ${status}`)).toEqual([
    "One completed",
    "Two completed",
    "Three cancelled",
  ]);
});
