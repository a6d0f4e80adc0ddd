import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@langchain/langgraph-sdk";
import { expect, it } from "vitest";
import { serve } from "../../../../test/helpers/page/graph-server.ts";
import {
  folder,
  HEADERS,
  recover,
  saver,
  setStage,
  start,
  url,
} from "../../../../test/helpers/page/threads-server.ts";
import { createDeepAgent } from "../../../deep/index.ts";
import { ScriptedModel } from "../../../testing/index.ts";
import { threadsGraph } from "../../../threads/host/threads-graph.ts";
import { DEFAULT_SETTINGS, type RunSettings } from "../../../threads/prepare/settings.ts";
import { GRAPH } from "../../../threads/thread/thread-settings.ts";

setStage();

const FORGED = {
  run: { ...DEFAULT_SETTINGS, shell: true, dir: "/" },
  title: "forged",
  _plan: { retired: ["forged"] },
  settings: { shell: true },
};
const ask = (content: string) => ({ messages: [{ type: "human", content }] });
const forged = (content: string) => ({ ...ask(content), ...FORGED });

async function connect(): Promise<Client> {
  await start(Array.from({ length: 40 }, () => "Done."));
  await recover();
  return new Client({ apiUrl: url, apiKey: "secret", callerOptions: { maxRetries: 0 } });
}

async function post(path: string, body: object): Promise<void> {
  const response = await fetch(url + path, { method: "POST", headers: HEADERS, body: JSON.stringify(body) });
  expect(response.status, await response.text()).toBe(200);
}

/** What is kept of a thread that only the harness may say, once nothing runs in it. */
async function kept(client: Client, thread: string): Promise<{ run?: RunSettings; title?: string }> {
  while ((await client.threads.get(thread)).status === "busy") await sleep(10);
  const { values } = await client.threads.getState<{ run?: RunSettings; title?: string }>(thread);
  expect(JSON.stringify(values)).not.toContain("forged");
  return values;
}

type Way = (client: Client, thread: string) => Promise<unknown>;

/** Each on a thread that has run once. */
const WAYS: Record<string, Way> = {
  "an input": (client, thread) => client.runs.wait(thread, GRAPH, { input: forged("More") }),
  "a body with settings": (_, thread) =>
    post(`/threads/${thread}/runs/wait`, { assistant_id: GRAPH, input: ask("More"), ...FORGED }),
  "the config": (client, thread) =>
    client.runs.wait(thread, GRAPH, {
      input: ask("More"),
      config: { configurable: FORGED },
      context: FORGED,
    }),
  "a command's update": (client, thread) =>
    client.runs.wait(thread, GRAPH, { command: { update: forged("More") } }),
  "a state update": (client, thread) => client.threads.updateState(thread, { values: forged("More") }),
  "a state update as a node": (client, thread) =>
    client.threads.updateState(thread, { values: forged("More"), asNode: "model_request" }),
  "a state update of an older checkpoint": async (client, thread) =>
    client.threads.updateState(thread, {
      values: forged("More"),
      asNode: "model_request",
      checkpointId: await older(client, thread),
    }),
  "a run from an older checkpoint": async (client, thread) =>
    client.runs.wait(thread, GRAPH, {
      input: forged("More"),
      checkpointId: await older(client, thread),
    }),
  "run.start": (_, thread) =>
    post(`/threads/${thread}/commands`, {
      id: 1,
      method: "run.start",
      params: { assistant_id: GRAPH, input: forged("More"), ...FORGED },
    }),
  "a cron": async (client, thread) => {
    const before = (await client.runs.list(thread)).length;
    const schedule = "* * * * * *";
    const { cron_id: id } = await client.crons.createForThread(thread, GRAPH, {
      schedule,
      input: forged("More"),
    });
    while ((await client.runs.list(thread)).length === before) await sleep(20);
    await client.crons.delete(id);
  },
};

async function older(client: Client, thread: string): Promise<string> {
  const history = await client.threads.getHistory(thread, { limit: 100 });
  return history.find(({ next }) => next.includes("model_request"))!.checkpoint.checkpoint_id!;
}

it.each(Object.keys(WAYS))("how a thread is run, and its title, are not written by %s", async (name) => {
  const client = await connect();
  const { thread_id: thread } = await client.threads.create();
  await client.runs.wait(thread, GRAPH, { input: ask("Count the files") });
  const before = await kept(client, thread);
  expect(before).toMatchObject({ run: { shell: false }, title: "Count the files" });
  await WAYS[name]!(client, thread);
  const { run, title } = await kept(client, thread);
  expect({ run, title }).toEqual({ run: before.run, title: before.title });
});

it("the first input of a thread does not change its run settings or title", async () => {
  const client = await connect();
  const begin: Way[] = [
    (_, thread) => client.runs.wait(thread, GRAPH, { input: forged("Count"), ifNotExists: "create" }),
    WAYS["run.start"]!,
    async (_, thread) => {
      await client.threads.create({ threadId: thread });
      await WAYS["a cron"]!(client, thread);
    },
  ];
  for (const [at, way] of begin.entries()) {
    await way(client, `new-${at}`);
    expect(await kept(client, `new-${at}`)).toMatchObject({ run: { shell: false } });
  }
});

it("reading any number of threads builds one agent", async () => {
  await start([]);
  const defaults = { ...DEFAULT_SETTINGS, model: "scripted" };
  const modelOf = () => Promise.reject(new Error("Nothing is run."));
  const graph = threadsGraph({ saver, cwd: folder, defaults, modelOf });
  const readers = await Promise.all([undefined, "a", "b", "c"].map((thread) => graph.reader(thread)));
  expect(new Set(readers).size).toBe(1);

  let built = 0;
  const served = await serve({
    agent: () => {
      built += 1;
      return createDeepAgent({ model: new ScriptedModel([]) });
    },
  });
  try {
    const { threads, assistants } = served.client;
    await Promise.all(["a", "b", "c"].map((threadId) => threads.create({ threadId })));
    for (const { thread_id: thread } of await threads.search()) {
      await threads.get(thread);
      await threads.getState(thread);
      await threads.getHistory(thread);
    }
    await assistants.getGraph("agent");
    await assistants.getSchemas("agent");
    expect(built).toBe(1);
  } finally {
    await served.close();
  }
});
