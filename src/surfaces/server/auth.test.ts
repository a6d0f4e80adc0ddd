import { MemorySaver } from "@langchain/langgraph";
import { Client } from "@langchain/langgraph-sdk";
import { afterEach, expect, it } from "vitest";
import { serve, type Served } from "../../../test/helpers/page/graph-server.ts";
import { createDeepAgent } from "../../deep/index.ts";
import { ScriptedModel } from "../../testing/index.ts";
import type { Auth } from "./http/access.ts";

let served: Served;
afterEach(() => served.close());

const USERS: Record<string, string> = { "key-ann": "ann", "key-ben": "ben" };
const AUTH: Auth = {
  authenticate: (request) => {
    const id = USERS[request.headers.get("x-api-key") ?? ""];
    return id === undefined ? undefined : { id };
  },
};

async function start(auth: Auth = AUTH): Promise<{ ann: Client; ben: Client }> {
  const graph = createDeepAgent({ model: new ScriptedModel(["Hello."], { loop: true }) });
  served = await serve({ agent: graph }, { auth });
  const of = (apiKey: string) => new Client({ apiUrl: served.url, apiKey, callerOptions: { maxRetries: 0 } });
  return { ann: of("key-ann"), ben: of("key-ben") };
}

const ask = (content: string) => ({ messages: [{ type: "human", content }] });

/** Every route that names a thread, a run or a cron. */
const ROUTES = ({ thread, run, cron }: Record<"thread" | "run" | "cron", string>): Route[] => [
  ["GET", `/threads/${thread}`],
  ["PATCH", `/threads/${thread}`, { metadata: { x: 1 } }],
  ["DELETE", `/threads/${thread}`],
  ["POST", `/threads/${thread}/copy`, {}],
  ["GET", `/threads/${thread}/state`],
  ["GET", `/threads/${thread}/state/x`],
  ["POST", `/threads/${thread}/state/checkpoint`, { checkpoint: { thread_id: thread } }],
  ["POST", `/threads/${thread}/state`, { values: { files: {} } }],
  ["PATCH", `/threads/${thread}/state`, { metadata: {} }],
  ["POST", `/threads/${thread}/history`, {}],
  ["POST", `/threads/${thread}/runs`, { assistant_id: "agent", input: null }],
  ["POST", `/threads/${thread}/runs/stream`, { assistant_id: "agent", input: null }],
  ["POST", `/threads/${thread}/runs/wait`, { assistant_id: "agent", input: null }],
  ["GET", `/threads/${thread}/runs`],
  ["GET", `/threads/${thread}/runs/${run}`],
  ["DELETE", `/threads/${thread}/runs/${run}`],
  ["GET", `/threads/${thread}/runs/${run}/join`],
  ["GET", `/threads/${thread}/runs/${run}/stream`],
  ["POST", `/threads/${thread}/runs/${run}/cancel`, {}],
  ["GET", `/runs/${run}/stream`],
  ["POST", "/threads/prune", { thread_ids: [thread] }],
  ["POST", `/threads/${thread}/runs/crons`, { assistant_id: "agent", schedule: "0 9 * * *", input: null }],
  ["PATCH", `/runs/crons/${cron}`, { enabled: true }],
  ["DELETE", `/runs/crons/${cron}`],
];
type Route = [method: string, path: string, body?: object];

it("a thread of one user does not exist for another, on any route", async () => {
  const { ann, ben } = await start();
  const { thread_id: thread } = await ann.threads.create();
  await ann.runs.wait(thread, "agent", { input: ask("Hi") });
  const { run_id: run } = (await ann.runs.list(thread))[0]!;
  const { cron_id: cron } = await ann.crons.createForThread(thread, "agent", {
    schedule: "0 9 * * *",
    input: ask("Hi"),
    enabled: false,
  });
  for (const [method, path, body] of ROUTES({ thread, run, cron })) {
    const response = await fetch(served.url + path, {
      method,
      headers: { "x-api-key": "key-ben", "content-type": "application/json" },
      body: body ? JSON.stringify(body) : undefined,
    });
    expect(response.status, `${method} ${path}`).toBe(404);
    expect(await response.text()).toMatch(/not found/);
  }
  expect(await ben.threads.search()).toEqual([]);
  expect(await ben.threads.count()).toBe(0);
  expect(await ben.crons.search({ threadId: thread })).toEqual([]);
  expect(await ben.crons.count()).toBe(0);
  expect(await ann.crons.search()).toMatchObject([{ cron_id: cron, enabled: false }]);
  expect((await ann.threads.search()).map(({ thread_id }) => thread_id)).toEqual([thread]);
  expect((await ann.threads.getState<{ messages: unknown[] }>(thread)).values.messages).toHaveLength(2);
  // A run of another thread is not found by way of one's own.
  const own = await ben.threads.create();
  await expect(ben.runs.get(own.thread_id, run)).rejects.toThrow(/404/);
  await ben.runs.cancelMany({ threadId: thread, status: "all" });
});

it("the server hides whether a thread name is taken, and each user has own names", async () => {
  const { ann, ben } = await start();
  const said = async (name: string, path: string, body: object): Promise<unknown> => {
    const response = await fetch(served.url + path, {
      method: "POST",
      headers: { "x-api-key": "key-ben", "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const isStream = response.headers.get("content-type")?.includes("event-stream");
    const text = isStream ? "" : await response.text();
    await response.body?.cancel().catch(() => {});
    const times = /\d{4}-\d\d-\d\dT[\d:.]+Z|[0-9a-f-]{36}|[0-9a-f]{8}-\d+|\d{16}/g;
    return [
      response.status,
      response.headers.get("content-location")?.replaceAll(times, "…").replaceAll(name, "NAME"),
      text.replaceAll(times, "…").replaceAll(name, "NAME"),
    ];
  };
  const run = { assistant_id: "agent", if_not_exists: "create" };
  const routes = (name: string): [path: string, body: object][] => [
    ["/threads", { thread_id: name }],
    ["/threads", { thread_id: name, if_exists: "do_nothing" }],
    [`/threads/${name}/runs`, { ...run, input: null }],
    [`/threads/${name}/runs/wait`, { ...run, input: ask("Mine") }],
    [`/threads/${name}/runs`, { ...run, input: ask("Mine") }],
    [`/threads/${name}/stream/events`, { channels: ["values"] }],
    [`/threads/${name}/commands`, { id: 1, method: "state.get", params: {} }],
    [`/threads/${name}/commands`, { id: 1, method: "run.start", params: { input: ask("Mine") } }],
  ];
  for (const [at] of routes("").entries()) {
    const [taken, free] = [`taken-${at}`, `other-${at}`];
    await ann.threads.create({ threadId: taken });
    await ann.runs.wait(taken, "agent", { input: ask("Hers") });
    const [path, body] = routes(taken)[at]!;
    expect(await said(taken, path, body), path).toEqual(await said(free, ...routes(free)[at]!));
  }
  await ben.threads.create({ threadId: "taken-3", ifExists: "do_nothing" });
  const text = async (client: Client) => JSON.stringify((await client.threads.getState("taken-3")).values);
  expect(await text(ann)).toContain("Hers");
  expect(await text(ben)).toContain("Mine");
  expect(JSON.stringify(await ben.threads.search())).not.toMatch(/Hers|\.u-/);
  // It stays theirs when the other one is gone.
  await ann.threads.delete("taken-3");
  expect(await text(ben)).toContain("Mine");
  await expect(ben.threads.create({ threadId: `x.u-${"0".repeat(16)}` })).rejects.toThrow(/422/);
});

it("a run without a thread and the store's items are visible only to their user", async () => {
  const { ann, ben } = await start();
  let run = "";
  for await (const { event, data } of ann.runs.stream(null, "agent", {
    input: ask("Hi"),
    streamMode: "values",
  })) {
    if (event === "metadata") run = (data as { run_id: string }).run_id;
  }
  const join = async (key: string) => {
    const response = await fetch(`${served.url}/runs/${run}/stream`, {
      headers: { "x-api-key": key, "last-event-id": "-1" },
    });
    await response.text();
    return response.status;
  };
  expect(await join("key-ann")).toBe(200);
  expect(await join("key-ben")).toBe(404);

  await ann.store.putItem(["notes"], "secret", { text: "hidden" });
  await ben.store.putItem(["notes"], "mine", { text: "seen" });
  expect((await ben.store.searchItems(["notes"])).items.map(({ key }) => key)).toEqual(["mine"]);
  expect((await ben.store.searchItems([])).items.map(({ namespace }) => namespace)).toEqual([["notes"]]);
  expect((await ben.store.listNamespaces()).namespaces).toEqual([["notes"]]);
  expect(await ben.store.getItem(["users", "ann", "notes"], "secret")).toBeNull();
});

it("user names may have any characters or a common start, and store items stay apart", async () => {
  const names = ["ann", "anna", "ann:notes", "ann@example.com", "*"];
  served = await serve(
    { agent: createDeepAgent({ model: new ScriptedModel([]) }) },
    { auth: { authenticate: ({ headers }) => ({ id: names[Number(headers.get("x-api-key"))]! }) } },
  );
  const clients = names.map(
    (_, at) => new Client({ apiUrl: served.url, apiKey: String(at), callerOptions: { maxRetries: 0 } }),
  );
  for (const [at, { store }] of clients.entries()) await store.putItem(["notes"], names[at]!, { at });
  for (const [at, { store }] of clients.entries()) {
    const { items } = await store.searchItems([]);
    expect(items).toMatchObject([{ namespace: ["notes"], key: names[at] }]);
    expect((await store.listNamespaces()).namespaces).toEqual([["notes"]]);
    expect(await store.getItem(["notes"], names[at]!)).toMatchObject({ value: { at } });
  }
});

it("the server refuses each route without a user, and the random token is useless", async () => {
  await start();
  for (const headers of [{}, { "x-api-key": "key-eve" }, { authorization: "Bearer key-ann" }] as Record<
    string,
    string
  >[]) {
    const { status } = await fetch(`${served.url}/threads/search`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: "{}",
    });
    expect(status).toBe(401);
  }
  expect(served.token).toBe("");
});

it("another rule may share threads", async () => {
  const { ann, ben } = await start({
    ...AUTH,
    mayUse: (user, { owner, metadata }) => owner === user.id || metadata["team"] === true,
  });
  await ann.threads.create({ threadId: "private" });
  await ann.threads.create({ threadId: "shared", metadata: { team: true } });
  expect((await ben.threads.search()).map(({ thread_id }) => thread_id)).toEqual(["shared"]);
  expect((await ann.threads.search()).map(({ thread_id }) => thread_id).toSorted()).toEqual([
    "private",
    "shared",
  ]);
});

it("the server accepts any checkpointer, and refuses a graph with a different one", async () => {
  const checkpointer = new MemorySaver();
  const model = new ScriptedModel(["Hello."], { loop: true });
  served = await serve({ agent: createDeepAgent({ model }) }, { checkpointer });
  const { thread_id: thread } = await served.client.threads.create();
  await served.client.runs.wait(thread, "agent", { input: ask("Hi") });
  expect((await served.client.threads.search())[0]).toMatchObject({ thread_id: thread, status: "idle" });
  await served.client.threads.delete(thread);
  expect(await served.client.threads.count()).toBe(0);
  const other = createDeepAgent({ model, checkpointer: new MemorySaver() });
  await expect(serve({ agent: other }, { checkpointer })).rejects.toThrow(/has a checkpointer of its own/);
});

it("a factory builds each run's agent from the client's configuration", async () => {
  const { makeLeadAgent } = await import("../../lead/index.ts");
  const seen: unknown[] = [];
  served = await serve({
    lead: (config) => {
      seen.push(config.configurable?.["is_plan_mode"]);
      return makeLeadAgent(config, {
        model: new ScriptedModel(["Hello.", "A title"], { loop: true }),
        sandbox: {},
      });
    },
  });
  const { thread_id: thread } = await served.client.threads.create();
  const config = { configurable: { is_plan_mode: true } };
  await served.client.runs.wait(thread, "lead", { input: ask("Hi"), config });
  expect(seen).toContain(true);
});

it("a factory that failed once is asked again", async () => {
  let isReady = false;
  served = await serve({
    agent: () => {
      if (!isReady) throw new Error("There is no key yet.");
      return createDeepAgent({ model: new ScriptedModel(["Hello."], { loop: true }) });
    },
  });
  await expect(served.client.threads.create({ threadId: "t" })).rejects.toThrow(/no key yet/);
  isReady = true;
  expect(await served.client.threads.get("t")).toMatchObject({ status: "idle" });
});

it("the server reports unexpected errors to its operator, not to its users", async () => {
  const secret = "/srv/state/threads.db is full";
  const told: string[] = [];
  const listen = (warning: Error): void => void told.push(warning.message);
  process.on("warning", listen);
  const failing: Auth = {
    ...AUTH,
    mayUse: () => {
      throw new Error(secret);
    },
  };
  const { ann } = await start(failing);
  await ann.threads.create({ threadId: "t", ifExists: "do_nothing" }).catch(() => undefined);
  const answer = await fetch(`${served.url}/threads/t`, { headers: { "x-api-key": "key-ann" } });
  expect(answer.status).toBe(500);
  expect(await answer.text()).not.toContain("/srv");
  await expect.poll(() => told).toContain(secret);
  process.off("warning", listen);
});
