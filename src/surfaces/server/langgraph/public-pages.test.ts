import { Client } from "@langchain/langgraph-sdk";
import { afterEach, expect, it } from "vitest";
import { collected, serve, type Served } from "../../../../test/helpers/page/graph-server.ts";
import { createDeepAgent } from "../../../deep/index.ts";
import { callTool, ScriptedModel, type Step } from "../../../testing/index.ts";

/** What two public pages send, request by request; neither can be installed. */
const PAGE = "http://localhost:3000";
let served: Served;
afterEach(() => served.close());

/** The pages' client: it runs in a browser, on a page of another origin. */
async function open(steps: Step[], interruptOn: Record<string, boolean> = {}): Promise<Client> {
  const graph = createDeepAgent({ model: new ScriptedModel(steps), interruptOn });
  served = await serve({ agent: graph }, { origins: [PAGE] });
  return new Client({
    apiUrl: served.url,
    apiKey: served.token,
    defaultHeaders: { origin: PAGE },
    callerOptions: { maxRetries: 0 },
  });
}

const human = (content: string) => ({ id: crypto.randomUUID(), type: "human", content });
const WRITE = callTool("write_file", { file_path: "/a.md", content: "a" });
const TODOS = callTool("write_todos", { todos: [{ content: "Write", status: "in_progress" }] });
const DONE = callTool("update_todos", { done: ["1"], note: "by hand" });

interface Values {
  messages: { type: string; content: string; tool_calls?: { name: string }[] }[];
  todos?: { content: string; status: string }[];
  files?: Record<string, string>;
}

it("agent-chat-ui: connects, streams and lists a thread, reads it, edits a message", async () => {
  const client = await open(["Hello.", "Hello again."]);
  const info = await fetch(`${served.url}/info`, { headers: { "x-api-key": served.token, origin: PAGE } });
  expect(info.ok).toBe(true);
  expect(info.headers.get("access-control-allow-origin")).toBe(PAGE);

  const { thread_id: thread } = await client.threads.create({ metadata: {} });
  const message = human("Hello?");
  const events = await collected(
    client.runs.stream(thread, "agent", {
      input: { messages: [message], context: {} },
      config: {},
      streamMode: ["values", "messages-tuple", "custom"],
      streamSubgraphs: true,
      streamResumable: true,
      onDisconnect: "continue",
    }),
  );
  const pieces = events
    .filter(({ event }) => event.startsWith("messages"))
    .map(({ data }) => (data as [{ type: string; content: string }])[0]);
  expect(
    pieces
      .filter(({ type }) => type === "ai")
      .map(({ content }) => content)
      .join(""),
  ).toBe("Hello.");

  const found = await client.threads.search({ metadata: { graph_id: "agent" }, limit: 100 });
  expect((found[0]!.values as unknown as Values).messages[0]!.content).toBe("Hello?");
  const history = await client.threads.getHistory<Values>(thread, { limit: 1000 });
  expect(history[0]!.values.messages.map(({ content }) => content)).toEqual(["Hello?", "Hello."]);
  // An edited message starts from the checkpoint before it.
  const before = history.find(({ values }) => (values.messages ?? []).length === 0)!;
  await collected(
    client.runs.stream(thread, "agent", {
      input: { messages: [human("Hello, friend?")] },
      checkpoint: before.checkpoint,
      streamMode: ["values"],
      streamSubgraphs: true,
      streamResumable: true,
    }),
  );
  const { values } = await client.threads.getState<Values>(thread);
  expect(values.messages.map(({ content }) => content)).toEqual(["Hello, friend?", "Hello again."]);
});

it("agent-chat-ui: shows a question, and resumes with one decision and a checkpoint", async () => {
  const client = await open([WRITE, "Written."], { write_file: true });
  const { thread_id: thread } = await client.threads.create({ metadata: {} });
  const events = await collected(
    client.runs.stream(thread, "agent", {
      input: { messages: [human("Write")] },
      streamMode: ["values", "messages-tuple", "custom"],
      streamSubgraphs: true,
      streamResumable: true,
    }),
  );
  const { __interrupt__: asked } = events.findLast(({ event }) => event === "values")!.data as {
    __interrupt__: { value: { action_requests: object[]; review_configs: object[] } }[];
  };
  expect(asked[0]!.value).toMatchObject({
    action_requests: [{ name: "write_file" }],
    review_configs: [{ action_name: "write_file" }],
  });
  const { checkpoint } = await client.threads.getState(thread);
  await collected(
    client.runs.stream(thread, "agent", {
      command: { resume: { decisions: [{ type: "approve" }] } },
      checkpoint,
      streamMode: ["values", "messages-tuple", "custom"],
      streamSubgraphs: true,
      streamResumable: true,
    }),
  );
  expect((await client.threads.getState<Values>(thread)).values.files).toEqual({ "/a.md": "a" });
});

it("deep-agents-ui: finds the assistant by name, streams state, survives a reload", async () => {
  const client = await open([TODOS, WRITE, DONE, "Written."]);
  const [assistant] = await client.assistants.search({ graphId: "agent", limit: 100 });
  expect(assistant).toMatchObject({ metadata: { created_by: "system" } });
  const { assistant_id: id } = await client.assistants.get(assistant!.assistant_id);
  const { thread_id: thread } = await client.threads.create({ metadata: {} });
  const events = await collected(
    client.runs.stream(thread, id, {
      input: { messages: [human("Write")] },
      config: { recursion_limit: 100 },
      streamMode: ["values", "messages-tuple", "updates"],
      streamSubgraphs: true,
      streamResumable: true,
      onDisconnect: "continue",
    }),
  );
  const last = events.findLast(({ event }) => event === "values")!.data as unknown as Values;
  expect(last.todos).toMatchObject([{ content: "Write", status: "completed" }]);
  expect(last.files).toEqual({ "/a.md": "a" });
  // After a reload it joins the run that it remembers.
  const { run_id: run } = events.find(({ event }) => event === "metadata")!.data as unknown as {
    run_id: string;
  };
  const joined = await collected(
    client.runs.joinStream(thread, run, {
      lastEventId: "-1",
      streamMode: ["values", "messages-tuple", "updates"],
    }),
  );
  const numbered = (all: typeof events) => all.map(({ event, id: n }) => [event, n]);
  expect(numbered(joined as typeof events)).toEqual(numbered(events));
  const threads = await client.threads.search({
    limit: 20,
    sortBy: "updated_at",
    sortOrder: "desc",
    metadata: { assistant_id: id },
  });
  expect(threads.map(({ thread_id }) => thread_id)).toEqual([thread]);
  // A person edits a file in it.
  await client.threads.updateState(thread, { values: { files: { "/a.md": "b" } } });
  expect((await client.threads.getState<Values>(thread)).values.files).toEqual({ "/a.md": "b" });
});

it("deep-agents-ui: stops a run, and continues step by step", async () => {
  const client = await open([WRITE, "Written."]);
  const { thread_id: thread } = await client.threads.create({ metadata: {} });
  await collected(
    client.runs.stream(thread, "agent", {
      input: { messages: [human("Write")] },
      interruptBefore: ["tools"],
      config: { recursion_limit: 100 },
      streamMode: ["values"],
    }),
  );
  const state = await client.threads.getState<Values>(thread);
  expect(state.next).toEqual(["tools"]);
  expect((await client.threads.get(thread)).status).toBe("interrupted");
  await collected(
    client.runs.stream(thread, "agent", {
      input: null,
      interruptAfter: ["tools"],
      config: { recursion_limit: 100 },
      streamMode: ["values"],
    }),
  );
  expect((await client.threads.getState<Values>(thread)).values.files).toEqual({ "/a.md": "a" });
  await collected(client.runs.stream(thread, "agent", { input: null, streamMode: ["values"] }));
  expect((await client.threads.getState<Values>(thread)).values.messages.at(-1)?.content).toBe("Written.");
  const run = (await client.runs.list(thread))[0]!;
  await client.runs.cancel(thread, run.run_id);
});
