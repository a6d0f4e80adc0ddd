import { AIMessage, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { countTokensApproximately, createAgent, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../deep/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { summarizationMiddleware, type SummaryEvent } from "./index.ts";

const go = { messages: [new HumanMessage("the task")] };
const note = tool(() => "noted", { name: "note", description: "n", schema: z.looseObject({}) });
const notes = (count: number): Step[] => Array.from({ length: count }, (_, n) => callTool("note", { n }));
const isSummarized = ({ messages }: { messages: BaseMessage[] }): boolean =>
  messages.some(({ additional_kwargs }) => additional_kwargs["lc_source"] === "summarization");

async function eventsOf(agent: ReturnType<typeof createDeepAgent>, input: object): Promise<SummaryEvent[]> {
  const events: SummaryEvent[] = [];
  for await (const chunk of await agent.stream(input, {
    streamMode: "custom",
    recursionLimit: 200,
  })) {
    events.push(chunk as SummaryEvent);
  }
  return events;
}

describe("a conversation is summarized by the size of the whole request", () => {
  it("including its system prompt and its tools", async () => {
    const model = new ScriptedModel(["ok"]);
    const writer = new ScriptedModel(["They talked."], { loop: true });
    const middleware = [
      summarizationMiddleware({ model: writer, trigger: { tokens: 1000 }, keep: { messages: 1 } }),
    ];
    const messages = ["one", "two", "three"].map((word) => new HumanMessage(word));
    const systemPrompt = "word ".repeat(1000);
    await createAgent({ model, tools: [note], systemPrompt, middleware }).invoke({ messages });
    expect(model.requests.map(isSummarized)).toEqual([true]);
  });

  it("as the provider has counted it, where it says so", async () => {
    const counted = (input_tokens: number): AIMessage =>
      new AIMessage({
        content: "",
        tool_calls: [{ type: "tool_call", name: "note", args: { input_tokens }, id: `call-${input_tokens}` }],
        usage_metadata: { input_tokens, output_tokens: 1, total_tokens: input_tokens + 1 },
      } as never);
    const model = new ScriptedModel([counted(100), counted(800), counted(2000), counted(300), "ok"]);
    const writer = new ScriptedModel(["They talked."], { loop: true });
    const middleware = [
      summarizationMiddleware({ model: writer, trigger: { tokens: 1900 }, keep: { messages: 2 } }),
    ];
    await createAgent({ model, tools: [note], middleware }).invoke(go);
    expect(model.requests.map(isSummarized)).toEqual([false, false, false, true, true]);
    expect(writer.requests).toHaveLength(1);
  });
});

it("after the first summary of a long request there is room for more than a turn", async () => {
  const task = new HumanMessage("a condition of the request. ".repeat(280));
  const long = "a finding ".repeat(280);
  const steps = Array.from({ length: 30 }, (_, n) => callTool("note", { n, long }));
  const model = new ScriptedModel([...steps, "ok"]);
  const writer = new ScriptedModel(["They talked."], { loop: true });
  const middleware = [summarizationMiddleware({ model: writer, trigger: { tokens: 8000 } })];
  await createAgent({ model, tools: [note], middleware }).invoke(
    { messages: [task] },
    { recursionLimit: 200 },
  );
  const first = model.requests.find(isSummarized)!;
  expect(countTokensApproximately(first.messages)).toBeLessThan(8000 * 0.75);
});

describe("old results that can be had again", () => {
  const steps = (count: number): Step[] => [
    ...Array.from({ length: count }, (_, n) => callTool("read_file", { file_path: `/f${n}.txt` })),
    "ok",
  ];
  const files = Object.fromEntries(
    Array.from({ length: 12 }, (_, n) => [`/f${n}.txt`, `file ${n} ${"word ".repeat(600)}`]),
  );

  it("are left out before any summary, at marks that keep the start of requests", async () => {
    const model = new ScriptedModel(steps(12));
    const writer = new ScriptedModel(["They talked."], { loop: true });
    const summarization = { model: writer, trigger: { tokens: 7000 }, keep: { tokens: 1500 } };
    const agent = createDeepAgent({ model, plan: false, summarization });
    const { messages } = await agent.invoke({ ...go, files } as never, { recursionLimit: 200 });
    expect(writer.requests).toEqual([]);
    const wire = (request: { messages: BaseMessage[] }): string[] =>
      request.messages.map(({ type, text }) => `${type} ${text}`);
    const breaks = model.requests.slice(1).filter((request, at) => {
      const before = wire(model.requests[at]!);
      return JSON.stringify(wire(request).slice(0, before.length)) !== JSON.stringify(before);
    });
    expect(breaks.length).toBeGreaterThan(0);
    expect(breaks.length).toBeLessThan(5);
    const last = wire(model.requests.at(-1)!).join("\n");
    expect(last).toContain("Make this call again if you need them.");
    expect(last).toContain("file 11 word");
    expect(last).not.toContain("file 0 word");
    // The thread itself has them all.
    expect(messages.filter(({ type, text }) => type === "tool" && text.includes("word word"))).toHaveLength(
      12,
    );
  });

  it("include rewritten plans and results that were saved to a file", async () => {
    const plan = (state: string) => ({
      todos: Array.from({ length: 16 }, (_, n) => ({
        content: `step ${n}, ${state}`,
        status: n > 0 ? "pending" : "in_progress",
      })),
    });
    const long = tool(() => "row ".repeat(12_000), {
      name: "note",
      description: "n",
      schema: z.looseObject({}),
    });
    const model = new ScriptedModel([
      callTool("write_todos", plan("first")),
      callTool("note", {}),
      callTool("write_todos", plan("second")),
      callTool("write_todos", plan("third")),
      ...steps(10),
    ]);
    const writer = new ScriptedModel(["They talked."], { loop: true });
    const agent = createDeepAgent({
      model,
      tools: [long],
      plan: { preset: "classic", reminders: false },
      summarization: { model: writer, trigger: { tokens: 9000 }, keep: { tokens: 1500 } },
    });
    await agent.invoke({ ...go, files } as never, { recursionLimit: 200 });
    expect(writer.requests).toEqual([]);
    const { messages } = model.requests.at(-1)!;
    const last = messages
      .map((message) => `${message.text} ${JSON.stringify((message as AIMessage).tool_calls ?? [])}`)
      .join("\n");
    const times = (pattern: RegExp): number => last.match(pattern)?.length ?? 0;
    expect(times(/step 1, (first|second)/g)).toBe(0);
    // In the call and in its result.
    expect(times(/step 1, third/g)).toBe(2);
    expect(times(/"todos":"\[Left out to save room: the plan has changed since\.\]"/g)).toBe(2);
    expect(times(/\[Left out to save room: the result is in "\/tool_results\/[^"]+"\.\]/g)).toBe(1);
  });

  it("stay for two turns, however long they are", async () => {
    const readAll = (from: number, to: number): Step =>
      Array.from({ length: to - from }, (_, n) => callTool("read_file", { file_path: `/f${from + n}.txt` }));
    const model = new ScriptedModel([readAll(0, 6), readAll(6, 9), readAll(9, 12), "ok"]);
    const writer = new ScriptedModel(["They talked."], { loop: true });
    const summarization = { model: writer, trigger: { tokens: 7200 }, keep: { tokens: 1500 } };
    const agent = createDeepAgent({ model, plan: false, summarization });
    await agent.invoke({ ...go, files } as never);
    expect(writer.requests).toEqual([]);
    const seen = model.requests.map(({ messages }) =>
      messages.flatMap(({ type, text }) => (type === "tool" ? /file (\d+) word/.exec(text)?.[1] : []) ?? []),
    );
    expect(seen.map((numbers) => numbers.join(" ").trim())).toEqual([
      "",
      "0 1 2 3 4 5",
      "0 1 2 3 4 5 6 7 8",
      "6 7 8 9 10 11",
    ]);
  });

  it("do not keep a conversation from being summarized where they are not enough", async () => {
    const model = new ScriptedModel([...notes(30), "ok"]);
    const long = tool(() => "word ".repeat(600), {
      name: "note",
      description: "n",
      schema: z.looseObject({}),
    });
    const writer = new ScriptedModel(["They talked."], { loop: true });
    const summarization = { model: writer, trigger: { tokens: 9000 }, keep: { tokens: 1500 } };
    await createDeepAgent({ model, tools: [long], plan: false, summarization }).invoke(go, {
      recursionLimit: 200,
    });
    expect(writer.requests.length).toBeGreaterThan(1);
    expect(isSummarized(model.requests.at(-1)!)).toBe(true);
  });
});

describe("a summary", () => {
  it("is reported with the amount it removed", async () => {
    const model = new ScriptedModel([...notes(4), "ok"]);
    const summarization = {
      model: new ScriptedModel(["They talked."], { loop: true }),
      trigger: { messages: 6 },
      keep: { messages: 2 },
    };
    const agent = createDeepAgent({ model, tools: [note], plan: false, summarization });
    const events = await eventsOf(agent as never, go);
    expect(events[0]).toMatchObject({ type: "summary", owner: "main", number: 1, messages: 5 });
  });

  it("is reported once when it fails, retried less and less often, and never stored", async () => {
    for (const failure of [new Error("overloaded"), ""]) {
      const model = new ScriptedModel([...notes(20), "ok"]);
      const writer = new ScriptedModel([failure], { loop: true });
      const summarization = { model: writer, trigger: { messages: 6 }, keep: { messages: 2 } };
      const agent = createDeepAgent({ model, tools: [note], plan: false, summarization });
      const events = await eventsOf(agent as never, go);
      expect(events.map(({ type }) => type)).toEqual(["summary-failure"]);
      expect(writer.requests.length).toBeGreaterThan(1);
      expect(writer.requests.length).toBeLessThan(8);
      expect(model.requests.some(isSummarized)).toBe(false);
    }
  });

  it("is shared by a fork and its caller, and the fork's requests start alike", async () => {
    const isFork = ({ messages }: { messages: BaseMessage[] }): boolean =>
      messages.at(-1)!.text === "look into it";
    let turn = 0;
    const model = new ScriptedModel(
      [
        (request): Step => {
          if (isFork(request)) return "looked";
          turn += 1;
          if (turn === 7) return callTool("task", { description: "look into it", subagent_type: "twin" });
          return turn < 7 ? callTool("note", { turn }) : "ok";
        },
      ],
      { loop: true },
    );
    const agent = createDeepAgent({
      model,
      tools: [note],
      plan: false,
      subagents: [{ name: "twin", description: "t", fork: true }],
      summarization: {
        model: new ScriptedModel(["They talked."]),
        trigger: { messages: 10 },
        keep: { messages: 2 },
      },
    });
    await agent.invoke(go, { recursionLimit: 200 });
    const at = model.requests.findIndex(isFork);
    const [caller, fork] = [model.requests[at - 1]!, model.requests[at]!];
    expect(isSummarized(caller)).toBe(true);
    expect(fork.messages.slice(0, caller.messages.length).map(({ text }) => text)).toEqual(
      caller.messages.map(({ text }) => text),
    );
  });
});

it("the kept part leaves enough room that Holdfast does not summarize every turn", async () => {
  const look = tool(({ n }) => `note ${n} ${"word ".repeat(380)}`, {
    name: "look",
    description: "l",
    schema: z.object({ n: z.number() }),
  });
  const model = new ScriptedModel([
    ...Array.from({ length: 24 }, (_, n): Step => callTool("look", { n })),
    "ok",
  ]);
  const writer = new ScriptedModel(["They talked."], { loop: true });
  const middleware = [
    summarizationMiddleware({ model: writer, trigger: { tokens: 4000 }, keep: { tokens: 1500 } }),
  ];
  const systemPrompt = "word ".repeat(1700);
  await createAgent({ model, tools: [look], systemPrompt, middleware }).invoke(go, { recursionLimit: 200 });
  expect(writer.requests.length).toBeLessThanOrEqual(12);
  // The result that the model has not seen yet is in each request.
  const unseen = model.requests
    .slice(1)
    .filter(({ messages }, n) => !messages.at(-1)!.text.startsWith(`note ${n} `));
  expect(unseen).toEqual([]);
});
