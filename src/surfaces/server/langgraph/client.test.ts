import { afterEach, expect, it } from "vitest";
import { collected, serve, type Served } from "../../../../test/helpers/page/graph-server.ts";
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

it("a run streams values, messages, updates and custom events, and keeps its state", async () => {
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
    messages: { content: string; type: string; id?: string }[];
  };
  // Answers that were sent back stay, each with the reminder that did so, which no client shows.
  const sentBack = ["ai", "human", "ai", "human"];
  expect(last.messages.map(({ type }) => type)).toEqual(["human", "ai", "tool", ...sentBack, "ai"]);
  expect(last.messages.filter(({ id = "" }) => id.startsWith("do-not-render-"))).toHaveLength(2);
  const state = await client.threads.getState<{ todos: { content: string }[] }>(thread.thread_id);
  expect(state.values.todos.map(({ content }) => content)).toEqual(["Look", "Write"]);
  expect((await client.threads.get(thread.thread_id)).status).toBe("idle");
  expect((await client.runs.list(thread.thread_id)).map(({ status }) => status)).toEqual(["success"]);
});

it("assistants are the graphs, by name and by id", async () => {
  const { client } = await serveScript([]);
  const [assistant, ...others] = await client.assistants.search({ metadata: { created_by: "system" } });
  expect(others).toEqual([]);
  expect(assistant).toMatchObject({ graph_id: "agent", name: "agent", metadata: { created_by: "system" } });
  const { assistant_id: id } = assistant!;
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5/);
  expect(await client.assistants.get(id)).toEqual(assistant);
  expect((await client.assistants.get("agent")).assistant_id).toBe(id);
  expect(await client.assistants.count({ graphId: "agent" })).toBe(1);
  expect(await client.assistants.search({ graphId: "other" })).toEqual([]);
  expect(await client.assistants.getVersions(id)).toHaveLength(1);
  const graph = await client.assistants.getGraph(id, { xray: true });
  expect(graph.nodes.map((node) => node.id)).toContain("model_request");
  const { state_schema: schema } = await client.assistants.getSchemas(id);
  expect(Object.keys(schema?.properties ?? {})).toEqual(
    expect.arrayContaining(["messages", "todos", "files"]),
  );
  expect(await client.assistants.getSubgraphs(id)).toEqual({});
  await expect(client.assistants.get("nobody")).rejects.toThrow(/404.*Assistant nobody not found/);
});

it("assistants are listed page by page", async () => {
  const agent = createDeepAgent({ model: new ScriptedModel([]) });
  served = await serve({ a: agent, b: agent, c: agent });
  const { assistants, next } = await served.client.assistants.search({ limit: 2, includePagination: true });
  expect({ names: assistants.map(({ name }) => name), next }).toEqual({ names: ["a", "b"], next: "2" });
  const rest = await served.client.assistants.search({ limit: 2, offset: 2, includePagination: true });
  expect({ names: rest.assistants.map(({ name }) => name), next: rest.next }).toEqual({
    names: ["c"],
    next: null,
  });
  expect(await served.client.assistants.count()).toBe(3);
});

it("every route refuses metadata that is not an object, and stores none of it", async () => {
  const { client, send } = await serveScript([]);
  await client.threads.create({ threadId: "t", metadata: { topic: "kelp" } });
  const routes = [
    ["POST", "/threads"],
    ["PATCH", "/threads/t"],
    ["PATCH", "/threads/t/state"],
    ["POST", "/threads/t/history"],
    ["POST", "/threads/search"],
    ["POST", "/threads/count"],
    ["POST", "/assistants/search"],
    ["POST", "/assistants/count"],
    ["POST", "/threads/t/runs"],
    ["POST", "/runs"],
  ] as const;
  for (const [method, path] of routes) {
    for (const metadata of ["str", ["a"], 7]) {
      const answer = await send(method, path, { assistant_id: "agent", metadata, input: ask("Hi") });
      expect([path, answer]).toMatchObject([path, { status: 422, body: { error: "invalid-request" } }]);
    }
  }
  const [thread, ...others] = await client.threads.search();
  expect(others).toEqual([]);
  expect(Object.keys(thread!.metadata ?? {}).toSorted()).toEqual(["assistant_id", "graph_id", "topic"]);
});

it("threads are made, found, counted, changed, copied, pruned and deleted", async () => {
  const { client } = await serveScript(["Hello."]);
  const first = await client.threads.create({
    threadId: "first-one",
    metadata: { topic: "kelp", graph_id: "agent" },
  });
  const second = await client.threads.create();
  expect(first).toMatchObject({ thread_id: "first-one", status: "idle", metadata: { topic: "kelp" } });
  await expect(client.threads.create({ threadId: "first-one" })).rejects.toThrow(/409/);
  expect(await client.threads.create({ threadId: "first-one", ifExists: "do_nothing" })).toMatchObject(first);
  await client.runs.wait("first-one", "agent", { input: ask("Hello?") });

  const found = await client.threads.search({ metadata: { topic: "kelp" } });
  expect(found.map(({ thread_id }) => thread_id)).toEqual(["first-one"]);
  const { messages } = found[0]!.values as { messages: { content: string }[] };
  expect(messages.map(({ content }) => content)).toEqual(["Hello?", "Hello."]);
  expect(await client.threads.count({})).toBe(2);
  expect(await client.threads.search({ status: "busy" })).toEqual([]);
  const all = await client.threads.search({ select: ["thread_id"], sortBy: "created_at", sortOrder: "asc" });
  expect(all).toEqual([{ thread_id: "first-one" }, { thread_id: second.thread_id }]);

  await client.threads.update("first-one", { metadata: { topic: "urchins" } });
  expect((await client.threads.get("first-one")).metadata).toMatchObject({ topic: "urchins" });
  const copy = await client.threads.copy("first-one");
  const copied = await client.threads.getState<{ messages: unknown[] }>(
    (copy as unknown as { thread_id: string }).thread_id,
  );
  expect(copied.values.messages).toHaveLength(2);

  await client.threads.delete("first-one");
  await expect(client.threads.get("first-one")).rejects.toThrow(/404.*Thread with ID first-one not found/);
  await client.threads.prune([second.thread_id]);
  expect(await client.threads.count({})).toBe(1);
});

it("a thread's state is read at any checkpoint, changed, and gone back to", async () => {
  const { client } = await serveScript(["One.", "Two.", "Another two."]);
  const { thread_id: thread } = await client.threads.create();
  await client.runs.wait(thread, "agent", { input: ask("First") });
  const before = await client.threads.getState(thread);
  await client.runs.wait(thread, "agent", { input: ask("Second") });
  const history = await client.threads.getHistory(thread, { limit: 100 });
  expect(history.map(({ checkpoint }) => checkpoint.checkpoint_id)).toContain(
    before.checkpoint.checkpoint_id,
  );
  expect(await client.threads.getHistory(thread, { limit: 1 })).toHaveLength(1);
  expect(await client.threads.getHistory(thread, { before: history[0]!.checkpoint as never })).toEqual(
    history.slice(1, 11),
  );

  const texts = (state: { values: unknown }): string[] =>
    (state.values as { messages: { content: string }[] }).messages.map(({ content }) => content);
  const then = await client.threads.getState(thread, before.checkpoint.checkpoint_id!);
  expect(texts(then)).toEqual(["First", "One."]);
  expect(texts(await client.threads.getState(thread, before.checkpoint))).toEqual(["First", "One."]);

  const { checkpoint } = (await client.threads.updateState(thread, {
    values: ask("By hand"),
    asNode: "model_request",
  })) as unknown as { checkpoint: { checkpoint_id: string } };
  expect(texts(await client.threads.getState(thread, checkpoint.checkpoint_id)).at(-1)).toBe("By hand");

  await client.runs.wait(thread, "agent", {
    input: ask("Second, again"),
    checkpointId: before.checkpoint.checkpoint_id!,
  });
  expect(texts(await client.threads.getState(thread))).toEqual([
    "First",
    "One.",
    "Second, again",
    "Another two.",
  ]);
});

it("a run is created, listed, joined and deleted", async () => {
  const { client } = await serveScript(["One."]);
  const { thread_id: thread } = await client.threads.create();
  const run = await client.runs.create(thread, "agent", { input: ask("First"), metadata: { by: "test" } });
  expect(run).toMatchObject({ thread_id: thread, metadata: { by: "test" } });
  const values = (await client.runs.join(thread, run.run_id)) as unknown as { messages: unknown[] };
  expect(values.messages).toHaveLength(2);
  expect(await client.runs.get(thread, run.run_id)).toMatchObject({ status: "success" });
  expect(await client.runs.list(thread, { status: "error" })).toEqual([]);
  await client.runs.delete(thread, run.run_id);
  await expect(client.runs.get(thread, run.run_id)).rejects.toThrow(/404/);
});

it("a client rejoins a run by number at the event where it left", async () => {
  const { client } = await serveScript([callTool("write_todos", { todos: TODOS }), ...ANSWERS]);
  const { thread_id: thread } = await client.threads.create();
  const all = await collected(
    client.runs.stream(thread, "agent", { input: ask("Do it"), streamMode: ["values", "updates"] }),
  );
  const { run_id: run } = (await client.runs.list(thread))[0]!;
  const again = await collected(
    client.runs.joinStream(thread, run, { lastEventId: "-1", streamMode: ["values", "updates"] }),
  );
  expect(again).toEqual(all);
  const half = all[Math.floor(all.length / 2)]!.id!;
  const rest = await collected(
    client.runs.joinStream(thread, run, { lastEventId: half, streamMode: ["values", "updates"] }),
  );
  expect(rest).toEqual(all.filter(({ id }) => Number(id) > Number(half)));
});

it("a run without a thread leaves no thread unless the client asks to keep it", async () => {
  const { client } = await serveScript(["One.", "Two.", "Three.", "Four."]);
  const values = (await client.runs.wait(null, "agent", { input: ask("First") })) as { messages: unknown[] };
  expect(values.messages).toHaveLength(2);
  const events = await collected(
    client.runs.stream(null, "agent", { input: ask("Second"), streamMode: "values" }),
  );
  expect(events.at(-1)?.event).toBe("values");
  expect(await client.threads.count({})).toBe(0);
  const kept = { assistant_id: "agent", input: ask("Third"), on_completion: "keep" };
  expect(await served.send("POST", "/runs/wait", kept)).toMatchObject({ status: 200 });
  expect(await client.threads.count({})).toBe(1);
  expect(await client.runs.createBatch([{ assistantId: "agent", input: ask("Fourth") }])).toHaveLength(1);
});

it("a run that fails says so in the shapes that clients read", async () => {
  const { client } = await serveScript([new Error("The model is gone."), new Error("The model is gone.")]);
  const { thread_id: thread } = await client.threads.create();
  const events = await collected(client.runs.stream(thread, "agent", { input: ask("First") }));
  const error = events.at(-1);
  expect(error?.event).toBe("error");
  expect(error?.data).toMatchObject({ error: "RunError", message: "agent failed: The model is gone" });
  expect((await client.threads.get(thread)).status).toBe("error");
  await expect(client.runs.wait(thread, "agent", { input: ask("Again") })).rejects.toThrow(
    "The model is gone",
  );
});

it("other stream modes work: message pieces, checkpoints, tasks and debug", async () => {
  const { client } = await serveScript(["One and two."]);
  const { thread_id: thread } = await client.threads.create();
  const events = await collected(
    client.runs.stream(thread, "agent", {
      input: ask("First"),
      streamMode: ["messages", "checkpoints", "tasks", "debug"],
    }),
  );
  const data = (name: string): unknown[] =>
    events.filter(({ event }) => event === name).map((one) => one.data);
  const pieces = data("messages/partial").map((list) => (list as { content: string }[])[0]!.content);
  expect(pieces.slice(0, 3)).toEqual(["One ", "One and ", "One and two."]);
  expect(data("messages/metadata")).toHaveLength(1);
  expect(data("checkpoints").at(-1)).toMatchObject({
    values: { messages: [{}, { content: "One and two." }] },
  });
  expect(data("debug")).toHaveLength(data("checkpoints").length + data("tasks").length);
  const streamMode = "everything" as "events";
  const unknown = client.runs.stream(thread, "agent", { input: ask("More"), streamMode });
  await expect(collected(unknown)).rejects.toThrow(/422.*cannot be streamed here/);
});

it("the mode events has what LangChain's streamEvents has, of one run", async () => {
  const steps = () => [
    callTool("write_todos", { todos: TODOS.slice(0, 1) }),
    callTool("nothing"),
    ...ANSWERS,
  ];
  type Traced = { event: string; name: string; run_id: string; data: Record<string, unknown> };
  const told = (events: Traced[]) =>
    events.filter(({ event }) => event !== "on_chain_stream").map(({ event, name }) => `${event} ${name}`);
  const model = new ScriptedModel(steps());
  const { client } = (served = await serve({ agent: createDeepAgent({ model }) }));
  const { thread_id: thread } = await client.threads.create();
  const stream = client.runs.stream(thread, "agent", { input: ask("Do it"), streamMode: "events" });
  const events = await collected(stream);
  const kinds = new Set(events.map(({ event }) => event));
  expect([...kinds]).toEqual(["metadata", "events"]);
  const traced = events.flatMap(({ event, data }) => (event === "events" ? [data as unknown as Traced] : []));

  const own: Traced[] = [];
  const agent = createDeepAgent({ model: new ScriptedModel(steps()) });
  for await (const event of agent.streamEvents(ask("Do it") as never, { version: "v2" })) own.push(event);
  expect(told(traced)).toEqual(told(own));
  const shapes = (all: Traced[]) =>
    all.map(({ event, data }) =>
      event.startsWith("on_chain") ? event : [event, Object.keys(data).toSorted()],
    );
  expect(shapes(traced)).toEqual(shapes(own.filter(({ event }) => event !== "on_chain_stream")));
  const text = traced.flatMap(({ event, data }) =>
    event === "on_chat_model_stream" ? [(data["chunk"] as { content: string }).content] : [],
  );
  expect(text.join("")).toContain("Done.");
  // The graph ran once.
  expect(model.requests).toHaveLength(own.filter(({ event }) => event === "on_chat_model_start").length);
});

it("the store keeps items by namespace", async () => {
  const { client } = await serveScript([]);
  await client.store.putItem(["facts", "kelp"], "height", { metres: 45 });
  expect(await client.store.getItem(["facts", "kelp"], "height")).toMatchObject({ value: { metres: 45 } });
  const { items } = await client.store.searchItems(["facts"]);
  expect(items.map(({ key }) => key)).toEqual(["height"]);
  const { namespaces } = await client.store.listNamespaces({ prefix: ["facts"] });
  expect(namespaces).toEqual([["facts", "kelp"]]);
  await client.store.deleteItem(["facts", "kelp"], "height");
  expect(await client.store.getItem(["facts", "kelp"], "height")).toBeNull();
});
