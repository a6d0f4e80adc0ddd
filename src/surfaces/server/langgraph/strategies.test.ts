import type { Client } from "@langchain/langgraph-sdk";
import { afterEach, beforeEach, expect, it } from "vitest";
import { serve, type Served } from "../../../../test/helpers/page/graph-server.ts";
import { createDeepAgent } from "../../../deep/index.ts";
import { ScriptedModel } from "../../../testing/index.ts";

let served: Served;
let client: Client;
/** Lets the model answer that was asked with these words. */
let answer: Map<string, () => void>;
let asked: string[];

beforeEach(async () => {
  answer = new Map();
  asked = [];
  const model = new ScriptedModel(
    [
      async ({ messages }) => {
        const { text } = messages.at(-1)!;
        asked.push(text);
        await new Promise<void>((resolve) => {
          answer.set(text, resolve);
        });
        return `Answer to ${text}`;
      },
    ],
    { loop: true },
  );
  served = await serve({ agent: createDeepAgent({ model, plan: false }) });
  ({ client } = served);
});
afterEach(async () => {
  for (const go of answer.values()) go();
  await served.close();
});

const ask = (content: string) => ({ messages: [{ type: "human", content }] });
const texts = async (thread: string): Promise<string[]> => {
  const { values } = await client.threads.getState<{ messages?: { content: string }[] }>(thread);
  return (values.messages ?? []).map(({ content }) => content);
};
const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
};

/** A thread with one finished run and one that is at work. */
async function busyThread(): Promise<{ thread: string; first: string }> {
  const { thread_id: thread } = await client.threads.create();
  const before = await client.runs.create(thread, "agent", { input: ask("before") });
  await until(() => answer.has("before"));
  answer.get("before")!();
  await client.runs.join(thread, before.run_id);
  const { run_id: first } = await client.runs.create(thread, "agent", { input: ask("first") });
  await until(() => answer.has("first"));
  return { thread, first };
}

it("reject: a second run is refused while one is at work", async () => {
  const { thread } = await busyThread();
  const second = client.runs.create(thread, "agent", { input: ask("second") });
  await expect(second).rejects.toThrow(/409.*Thread is already running a task/);
  expect((await client.threads.get(thread)).status).toBe("busy");
});

it("enqueue: runs execute in their order, each after the previous run", async () => {
  const { thread } = await busyThread();
  const runs = [];
  for (const words of ["second", "third"]) {
    runs.push(await client.runs.create(thread, "agent", { input: ask(words), multitaskStrategy: "enqueue" }));
  }
  expect(runs.map(({ status }) => status)).toEqual(["pending", "pending"]);
  expect(asked).toEqual(["before", "first"]);
  for (const words of ["first", "second", "third"]) {
    await until(() => answer.has(words));
    answer.get(words)!();
  }
  await client.runs.join(thread, runs[1]!.run_id);
  expect((await texts(thread)).filter((text) => !text.startsWith("Answer"))).toEqual([
    "before",
    "first",
    "second",
    "third",
  ]);
});

it("interrupt: the active run stops, its work stays, and the new run continues", async () => {
  const { thread, first } = await busyThread();
  const { run_id: second } = await client.runs.create(thread, "agent", {
    input: ask("second"),
    multitaskStrategy: "interrupt",
  });
  expect((await client.runs.get(thread, first)).status).toBe("interrupted");
  await until(() => answer.has("second"));
  answer.get("second")!();
  await client.runs.join(thread, second);
  expect(await texts(thread)).toEqual(["before", "Answer to before", "first", "second", "Answer to second"]);
});

it("rollback: the run at work is undone, and forgotten", async () => {
  const { thread, first } = await busyThread();
  const { run_id: second } = await client.runs.create(thread, "agent", {
    input: ask("second"),
    multitaskStrategy: "rollback",
  });
  await expect(client.runs.get(thread, first)).rejects.toThrow(/404/);
  await until(() => answer.has("second"));
  answer.get("second")!();
  await client.runs.join(thread, second);
  expect(await texts(thread)).toEqual(["before", "Answer to before", "second", "Answer to second"]);
});

it("rollback of a thread's first run leaves an empty thread", async () => {
  const { thread_id: thread } = await client.threads.create();
  const { run_id: run } = await client.runs.create(thread, "agent", { input: ask("first") });
  await until(() => answer.has("first"));
  await client.runs.cancel(thread, run, true, "rollback");
  expect(await texts(thread)).toEqual([]);
  expect(await client.runs.list(thread)).toEqual([]);
});

it("cancel keeps finished work, and the thread continues", async () => {
  const { thread, first } = await busyThread();
  await client.runs.cancel(thread, first, true);
  expect((await client.runs.get(thread, first)).status).toBe("interrupted");
  expect(await texts(thread)).toEqual(["before", "Answer to before", "first"]);
  const { run_id: again } = await client.runs.create(thread, "agent", { input: null });
  await until(() => asked.length === 3);
  answer.get("first")!();
  await client.runs.join(thread, again);
  expect((await texts(thread)).at(-1)).toBe("Answer to first");
});

it("a queued run is cancelled before it begins, and all runs of a thread at once", async () => {
  const { thread, first } = await busyThread();
  const { run_id: second } = await client.runs.create(thread, "agent", {
    input: ask("second"),
    multitaskStrategy: "enqueue",
  });
  await client.runs.cancelMany({ threadId: thread, status: "all" });
  const statuses = await Promise.all([first, second].map((run) => client.runs.get(thread, run)));
  expect(statuses.map(({ status }) => status)).toEqual(["interrupted", "interrupted"]);
  expect(asked).toEqual(["before", "first"]);
});

it("a run continues after its reader leaves, unless the client asked it to stop", async () => {
  const { thread_id: thread } = await client.threads.create();
  for (const onDisconnect of ["continue", "cancel"] as const) {
    const gone = new AbortController();
    const stream = client.runs.stream(thread, "agent", {
      input: ask(onDisconnect),
      onDisconnect,
      signal: gone.signal,
    });
    await stream.next();
    await until(() => answer.has(onDisconnect));
    gone.abort();
    if (onDisconnect === "continue") answer.get(onDisconnect)!();
    const { run_id: run } = (await client.runs.list(thread))[0]!;
    await client.runs.join(thread, run);
    const { status } = await client.runs.get(thread, run);
    expect(status).toBe(onDisconnect === "continue" ? "success" : "interrupted");
  }
});
