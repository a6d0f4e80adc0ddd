import type { Client } from "@langchain/langgraph-sdk";
import { createAgent, humanInTheLoopMiddleware, type AgentMiddleware } from "langchain";
import { afterEach, expect, it } from "vitest";
import { asking, forgetLetters, send, sent } from "../../../../test/helpers/models/email-tool.ts";
import { collected, serve, type Served } from "../../../../test/helpers/page/graph-server.ts";
import { createDeepAgent } from "../../../deep/index.ts";
import { callTool, ScriptedModel, type Step } from "../../../testing/index.ts";
import type { GraphSource } from "../graphs.ts";

let served: Served | undefined;
let client: Client;

afterEach(async () => {
  await served?.close();
  served = undefined;
});

async function serveGraph(graph: GraphSource): Promise<string> {
  forgetLetters();
  served = await serve({ agent: graph });
  ({ client } = served);
  return (await client.threads.create()).thread_id;
}

const review = humanInTheLoopMiddleware({ interruptOn: { send: true } }) as unknown;
/** The same with LangChain's own middleware, which asks once for all calls of a turn. */
const askingOnce = (steps: Step[]) =>
  createAgent({
    model: new ScriptedModel(steps),
    tools: [send],
    middleware: [review as AgentMiddleware],
  });

const TWO_LETTERS = [callTool("send", { to: "Ann" }), callTool("send", { to: "Ben" })];
const ask = (content: string) => ({ messages: [{ type: "human", content }] });

interface Asked {
  id: string;
  value: {
    action_requests: { name: string }[];
    actionRequests: { name: string }[];
    review_configs: object[];
  };
}

async function start(thread: string): Promise<Asked[]> {
  const values = (await client.runs.wait(thread, "agent", { input: ask("Write") })) as {
    __interrupt__?: Asked[];
  };
  return values.__interrupt__ ?? [];
}

it("a review is there in both spellings, and is answered in both", async () => {
  const thread = await serveGraph(askingOnce([TWO_LETTERS, "Sent."]));
  const [asked, ...others] = await start(thread);
  expect(others).toEqual([]);
  expect(asked!.value.action_requests).toEqual(asked!.value.actionRequests);
  expect(asked!.value.review_configs[0]).toMatchObject({
    actionName: "send",
    action_name: "send",
    allowed_decisions: ["approve", "edit", "reject"],
  });
  const state = await client.threads.getState(thread);
  expect(state.tasks[0]?.interrupts).toEqual([asked]);
  expect(Object.values((await client.threads.get(thread)).interrupts ?? {})).toEqual([[asked]]);
  const decisions = [
    { type: "edit", edited_action: { name: "send", args: { to: "Cleo" } } },
    { type: "approve" },
  ];
  await client.runs.wait(thread, "agent", { command: { resume: { decisions } } });
  expect(sent.toSorted()).toEqual(["Ben", "Cleo"]);
});

it.each([
  ["our own consent", asking],
  ["LangChain's middleware", askingOnce],
])("the server refuses one decision for two calls before it resumes anything: %s", async (_, agent) => {
  const thread = await serveGraph(agent([TWO_LETTERS, "Sent."]));
  await start(thread);
  const one = { command: { resume: { decisions: [{ type: "approve" }] } } };
  await expect(client.runs.wait(thread, "agent", one)).rejects.toThrow(
    /422.*are needed, one for each of send, send; got 1/,
  );
  expect(sent).toEqual([]);
  const two = { command: { resume: { decisions: [{ type: "approve" }, { type: "approve" }] } } };
  await client.runs.wait(thread, "agent", two);
  expect(sent.toSorted()).toEqual(["Ann", "Ben"]);
});

it("the server refuses an invalid answer, and an answer to a closed question", async () => {
  const thread = await serveGraph(asking([callTool("send", { to: "Ann" }), "Sent."]));
  const [asked] = await start(thread);
  const resume = (value: unknown) => client.runs.wait(thread, "agent", { command: { resume: value } });
  await expect(resume({ decisions: [{ type: "maybe" }] })).rejects.toThrow(
    /422.*is approve, edit, reject or respond/,
  );
  await expect(resume("yes, please")).rejects.toThrow(/422/);
  await expect(resume({ ["0".repeat(32)]: { type: "approve" } })).rejects.toThrow(/422.*no longer open/);
  await resume({ [asked!.id]: { type: "approve" } });
  expect(sent).toEqual(["Ann"]);
});

it("a resume with the newest checkpoint does not repeat a finished call", async () => {
  const ask1 = createDeepAgent({
    model: new ScriptedModel([
      [callTool("send", { to: "Ann" }), callTool("write_file", { file_path: "/a", content: "a" })],
      "Sent.",
    ]),
    tools: [send],
    interruptOn: { write_file: true },
  });
  const thread = await serveGraph(ask1);
  await start(thread);
  expect(sent).toEqual(["Ann"]);
  const { checkpoint } = await client.threads.getState(thread);
  await client.runs.wait(thread, "agent", {
    command: { resume: { decisions: [{ type: "approve" }] } },
    checkpoint,
  });
  expect(sent).toEqual(["Ann"]);
  const { values } = await client.threads.getState<{ files: object }>(thread);
  expect(values.files).toEqual({ "/a": "a" });
});

it("an answer without an id keeps a plan edit made while the thread waited", async () => {
  const thread = await serveGraph(
    asking([
      callTool("write_todos", { todos: [{ content: "Write", status: "in_progress" }] }),
      callTool("send", { to: "Ann" }),
      ...Array.from({ length: 3 }, () => "Sent."),
    ]),
  );
  await start(thread);
  const todos = [
    { id: "1", content: "Write", status: "in_progress" },
    { content: "Stamp", status: "pending" },
  ];
  await client.threads.updateState(thread, { values: { todos } });
  await client.runs.wait(thread, "agent", { command: { resume: { decisions: [{ type: "approve" }] } } });
  const { values } = await client.threads.getState<{ todos: { content: string }[] }>(thread);
  expect(values.todos.map(({ content }) => content)).toEqual(["Write", "Stamp"]);
  expect(sent).toEqual(["Ann"]);
});

it("words typed while the agent waits for an answer become the answer", async () => {
  const { clarificationMiddleware } = await import("../../../index.ts");
  const model = new ScriptedModel([callTool("ask_clarification", { question: "Which?" }), "Blue it is."]);
  const thread = await serveGraph(createDeepAgent({ model, middleware: [clarificationMiddleware()] }));
  await start(thread);
  await client.runs.wait(thread, "agent", { input: ask("The blue one") });
  const { values } = await client.threads.getState<{ messages: { type: string; content: string }[] }>(thread);
  expect(values.messages.map(({ content }) => content).slice(-2)).toEqual([
    "The user answers: The blue one",
    "Blue it is.",
  ]);
});

it("a page's low step limit does not end a deep agent, but holds for a plain graph", async () => {
  const script = (tool: string): Step[] => [...Array.from({ length: 20 }, () => callTool(tool, {})), "Done."];
  const deep = createDeepAgent({ model: new ScriptedModel(script("ls")), loopGuard: false });
  const plain = createAgent({ model: new ScriptedModel(script("send")), tools: [send] });
  for (const [graph, limit] of [
    [deep, 5],
    [plain, 50],
  ] as const) {
    await served?.close();
    const thread = await serveGraph(graph);
    await client.runs.wait(thread, "agent", { input: ask("Look"), config: { recursion_limit: limit } });
    const { values } = await client.threads.getState<{ messages: unknown[] }>(thread);
    expect(values.messages).toHaveLength(42);
  }
});

it("a client cannot write private fields by input, command or state update", async () => {
  const thread = await serveGraph(asking([callTool("send", { to: "Ann" }), "Sent."]));
  const forged = { _plan: { retired: ["forged"] }, __start__: "forged", todos: [] };
  await client.runs.wait(thread, "agent", { input: { ...ask("Write"), ...forged } });
  await client.threads.updateState(thread, { values: { ...forged, files: {} } });
  await client.runs.wait(thread, "agent", {
    command: { resume: { decisions: [{ type: "approve" }] }, update: forged },
    config: { configurable: { holdfast_budget: "forged", __pregel_read: "forged" } },
  });
  const { values } = await client.threads.getState(thread);
  expect(JSON.stringify(values)).not.toContain("forged");
});

it("a client cannot write private fields by a node's state or a command-like input", async () => {
  const thread = await serveGraph(asking(["Hello.", "Again."]));
  await client.runs.wait(thread, "agent", { input: ask("Hi") });
  const forged = { _plan: { retired: ["forged"] } };
  const inputs = [
    { command: { goto: { node: "__start__", input: forged } } },
    { input: { ...ask("Hi"), lg_name: "Command", update: forged } },
  ];
  for (const input of inputs) await client.runs.wait(thread, "agent", input as object).catch(() => {});
  const tuple = await served!.saver.getTuple({ configurable: { thread_id: thread } });
  expect(JSON.stringify(tuple?.checkpoint.channel_values)).not.toContain("forged");
});

it("a message may be a pair of role and words", async () => {
  const thread = await serveGraph(asking(["Hello."]));
  await client.runs.wait(thread, "agent", { input: { messages: [["user", "Hi there"]] } });
  const { values } = await client.threads.getState<{ messages: { type: string; content: string }[] }>(thread);
  expect(values.messages.map(({ type, content }) => [type, content])).toEqual([
    ["human", "Hi there"],
    ["ai", "Hello."],
  ]);
});

it("a reconnecting client reads the place in Location and Content-Location", async () => {
  const thread = await serveGraph(asking(["Hello."]));
  const response = await fetch(`${served!.url}/threads/${thread}/runs/stream`, {
    method: "POST",
    headers: { "x-api-key": served!.token, "content-type": "application/json" },
    body: JSON.stringify({ assistant_id: "agent", input: ask("Hi") }),
  });
  const place = `/threads/${thread}/runs/`;
  expect(response.headers.get("location")).toMatch(new RegExp(`^${place}[0-9a-f-]{36}/stream$`));
  expect(response.headers.get("content-location")).toMatch(new RegExp(`^${place}[0-9a-f-]{36}$`));
  await response.text();
});

interface ProtocolEvent {
  seq: number;
  method: string;
  params: { namespace: string[]; data: Record<string, unknown> };
}

/** The events of the newer protocol, up to the end of a run. */
async function protocolEvents(thread: string, since?: number): Promise<ProtocolEvent[]> {
  const response = await fetch(`${served!.url}/threads/${thread}/stream/events`, {
    method: "POST",
    headers: { "x-api-key": served!.token, "content-type": "application/json" },
    body: JSON.stringify({
      channels: [
        "lifecycle",
        "messages",
        "values",
        "updates",
        "tools",
        "custom",
        "checkpoints",
        "tasks",
        "input",
      ],
      since,
    }),
  });
  const events: ProtocolEvent[] = [];
  let text = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const blocks = text.split("\n\n");
    text = blocks.pop()!;
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data) events.push(JSON.parse(data) as ProtocolEvent);
    }
    const { method, params } = events.at(-1) ?? {};
    if (method === "lifecycle" && params!.namespace.length === 0 && params!.data["event"] !== "running")
      break;
  }
  return events;
}

async function command(thread: string, method: string, params: object): Promise<Record<string, unknown>> {
  const { body } = await served!.send("POST", `/threads/${thread}/commands`, { id: 1, method, params });
  return body as Record<string, unknown>;
}

it("the newer protocol sends each message once and asks; numbers rise after restart", async () => {
  const thread = await serveGraph(asking([callTool("send", { to: "Ann" }), "It was sent."]));
  const reading = protocolEvents(thread);
  const started = await command(thread, "run.start", { assistant_id: "agent", input: ask("Write") });
  expect(started).toMatchObject({ type: "success", id: 1, result: { run_id: expect.any(String) as string } });
  const events = await reading;
  const methods = new Set(events.map(({ method }) => method));
  expect([...methods].toSorted()).toEqual(
    ["checkpoints", "input.requested", "lifecycle", "messages", "tasks", "updates", "values"].toSorted(),
  );
  const beforeValues = events.flatMap(({ method }, at) =>
    method === "values" ? [events[at - 1]?.method] : [],
  );
  expect(new Set(beforeValues)).toEqual(new Set(["checkpoints"]));
  const requested = events.find(({ method }) => method === "input.requested")!.params.data;
  expect(requested).toMatchObject({ payload: { action_requests: [{ name: "send" }] } });
  const seqs = events.map(({ seq }) => seq);
  expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));

  const rest = protocolEvents(thread, seqs.at(-1));
  await command(thread, "input.respond", {
    interrupt_id: requested["interrupt_id"],
    response: { decisions: [{ type: "approve" }] },
  });
  const messages = (await rest)
    .filter(({ method }) => method === "messages")
    .map(({ params }) => params.data);
  expect(messages.filter(({ event }) => event === "message-start")).toHaveLength(1);
  const text = messages.flatMap(({ delta }) => (delta as { text?: string } | undefined)?.text ?? []).join("");
  expect(text).toBe("It was sent.");
  expect(sent).toEqual(["Ann"]);
  expect(await command(thread, "state.get", {})).toMatchObject({
    result: { values: { messages: expect.any(Array) as unknown[] } },
  });
  expect(await command(thread, "run.dance", {})).toMatchObject({
    type: "error",
    message: expect.stringContaining("run.dance") as string,
  });

  const last = seqs.at(-1)!;
  await served!.close();
  await serveGraph(asking(["Hello."]));
  const later = protocolEvents("another");
  await command("another", "run.start", { assistant_id: "agent", input: ask("Hi") });
  expect((await later)[0]!.seq).toBeGreaterThan(last);
});

it("both protocols deliver tool calls that come with text", async () => {
  const { AIMessage } = await import("@langchain/core/messages");
  const both = new AIMessage({
    content: "I will write.",
    tool_calls: [{ name: "send", args: { to: "Ann" }, id: "c1", type: "tool_call" }],
  });
  const thread = await serveGraph(
    createDeepAgent({ model: new ScriptedModel([both, "Sent."]), tools: [send] }),
  );
  const reading = protocolEvents(thread);
  await command(thread, "run.start", { assistant_id: "agent", input: ask("Write") });
  const finished = (await reading).flatMap(({ params }) =>
    params.data["event"] === "content-block-finish" ? [params.data["content"]] : [],
  );
  expect(finished).toEqual([
    { type: "text", text: "I will write." },
    { type: "tool_call", id: "c1", name: "send", args: { to: "Ann" } },
    { type: "text", text: "Sent." },
  ]);
  const { values } = await client.threads.getState<{
    messages: { content: unknown; tool_calls?: unknown[] }[];
  }>(thread);
  expect(values.messages[1]).toMatchObject({ content: "I will write.", tool_calls: [{ name: "send" }] });
});

it("a helper's events are on the channel custom, not on one of the helper's name", async () => {
  const helper = new ScriptedModel(["Report."]);
  const model = new ScriptedModel([
    callTool("task", { description: "Look", subagent_type: "looker" }),
    "Done.",
  ]);
  const graph = createDeepAgent({
    model,
    subagents: [{ name: "looker", description: "Looks", model: helper }],
  });
  const thread = await serveGraph(graph);
  const reading = protocolEvents(thread);
  await command(thread, "run.start", { assistant_id: "agent", input: ask("Look") });
  const custom = (await reading)
    .filter(({ method }) => method === "custom")
    .map(({ params }) => params.data["payload"]);
  expect(custom).toMatchObject([
    { type: "subagent-start", name: "looker" },
    { type: "subagent-end", name: "looker" },
  ]);
});

it("a thread is found among many by its id without reading the others", async () => {
  const thread = await serveGraph(asking(["Hello."]));
  await client.runs.wait(thread, "agent", { input: ask("Hi") });
  const found = await client.threads.search({ ids: [thread] });
  expect(found.map(({ thread_id }) => thread_id)).toEqual([thread]);
  expect(
    await collected(
      client.runs.joinStream(thread, (await client.runs.list(thread))[0]!.run_id, { lastEventId: "-1" }),
    ),
  ).not.toEqual([]);
});
