import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { StreamMode } from "@langchain/langgraph-sdk";
import { afterEach, expect, it, vi } from "vitest";
import { collected, serve, type Served } from "../../../../test/helpers/page/graph-server.ts";

let served: Served;
afterEach(() => served.close());

const State = Annotation.Root({ ...MessagesAnnotation.spec, isFailing: Annotation<boolean> });

function speaker() {
  return new StateGraph(State)
    .addNode("speak", ({ isFailing }, { writer }) => {
      if (isFailing) throw new Error("It has no voice.");
      writer?.({ n: 1 });
      return { messages: [{ role: "ai", content: "Hello." }] };
    })
    .addEdge(START, "speak")
    .addEdge("speak", END)
    .compile();
}

const ask = (isFailing = false) => ({ messages: [{ type: "human", content: "Speak" }], isFailing });

it("a late reader of a run gets its values and updates, in any mode it started with", async () => {
  served = await serve({ speaker: speaker() });
  const { client } = served;
  const { thread_id: thread } = await client.threads.create();
  const first = await collected(
    client.runs.stream(thread, "speaker", { input: ask(), streamMode: ["custom"] }),
  );
  expect(first.map(({ event }) => event)).toEqual(["metadata", "custom"]);
  const [run] = await client.runs.list(thread);
  const streamMode: StreamMode[] = ["values", "updates", "custom", "checkpoints"];
  const later = await collected(
    client.runs.joinStream(thread, run!.run_id, { lastEventId: "-1", streamMode }),
  );
  expect(later.map(({ event }) => String(event))).toEqual([
    "metadata",
    "values",
    "custom",
    "updates",
    "values",
  ]);
});

it("a newer-protocol reader of a thread gets all of a run of the older protocol", async () => {
  served = await serve({ speaker: speaker() });
  const { client, url, token } = served;
  const { thread_id: thread } = await client.threads.create();
  const watching = await fetch(`${url}/threads/${thread}/stream/events`, {
    method: "POST",
    headers: { "x-api-key": token, "content-type": "application/json" },
    body: JSON.stringify({ channels: ["lifecycle", "values", "checkpoints", "tasks"] }),
  });
  await collected(client.runs.stream(thread, "speaker", { input: ask(), streamMode: ["custom"] }));
  let text = "";
  for await (const piece of watching.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.includes('"completed"')) break;
  }
  const methods = [...text.matchAll(/^event: (.*)$/gm)].map(([, method]) => method);
  expect(methods).toEqual([
    "lifecycle",
    "checkpoints",
    "checkpoints",
    "values",
    "tasks",
    "tasks",
    "checkpoints",
    "values",
    "lifecycle",
  ]);
});

it("a newer-protocol reader finds the checkpoints of an earlier older-protocol run", async () => {
  served = await serve({ speaker: speaker() });
  const { client, url, token } = served;
  const { thread_id: thread } = await client.threads.create();
  await collected(client.runs.stream(thread, "speaker", { input: ask(), streamMode: ["custom"] }));
  const watching = await fetch(`${url}/threads/${thread}/stream/events`, {
    method: "POST",
    headers: { "x-api-key": token, "content-type": "application/json" },
    body: JSON.stringify({ channels: ["lifecycle", "values", "checkpoints"], since: 0 }),
  });
  let text = "";
  for await (const piece of watching.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.includes('"completed"')) break;
  }
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(
    ([, data]) => JSON.parse(data!) as { method: string; params: { data: { id?: string; step?: number } } },
  );
  const announced = events.filter(({ method }) => method === "checkpoints").map(({ params }) => params.data);
  expect(announced.map(({ step }) => step)).toEqual([0, 1]);
  const { checkpoint } = await client.threads.getState(thread);
  expect(announced.at(-1)?.id).toBe(checkpoint.checkpoint_id);
});

it("a streamed checkpoint contains neither its run's lease nor its listeners", async () => {
  served = await serve({ speaker: speaker() });
  const { client } = served;
  const { thread_id: thread } = await client.threads.create();
  const events = await collected(
    client.runs.stream(thread, "speaker", { input: ask(), streamMode: ["checkpoints", "debug"] }),
  );
  const checkpoint = events.find(({ event }) => event === "checkpoints");
  const { config } = checkpoint!.data as { config: { configurable: object } };
  expect(Object.keys(config.configurable).toSorted()).toEqual([
    "checkpoint_id",
    "checkpoint_ns",
    "thread_id",
  ]);
  const text = JSON.stringify(events);
  expect(text).not.toContain("lease");
  expect(text).not.toContain("callbacks");
});

it("a run without an input is refused when nothing is left to continue", async () => {
  served = await serve({ speaker: speaker() });
  const { client, send } = served;
  const { thread_id: thread } = await client.threads.create();
  const nothing = { assistant_id: "speaker" };
  const refusal = {
    status: 422,
    body: { message: expect.stringContaining("nothing to resume") as string },
  };
  expect(await send("POST", `/threads/${thread}/runs`, nothing)).toMatchObject(refusal);
  expect(await send("POST", "/threads/new-one/runs", { ...nothing, if_not_exists: "create" })).toMatchObject(
    refusal,
  );
  expect((await send("GET", "/threads/new-one")).status).toBe(404);
  expect(await send("POST", "/runs/wait", nothing)).toMatchObject(refusal);
  await client.runs.wait(thread, "speaker", { input: ask() });
  expect(await send("POST", `/threads/${thread}/runs`, { ...nothing, input: {} })).toMatchObject(refusal);
  expect(await client.runs.list(thread)).toHaveLength(1);

  const { thread_id: stopped } = await client.threads.create();
  await client.runs.wait(stopped, "speaker", { input: ask(), interruptBefore: ["speak"] });
  expect((await send("POST", `/threads/${stopped}/runs/wait`, nothing)).status).toBe(200);
  expect(await client.threads.getState(stopped)).toMatchObject({ next: [] });
});

it("a failed thread no longer counts as failed after another process continued it", async () => {
  served = await serve({ speaker: speaker() });
  const { client, saver } = served;
  const { thread_id: thread } = await client.threads.create();
  await client.runs.wait(thread, "speaker", { input: ask(true), raiseError: false });
  expect((await client.threads.get(thread)).status).toBe("error");
  const elsewhere = speaker();
  elsewhere.checkpointer = saver;
  await elsewhere.invoke(ask(), { configurable: { thread_id: thread } });
  expect((await client.threads.get(thread)).status).toBe("idle");
  expect(await client.threads.count({ status: "error" })).toBe(0);
});

it("a search by ids reads those threads by one statement of each table", async () => {
  served = await serve({ speaker: speaker() });
  const { client, saver } = served;
  const { thread_id: one } = await client.threads.create();
  await client.threads.create();
  const summaries = vi.spyOn(saver, "listThreads");
  const records = vi.spyOn(saver.ledger, "threads");
  const single = vi.spyOn(saver, "getThread");
  const names = Array.from({ length: 999 }, (_, at) => `nobody-${at}`);
  const found = await client.threads.search({ ids: [one, one, "a\0", ...names.slice(2)] });
  expect(found.map(({ thread_id }) => thread_id)).toEqual([one]);
  for (const list of [summaries, records]) expect(list).toHaveBeenCalledTimes(1);
  expect(summaries.mock.calls[0]![0]!.ids).toHaveLength(999);
  expect(single).not.toHaveBeenCalled();
});
