import { setTimeout as sleep } from "node:timers/promises";
import { MemorySaver } from "@langchain/langgraph";
import type { Client } from "@langchain/langgraph-sdk";
import { afterEach, expect, it } from "vitest";
import { asking } from "../../../../test/helpers/models/email-tool.ts";
import { serve, type Served } from "../../../../test/helpers/page/graph-server.ts";
import { createDeepAgent } from "../../../deep/index.ts";
import { callTool, ScriptedModel } from "../../../testing/index.ts";
import type { ServerOptions } from "../index.ts";
import { contains } from "./listing.ts";

let served: Served | undefined;
let client: Client;

afterEach(async () => {
  await served?.close();
  served = undefined;
});

const agent = () => createDeepAgent({ model: new ScriptedModel(["Hello."], { loop: true }), plan: false });
/** Until the clock shows another time: what is made then is younger. */
const later = () => sleep(2);
const ask = (content: string) => ({ messages: [{ type: "human", content }] });

async function start(
  graphs: Parameters<typeof serve>[0] = { agent: agent() },
  options: Partial<ServerOptions> = {},
): Promise<void> {
  served = await serve(graphs, options);
  ({ client } = served);
}

it.each([
  [{ a: 1, b: 2 }, { a: 1 }, true],
  [{ a: { b: { c: 1 }, d: 2 } }, { a: { b: { c: 1 } } }, true],
  [{ a: { b: 1 } }, { a: { b: 2 } }, false],
  [{ a: { b: 1 } }, { a: {} }, true],
  [{ a: [1, { b: 2, c: 3 }] }, { a: [{ b: 2 }] }, true],
  [{ a: [1, 2] }, { a: [2, 1, 1] }, true],
  [{ a: [1, 2] }, { a: [3] }, false],
  [{ a: [1] }, { a: 1 }, false],
  [{ a: ["x"] }, { a: { 0: "x" } }, false],
  [{ a: null }, { a: null }, true],
  [{}, { a: null }, false],
  [{}, { toString: {} }, false],
])("%j against the filter %j: %s", (value, wanted, isThere) => {
  expect(contains(value, wanted)).toBe(isThere);
});

it("the server finds threads, crons and assistants by part of their metadata", async () => {
  await start();
  const metadata = { order: { id: 7, tags: ["new", "paid"] }, by: "ann" };
  await client.threads.create({ threadId: "a", metadata });
  await later();
  await client.threads.create({ threadId: "b", metadata: { order: { id: 8 } } });
  const cron = { schedule: "0 9 * * *", input: ask("Hi"), metadata };
  const { cron_id: id } = await client.crons.createForThread("a", "agent", cron);
  for (const [wanted, names] of [
    [{ order: { id: 7 } }, ["a"]],
    [{ order: { tags: ["paid"] }, by: "ann" }, ["a"]],
    [{ order: {} }, ["b", "a"]],
    [{ order: { id: 9 } }, []],
  ] as [object, string[]][]) {
    const found = await client.threads.search({ metadata: wanted as never, sortBy: "created_at" });
    expect(found.map(({ thread_id: name }) => name)).toEqual(names);
    expect(await client.threads.count({ metadata: wanted as never })).toBe(names.length);
    const crons = await client.crons.search({ metadata: wanted as never });
    expect(crons.map(({ cron_id: one }) => one)).toEqual(names.includes("a") ? [id] : []);
  }
  expect(await client.assistants.count({ metadata: { created_by: "system" } })).toBe(1);
  expect(await client.assistants.count({ metadata: { created_by: { system: true } } })).toBe(0);
});

it("assistants are found by a part of their name, sorted, and shown in part", async () => {
  await start({ writer: agent(), reader: agent(), Drawer: agent() });
  const { assistants } = client;
  const names = async (query: Parameters<typeof assistants.search>[0]) =>
    ((await assistants.search(query)) as { name: string }[]).map(({ name }) => name);
  expect(await names({ name: "R", sortBy: "name", sortOrder: "asc" })).toEqual([
    "Drawer",
    "reader",
    "writer",
  ]);
  expect(await names({ name: "WR" })).toEqual(["writer"]);
  expect(await names({ name: "nobody" })).toEqual([]);
  expect(await assistants.count({ name: "er" })).toBe(3);
  expect(await assistants.count({ name: "nobody" })).toBe(0);
  expect(await names({ sortBy: "name" })).toEqual(["writer", "reader", "Drawer"]);
  expect(await assistants.search({ name: "wr", select: ["name", "version"] })).toEqual([
    { name: "writer", version: 1 },
  ]);
});

it("threads are sorted by name, by times and by status, either way round", async () => {
  await start({ agent: asking([callTool("send", { to: "Ann" })]) });
  for (const threadId of ["b", "c", "a"]) {
    await client.threads.create({ threadId });
    await later();
  }
  await client.runs.wait("c", "agent", { input: ask("Write") });
  const names = async (sortBy?: "thread_id" | "status" | "created_at", sortOrder?: "asc" | "desc") =>
    (await client.threads.search({ sortBy, sortOrder })).map(({ thread_id: name }) => name);
  expect(await names("thread_id", "asc")).toEqual(["a", "b", "c"]);
  expect(await names("thread_id")).toEqual(["c", "b", "a"]);
  expect(await names("created_at", "asc")).toEqual(["b", "c", "a"]);
  expect((await names("status", "asc")).at(-1)).toBe("c");
  expect((await names("status", "desc"))[0]).toBe("c");
  expect((await names())[0]).toBe("c");
  for (const sorting of [{ sort_by: "mood" }, { sort_order: "up" }]) {
    expect(await served!.send("POST", "/threads/search", sorting)).toMatchObject({ status: 422 });
  }
});

it("parts of threads are found under names of the client's, also without the rest", async () => {
  await start();
  await client.threads.create({ threadId: "a", metadata: { order: { id: 7 } } });
  await client.runs.wait("a", "agent", { input: ask("Hi") });
  const extract = {
    last: "values.messages[-1].content",
    first: "values.messages[0].type",
    order: "metadata.order.id",
    none: "values.messages.length",
    far: "values.messages[7].content",
  };
  const parts = { last: "Hello.", first: "human", order: 7, none: null, far: null };
  expect(await client.threads.search({ extract, select: ["thread_id"] })).toEqual([
    { thread_id: "a", extracted: parts },
  ]);
  expect(await client.threads.search({ extract: { order: "metadata.order" } })).toMatchObject([
    { thread_id: "a", values: { messages: [{}, {}] }, extracted: { order: { id: 7 } } },
  ]);
  for (const path of ["", "values..x", "values[x]"]) {
    await expect(client.threads.search({ extract: { path } }), path).rejects.toThrow(/422.*extract.path/);
  }
});

it("runs and crons are shown in part, and crons are sorted", async () => {
  await start();
  const { thread_id: thread } = await client.threads.create();
  await client.runs.wait(thread, "agent", { input: ask("Hi") });
  expect(await client.runs.list(thread, { select: ["thread_id", "status"] })).toEqual([
    { thread_id: thread, status: "success" },
  ]);
  expect(await client.runs.list(thread, { select: ["status"] })).toEqual([{ status: "success" }]);
  for (const schedule of ["0 9 * * *", "0 10 * * *", "0 11 * * *"]) {
    await client.crons.create("agent", { schedule, input: ask("Hi") });
    await later();
  }
  const ids = (await client.crons.search({ sortBy: "cron_id", sortOrder: "asc" })).map((one) => one.cron_id);
  expect(ids).toEqual(ids.toSorted());
  const newestFirst = [{ schedule: "0 11 * * *" }, { schedule: "0 10 * * *" }, { schedule: "0 9 * * *" }];
  expect(await client.crons.search({ select: ["schedule"] })).toEqual(newestFirst);
  expect(await client.crons.search({ select: ["schedule"], sortBy: "created_at", sortOrder: "asc" })).toEqual(
    newestFirst.toReversed(),
  );
});

it("a change of a thread is answered with nothing where the client wants no more", async () => {
  await start();
  await client.threads.create({ threadId: "a" });
  const change = { metadata: { topic: "kelp" } };
  expect(await client.threads.update("a", { ...change, returnMinimal: true })).toBeUndefined();
  expect(await client.threads.update("a", change)).toMatchObject({
    thread_id: "a",
    metadata: { topic: "kelp" },
  });
});

it("the server refuses a webhook or an expiry, and stores nothing of it", async () => {
  await start();
  const { thread_id: thread } = await client.threads.create();
  const webhook = "https://example.com/hook";
  const input = ask("Hi");
  const refused: [() => Promise<unknown>, RegExp][] = [
    [() => client.runs.create(thread, "agent", { input, webhook }), /webhook: there are no webhooks here/],
    [() => client.runs.wait(null, "agent", { input, webhook }), /webhook/],
    [() => client.crons.create("agent", { input, webhook, schedule: "0 9 * * *" }), /webhook/],
    [() => client.threads.create({ threadId: "b", ttl: 5 }), /ttl: threads do not expire here/],
    [() => client.threads.update(thread, { ttl: 5, metadata: { x: 1 } }), /ttl/],
    [() => client.store.putItem(["facts"], "a", { x: 1 }, { ttl: 5 }), /ttl: items do not expire here/],
  ];
  for (const [send, reason] of refused) await expect(send()).rejects.toThrow(reason);
  expect(await client.runs.list(thread)).toEqual([]);
  expect(await client.crons.count()).toBe(0);
  expect((await client.threads.search()).map(({ metadata }) => metadata?.["x"])).toEqual([undefined]);
  await client.store.putItem(["facts"], "a", { x: 1 }, { ttl: null });
  const nothing = { assistant_id: "agent", input, webhook: null };
  expect(await served!.send("POST", "/runs/wait", nothing)).toMatchObject({ status: 200 });
});

it("a thread that waits is found as such with any checkpointer", async () => {
  await start({ agent: asking([callTool("send", { to: "Ann" })]) }, { checkpointer: new MemorySaver() });
  await client.threads.create({ threadId: "new" });
  await client.threads.create({ threadId: "waits" });
  await client.runs.wait("waits", "agent", { input: ask("Write") });
  expect((await client.threads.get("waits")).status).toBe("interrupted");
  for (const [status, name] of [
    ["interrupted", "waits"],
    ["idle", "new"],
  ] as const) {
    const found = await client.threads.search({ status });
    expect(found.map((thread) => [thread.thread_id, thread.status])).toEqual([[name, status]]);
    expect(await client.threads.count({ status })).toBe(1);
  }
});
