import { AIMessage, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, MemorySaver, ReducedValue, StateSchema } from "@langchain/langgraph";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../deep/index.ts";
import type { DeepAgentOptions } from "../../deep/options.ts";
import { isOvertaken } from "../../langgraph/call-journal.ts";
import { makeLeadAgent } from "../../lead/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";

const go = { messages: [new HumanMessage("go")] };
const inThread = { configurable: { thread_id: "t" } };
const start = (type = "scout", more = {}) =>
  callTool("task", { description: `look with ${type}`, subagent_type: type, background: true, ...more });
const background = (action: string, id?: string) => callTool("background", { action, ...(id && { id }) });
type Options = Pick<
  DeepAgentOptions,
  "tools" | "interruptOn" | "checkpointer" | "maxConcurrency" | "subagents"
>;
const textsOf = (messages: BaseMessage[]) => messages.map(({ text }) => text);

/** Something that both wait for. */
function gate() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

function crewOf(steps: Step[], helpers: Record<string, Step[]>, options: Options = {}) {
  const model = new ScriptedModel(steps);
  const models = Object.fromEntries(
    Object.entries(helpers).map(([name, script]) => [name, new ScriptedModel(script)]),
  );
  const agent = createDeepAgent({
    model,
    background: true,
    subagents: Object.entries(models).map(([name, own]) => ({ name, description: "looks", model: own })),
    ...options,
  });
  return { agent, model, models };
}

const note = tool(() => "noted", { name: "note", description: "notes", schema: z.object({}) });

describe("a sub-agent in the background", () => {
  it("lets its caller continue, and its report comes with a later result", async () => {
    const [helper, caller] = [gate(), gate()];
    const { agent, model } = crewOf(
      [
        start(),
        async () => (helper.open(), await caller.opened, callTool("note")),
        callTool("note"),
        "All done.",
      ],
      { scout: [async () => (await helper.opened, "Found 3 leaks.")] },
      { tools: [note] },
    );
    const stream = await agent.stream(go, { streamMode: "custom" });
    for await (const chunk of stream as AsyncIterable<{ type: string }>) {
      if (chunk.type === "subagent-end") setTimeout(caller.open, 20);
    }
    const results = model.requests.map(({ messages }) => messages.at(-1)!.text);
    expect(results[1]).toBe("Started in the background as b1.");
    expect(results[2]).toContain("noted");
    expect(results[2]).toContain("The background task b1 (scout) has ended. Its report:\nFound 3 leaks.");
    expect(results[3]).toBe("noted");
    expect(model.requests).toHaveLength(4);
  });

  it("is waited for when its caller would end, which is called again with the report", async () => {
    const { agent, model } = crewOf([start(), "Waiting.", "There are 3 leaks."], {
      scout: [() => new Promise((resolve) => setTimeout(() => resolve("Found 3 leaks."), 50))],
    });
    const { messages } = await agent.invoke(go);
    expect(model.requests).toHaveLength(3);
    expect(model.requests[2]!.messages.at(-1)!.text).toContain("Found 3 leaks.");
    expect(textsOf(messages).at(-1)).toBe("There are 3 leaks.");
  });

  it("returns its files and its plan item together with those of others", async () => {
    const write = (path: string) => callTool("write_file", { file_path: path, content: path });
    const { agent } = crewOf(
      [
        [
          callTool("write_todos", { todos: ["First", "Second"] }),
          start("a", { todo_id: "1" }),
          start("b", { todo_id: "2" }),
        ],
        "Waiting.",
        "Told.",
      ],
      { a: [write("/a"), "A."], b: [write("/b"), "B."] },
    );
    const { files, todos } = await agent.invoke(go);
    expect(files).toEqual({ "/a": "/a", "/b": "/b" });
    expect(todos.map(({ status }) => status)).toEqual(["completed", "completed"]);
  });
});

it("an item cannot be completed while a sub-agent in the background is at work on it", async () => {
  const helper = gate();
  const { agent, model } = crewOf(
    [
      [callTool("write_todos", { todos: ["First", "Second"] }), start("a", { todo_id: "1" })],
      callTool("update_todos", { done: "1: by me" }),
      () => (helper.open(), "Waiting."),
      ...Array<Step>(6).fill("Told."),
    ],
    { a: [async () => (await helper.opened, "A.")] },
  );
  const { todos } = await agent.invoke(go);
  expect(model.requests[2]!.messages.at(-1)!.text).toContain("a sub-agent is still working on it");
  expect(todos[0]!.status).toBe("completed");
});

it("state fields that several sub-agents changed pass through the reducer in turn", async () => {
  const sources = new ReducedValue(z.array(z.string()).default([]), {
    reducer: (list: string[], more: string[]) => [...list, ...more],
  });
  const stateSchema = new StateSchema({ sources });
  const invoke = (name: string) => async (input: { sources: string[] }) => ({
    sources: [...input.sources, name],
    messages: [new AIMessage(`${name} has looked.`)],
  });
  const helper = (name: string) => ({
    name,
    description: "looks",
    runnable: { invoke: invoke(name) },
    stateFields: ["sources"],
  });
  const model = new ScriptedModel([[start("a"), start("b")], "Waiting.", "One is back.", "Both are."]);
  const subagents = [helper("a"), helper("b")];
  const agent = createDeepAgent({ model, background: true, plan: false, stateSchema, subagents });
  const state = await agent.invoke({ ...go, sources: ["first"] } as never);
  expect((state as unknown as { sources: string[] }).sources).toEqual(["first", "a", "b"]);
  expect(model.requests).toHaveLength(4);
});

describe("the background tool", () => {
  it("waits for reports, and they come once", async () => {
    const { agent, model } = crewOf(
      [[start("a"), start("b")], background("wait"), background("wait"), "ok"],
      { a: ["A."], b: ["B."] },
    );
    await agent.invoke(go);
    const [, , waited, again] = model.requests.map(({ messages }) => messages.at(-1)!.text);
    expect(waited).toContain("b1 (a)");
    expect(waited).toContain("b2 (b)");
    expect(again).toBe("There is no background task.");
    expect(model.requests).toHaveLength(4);
  });

  it("looks without waiting, and cancels with a partial report", async () => {
    const helper = gate();
    const { agent, model } = crewOf(
      [
        start(),
        async () => (await helper.opened, background("look")),
        background("cancel", "b1"),
        background("cancel", "b9"),
        "ok",
      ],
      { scout: [callTool("ls", { path: "/" }), () => (helper.open(), new Promise<Step>(() => {}))] },
    );
    await agent.invoke(go);
    const [, , looked, cancelled, none] = model.requests.map(({ messages }) => messages.at(-1)!.text);
    expect(looked).toMatch(/^b1 scout \(look with scout\): at work, \d+ s, 1 model calls\./);
    expect(cancelled).toContain("ls: ");
    expect(cancelled).toContain("[In part: it was cancelled.]");
    expect(none).toBe("There is no background task.");
    expect(model.requests).toHaveLength(5);
  });

  it.each([
    ["failed: no spade", new Error("no\nspade")],
    ["failed: there is no report", "…"],
    ["has ended", "Found 3 leaks."],
  ])("sees at a look that one %s", async (status, step) => {
    const ended = gate();
    const { agent, model } = crewOf(
      [start(), async () => (await ended.opened, background("look")), "ok", "Told."],
      { scout: [step] },
    );
    const stream = await agent.stream(go, { streamMode: "custom" });
    for await (const chunk of stream as AsyncIterable<{ type: string }>) {
      if (chunk.type === "subagent-end") setTimeout(ended.open, 20);
    }
    const looked = model.requests[2]!.messages.at(-1)!.text;
    expect(looked.split("\n")[0]).toMatch(RegExp(`^b1 scout \\(look with scout\\): ${status}, \\d+ s,`));
  });
});

it("a background sub-agent's question appears in its caller, which passes the answer", async () => {
  const { agent, models } = crewOf(
    [start(), "Waiting.", "Done."],
    { scout: [callTool("write_file", { file_path: "/a", content: "x" }), "Written."] },
    { interruptOn: { write_file: true }, checkpointer: new MemorySaver() },
  );
  const stopped = await agent.invoke(go, inThread);
  const [question] = (stopped as { __interrupt__?: { id: string; value: { owner: string } }[] })
    .__interrupt__!;
  expect(question!.value.owner).toMatch(/^main\/scout:/);
  const { files, messages } = await agent.invoke(
    new Command({ resume: { [question!.id]: { type: "approve" } } }),
    inThread,
  );
  expect(files).toEqual({ "/a": "x" });
  expect(textsOf(messages).at(-1)).toBe("Done.");
  expect(models["scout"]!.requests).toHaveLength(2);
});

it("an answered question is no longer open when its call has started", async () => {
  const saver = new MemorySaver();
  const overtaken: boolean[] = [];
  const send = tool(
    async () => {
      const { pendingWrites = [] } = (await saver.getTuple(inThread))!;
      const [task, , asked] = pendingWrites.find(([, channel]) => channel === "__interrupt__")!;
      overtaken.push(isOvertaken({ id: task, value: (asked as { value: unknown }).value }, pendingWrites));
      return "sent";
    },
    { name: "send", description: "sends", schema: z.object({}) },
  );
  const { agent } = crewOf(
    [start(), "Waiting.", "Done."],
    { scout: [callTool("send"), "Sent."] },
    { tools: [send], interruptOn: { send: true }, checkpointer: saver },
  );
  await agent.invoke(go, inThread);
  await agent.invoke(new Command({ resume: { type: "approve" } }), inThread);
  expect(overtaken).toEqual([true]);
});

it("a plain answer without an id reaches it too", async () => {
  const { agent } = crewOf(
    [start(), background("wait"), "Done."],
    { scout: [callTool("write_file", { file_path: "/a", content: "x" }), "Written."] },
    { interruptOn: { write_file: true }, checkpointer: new MemorySaver() },
  );
  await agent.invoke(go, inThread);
  const { files } = await agent.invoke(new Command({ resume: { type: "approve" } }), inThread);
  expect(files).toEqual({ "/a": "x" });
});

it("Holdfast runs no more background sub-agents at once than allowed", async () => {
  let [now, most] = [0, 0];
  const busy: Step = async () => {
    most = Math.max(most, ++now);
    for (let turns = 0; turns < 100; turns += 1) await new Promise((resolve) => void setImmediate(resolve));
    now -= 1;
    return "ok";
  };
  const { agent } = crewOf(
    [[start("a"), start("b"), start("c"), start("d")], "Waiting.", "ok"],
    { a: [busy], b: [busy], c: [busy], d: [busy] },
    { maxConcurrency: 2 },
  );
  await agent.invoke(go);
  expect(most).toBe(2);
});

it("a cancelled run stops its sub-agent, and the thread resumes it without repeats", async () => {
  const done: string[] = [];
  const record = tool(({ what }) => (done.push(what), "recorded"), {
    name: "record",
    description: "records",
    schema: z.object({ what: z.string() }),
  });
  const controller = new AbortController();
  const { agent, models } = crewOf(
    [start(), () => new Promise<Step>(() => {}), "Waiting.", "Done."],
    {
      scout: [
        callTool("record", { what: "first" }),
        () => (controller.abort(), new Promise<Step>(() => {})),
        callTool("record", { what: "second" }),
        "Recorded.",
      ],
    },
    { tools: [record], checkpointer: new MemorySaver() },
  );
  await expect(agent.invoke(go, { ...inThread, signal: controller.signal })).rejects.toThrow(/abort/i);
  const { messages } = await agent.invoke(null as never, inThread);
  expect(done).toEqual(["first", "second"]);
  expect(textsOf(messages).at(-1)).toBe("Done.");
  expect(messages.filter((message) => message.text.includes("Recorded."))).toHaveLength(1);
  expect(models["scout"]!.requests).toHaveLength(4);
});

it("a sub-agent of a lead agent works in the background, too", async () => {
  const model = new ScriptedModel([start(), "Waiting.", "There are 3 leaks."]);
  const agent = makeLeadAgent(
    { configurable: { subagent_enabled: true, is_plan_mode: true } },
    {
      model,
      background: true,
      title: { model: new ScriptedModel(["Leaks"], { loop: true }) },
      subagents: [{ name: "scout", description: "looks", model: new ScriptedModel(["Found 3 leaks."]) }],
    },
  );
  const { messages } = await agent.invoke(go);
  expect(textsOf(messages).at(-1)).toBe("There are 3 leaks.");
  expect(model.requests.at(-1)!.messages.at(-1)!.text).toContain("Found 3 leaks.");
});

it("a cancel also stops a background runnable that is not a graph", async () => {
  const { agent, model } = crewOf(
    [start("stone"), background("cancel"), "ok"],
    {},
    {
      subagents: [
        { name: "stone", description: "lies", runnable: { invoke: () => new Promise<object>(() => {}) } },
      ],
    },
  );
  await agent.invoke(go);
  expect(model.requests.at(-1)!.messages.at(-1)!.text).toContain("it was cancelled");
});

it("a report that came with a result before a stop does not come again after it", async () => {
  const saver = new MemorySaver();
  const ended = gate();
  const stop = new AbortController();
  const schema = z.object({});
  const late = tool(async () => (await ended.opened, "noted"), {
    name: "late",
    description: "notes",
    schema,
  });
  const isSaved = async () =>
    (await saver.getTuple(inThread))!.pendingWrites!.some(([, , value]) =>
      JSON.stringify(value).includes("noted"),
    );
  const cut = tool(
    async () => {
      if (stop.signal.aborted) return "cut";
      while (!(await isSaved())) await new Promise((resolve) => setTimeout(resolve, 5));
      stop.abort();
      return new Promise<string>(() => {});
    },
    { name: "cut", description: "cuts", schema, metadata: { annotations: { readOnlyHint: true } } },
  );
  const { agent } = crewOf(
    [start(), [callTool("late"), callTool("cut")], callTool("cut"), "Done."],
    { scout: ["Found 3 leaks."] },
    { tools: [late, cut], checkpointer: saver },
  );
  const run = async () => {
    const stream = await agent.stream(go, { ...inThread, streamMode: "custom", signal: stop.signal });
    for await (const chunk of stream as AsyncIterable<{ type: string }>) {
      if (chunk.type === "subagent-end") setTimeout(ended.open, 20);
    }
  };
  await expect(run()).rejects.toThrow(/abort/i);
  const { messages } = await agent.invoke(null as never, inThread);
  expect(textsOf(messages).at(-1)).toBe("Done.");
  expect(textsOf(messages).filter((text) => text.includes("Found 3 leaks."))).toHaveLength(1);
});

it("a run that fails stops it", async () => {
  const { agent, models } = crewOf(
    [
      start(),
      async () => (await new Promise((resolve) => setTimeout(resolve, 50)), new Error("no such model")),
    ],
    { scout: [callTool("ls"), () => new Promise<Step>(() => {}), "never"] },
  );
  await expect(agent.invoke(go)).rejects.toThrow("no such model");
  expect(models["scout"]!.requests.length).toBeLessThan(3);
});

it("costs nothing where it is not switched on, and little where it is", async () => {
  const tokens = async (options: { background?: boolean }) => {
    const model = new ScriptedModel(["ok"]);
    const checkpointer = new MemorySaver();
    await createDeepAgent({ model, checkpointer, ...options }).invoke(go, inThread);
    const { messages, tools } = model.requests[0]!;
    const steps = Object.keys(checkpointer.storage["t"]![""]!).length;
    return { fixed: encode(messages[0]!.text + JSON.stringify(tools)).length, steps };
  };
  const [plain, off, on] = [
    await tokens({}),
    await tokens({ background: false }),
    await tokens({ background: true }),
  ];
  expect(off).toEqual(plain);
  expect(on.fixed - plain.fixed).toBeLessThanOrEqual(130);
  // One at the end of a run, where it waits.
  expect(on.steps - plain.steps).toBe(1);
});
