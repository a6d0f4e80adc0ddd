import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import {
  createAgent,
  createMiddleware,
  modelCallLimitMiddleware,
  summarizationMiddleware,
  tool,
  toolStrategy,
} from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { markOf } from "../../../marks.ts";
import { callTool, ScriptedModel, type Step } from "../../../testing/index.ts";
import { planMiddleware } from "../index.ts";
import type { PlanOptions } from "../options.ts";

const work = tool(() => "worked", { name: "work", description: "work", schema: z.object({}) });
const go = { messages: [new HumanMessage("go")] };
const THREE = callTool("write_todos", { todos: ["read", "build", "check"] });
const CLASSIC_THREE = callTool("write_todos", {
  todos: [
    { content: "read", status: "in_progress" },
    { content: "build", status: "pending" },
  ],
});
const passive = (name: string) => createMiddleware({ name, afterModel: () => undefined });

// LangChain's option types collapse to `never` under exactOptionalPropertyTypes.
type AnyMiddleware = ReturnType<typeof planMiddleware>;
const limitCalls = modelCallLimitMiddleware as unknown as (options: object) => AnyMiddleware;
const summarize = summarizationMiddleware as unknown as (options: object) => AnyMiddleware;

function reminders(messages: readonly BaseMessage[], name?: string): BaseMessage[] {
  return messages.filter(
    (message) =>
      HumanMessage.isInstance(message) &&
      message.name !== undefined &&
      (name === undefined || message.name === name),
  );
}

function agentWith(steps: Step[], options: PlanOptions = {}, before: unknown[] = [], after: unknown[] = []) {
  const model = new ScriptedModel(steps);
  const middleware = [...before, planMiddleware({ verify: false, ...options }), ...after] as [
    ReturnType<typeof planMiddleware>,
  ];
  return { model, agent: createAgent({ model, tools: [work], middleware }) };
}

describe("a conversation", () => {
  it("is called back where the model has worked on the plan", async () => {
    const steps = [THREE, "All done!", callTool("update_todos", { done: "1,2,3" }), "Really done."];
    const { agent, model } = agentWith(steps, { conversation: true });
    await agent.invoke(go);
    expect(model.requests).toHaveLength(4);
  });

  it("leaves a plan alone that the last message was not about", async () => {
    const options: PlanOptions = { conversation: true, finalAnswer: "complete" };
    const { agent, model } = agentWith([callTool("work", {}), "It is about work."], options);
    const todos = [{ id: "1", content: "build", status: "in_progress" as const }];
    const end = await agent.invoke({ messages: [new HumanMessage("What is this?")], todos } as never);
    expect(end["todos"]).toMatchObject([{ status: "in_progress" }]);
    expect(model.requests).toHaveLength(2);
  });
});

describe("premature exit", () => {
  const script: Step[] = [THREE, "All done!", callTool("update_todos", { done: "1,2,3" }), "Really done."];
  const positions: [string, unknown[], unknown[]][] = [
    ["alone", [], []],
    ["first", [], [passive("a"), passive("b")]],
    ["last", [passive("a"), passive("b")], []],
    ["in the middle", [passive("a")], [passive("b")]],
  ];
  for (const preset of ["lean", "deerflow"] as const) {
    for (const [where, before, after] of positions) {
      it(`calls the model back in ${preset}, ${where}`, async () => {
        const finish = callTool("write_todos", {
          todos: ["read", "build", "check"].map((content) => ({ content, status: "completed" })),
        });
        const steps = preset === "lean" ? script : [THREE, "All done!", finish, "Really done."];
        const { model, agent } = agentWith(steps, { preset }, before, after);
        const { messages, todos } = await agent.invoke(go);
        expect(messages.at(-1)?.text).toBe("Really done.");
        expect(todos.every((todo) => todo.status === "completed")).toBe(true);
        const [reminder] = reminders(model.requests[2]!.messages, "todo_completion_reminder");
        expect(reminder?.text).toMatch(/^<system_reminder>[^]*1: read[^]*<\/system_reminder>$/);
        expect(model.requests[2]!.messages.at(-2)?.text).toBe("All done!");
        // Both stay where they were said: the user can read them, and the next request begins alike.
        expect(messages.slice(-5).map(({ name }) => name)).toEqual([
          "model",
          "todo_completion_reminder",
          "model",
          preset === "lean" ? "update_todos" : "write_todos",
          "model",
        ]);
        expect(messages.at(-5)!.text).toBe("All done!");
        expect(messages.at(-4)!.additional_kwargs["hide_from_ui"]).toBe(true);
        expect(markOf(messages.at(-5), "called_back")).toEqual({ at: expect.any(Number) });
        expect(model.requests[3]!.messages.slice(0, -2)).toEqual(model.requests[2]!.messages);
      });
    }
  }

  it("stops after two reminders without progress", async () => {
    const { model, agent } = agentWith([THREE, "Done.", "Done!", "Done!!"]);
    const { messages, todos } = await agent.invoke(go);
    expect(model.requests).toHaveLength(4);
    expect(messages.at(-1)?.text).toBe("Done!!");
    expect(todos[0]?.status).toBe("in_progress");
  });

  it("counts across graph steps, and progress starts the count again", async () => {
    const steps = [THREE, "1", callTool("work"), "2", callTool("update_todos", { done: "1" }), "3", "4", "5"];
    const { model, agent } = agentWith(steps);
    const { messages } = await agent.invoke(go);
    // "1" and "2" spend the two reminders, progress gives two new ones for "3" and "4".
    expect(messages.at(-1)?.text).toBe("5");
    expect(model.requests).toHaveLength(8);
  });

  it("keeps the count in the graph: another worker on the same thread continues it", async () => {
    const checkpointer = new MemorySaver();
    const config = { configurable: { thread_id: "t" } };
    const build = (steps: Step[]) => {
      const model = new ScriptedModel(steps);
      return {
        model,
        agent: createAgent({
          model,
          tools: [work],
          middleware: [planMiddleware({ verify: false })],
          checkpointer,
        }),
      };
    };
    const first = build([THREE, "1", callTool("work"), new Error("worker lost")]);
    await expect(first.agent.invoke(go, config)).rejects.toThrow("worker lost");
    const second = build(["2", "3"]);
    const { messages } = await second.agent.invoke(null as never, config);
    expect(messages.at(-1)?.text).toBe("3");
    expect(second.model.requests).toHaveLength(2);
  });

  it("starts again with the user's next message", async () => {
    const model = new ScriptedModel([THREE, "1", "2", "3", "4", "5", "6"]);
    const agent = createAgent({
      model,
      middleware: [planMiddleware({ verify: false })],
      checkpointer: new MemorySaver(),
    });
    const config = { configurable: { thread_id: "t" } };
    await agent.invoke(go, config);
    const { messages } = await agent.invoke({ messages: [new HumanMessage("well?")] }, config);
    expect(messages.at(-1)?.text).toBe("6");
    expect(model.requests).toHaveLength(7);
  });

  it("respects a hard stop by modelCallLimitMiddleware", async () => {
    for (const limitFirst of [true, false]) {
      const limit = limitCalls({ runLimit: 2, exitBehavior: "end" });
      const { model, agent } = agentWith(
        [THREE, callTool("work"), "never asked"],
        {},
        limitFirst ? [limit] : [],
        limitFirst ? [] : [limit],
      );
      const { messages } = await agent.invoke(go);
      expect(model.requests).toHaveLength(2);
      expect(messages.at(-1)?.text).toContain("limits exceeded");
    }
  });

  it("is counted by modelCallLimitMiddleware", async () => {
    const { model, agent } = agentWith([THREE, "1", callTool("work"), "never asked"], {}, [
      limitCalls({ runLimit: 3, exitBehavior: "end" }),
    ]);
    const { messages } = await agent.invoke(go);
    expect(model.requests).toHaveLength(3);
    expect(messages.at(-1)?.text).toContain("limits exceeded");
  });

  it("is not reset by rewording, and returns no empty message to the model", async () => {
    const reword = (note: string) => callTool("update_todos", { edit: [{ id: "1", note }] });
    const { model, agent } = agentWith([THREE, "", reword("a"), "2", reword("b"), "3"]);
    const { messages } = await agent.invoke(go);
    expect(messages.at(-1)?.text).toBe("3");
    expect(model.requests).toHaveLength(6);
    const sent = model.requests[2]!.messages;
    expect(
      sent.filter(
        (message) => AIMessage.isInstance(message) && message.text === "" && !message.tool_calls?.length,
      ),
    ).toEqual([]);
  });

  const unclean: [string, AIMessage][] = [
    [
      "was cut off before its first word by the token limit",
      new AIMessage({ content: "", response_metadata: { finish_reason: "length" } }),
    ],
    [
      "was cut off before its first word (Anthropic)",
      new AIMessage({ content: "", response_metadata: { stop_reason: "max_tokens" } }),
    ],
    [
      "was cut off before its first word (Ollama)",
      new AIMessage({ content: "", response_metadata: { done_reason: "length" } }),
    ],
    ["was filtered", new AIMessage({ content: "", response_metadata: { finish_reason: "content_filter" } })],
    ["wanted a tool", new AIMessage({ content: "", response_metadata: { finish_reason: "tool_calls" } })],
    [
      "wanted a function",
      new AIMessage({ content: "", response_metadata: { finish_reason: "function_call" } }),
    ],
    [
      "has raw tool calls",
      new AIMessage({
        content: "",
        additional_kwargs: {
          tool_calls: [{ id: "x", type: "function", function: { name: "work", arguments: "{" } }],
        },
        tool_calls: [],
      }),
    ],
    [
      "has a raw function call",
      new AIMessage({ content: "", additional_kwargs: { function_call: { name: "work", arguments: "{" } } }),
    ],
  ];
  for (const [what, message] of unclean) {
    it(`says nothing when the answer ${what}`, async () => {
      const { model, agent } = agentWith([THREE, message]);
      await agent.invoke(go);
      expect(model.requests).toHaveLength(2);
    });
  }

  it("says nothing after a question to the user, a finished plan, or blocked items", async () => {
    const ask = tool(() => "The user was asked.", {
      name: "ask_user",
      description: "ask",
      schema: z.object({ question: z.string() }),
    });
    const ends: Step[][] = [
      [callTool("ask_user", { question: "Which one?" }), "Please tell me which one."],
      [callTool("update_todos", { done: "1,2,3" }), "Done."],
      [
        callTool("update_todos", {
          done: "1",
          block: [{ id: "2", note: "no access" }],
          edit: [{ id: "3", after: ["2"] }],
        }),
        "Blocked.",
      ],
      [callTool("update_todos", { cancel: "1,2", block: "3" }), "Nothing left."],
    ];
    for (const end of ends) {
      const model = new ScriptedModel([THREE, ...end]);
      const agent = createAgent({
        model,
        tools: [work, ask],
        middleware: [planMiddleware({ verify: false })],
      });
      await agent.invoke(go);
      expect(model.requests).toHaveLength(1 + end.length);
    }
  });

  it("works with a structured response, and answers the other tool calls first", async () => {
    const responseFormat = toolStrategy(z.object({ verdict: z.string() }));
    const [{ name }] = responseFormat as unknown as [{ name: string }];
    const finish = callTool("update_todos", { done: "1,2,3" });
    for (const early of [
      callTool(name, { verdict: "fine" }),
      [finish, callTool(name, { verdict: "fine" })],
    ]) {
      const model = new ScriptedModel([THREE, early, finish, callTool(name, { verdict: "good" })]);
      const agent = createAgent({ model, middleware: [planMiddleware({ verify: false })], responseFormat });
      const { structuredResponse, todos } = await agent.invoke(go);
      expect(structuredResponse).toEqual({ verdict: "good" });
      expect(todos.every((todo) => todo.status === "completed")).toBe(true);
      for (const { messages } of model.requests) {
        const calls = messages.flatMap((message) =>
          AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [],
        );
        expect(messages.filter((message) => ToolMessage.isInstance(message))).toHaveLength(calls.length);
      }
    }
  });
});

it("the stale reminder skips an active item, but reaches a model that repeats a call", async () => {
  const schema = z.object({ file: z.string(), line: z.number() });
  const edit = tool(() => "ok", { name: "edit", description: "e", schema });
  const named = async (file: string, isRepeated = false) => {
    const steps = Array.from({ length: 6 }, (_, line) =>
      callTool("edit", { file, line: isRepeated ? 1 : line }),
    );
    const model = new ScriptedModel([
      callTool("write_todos", { todos: ["Implement parse.js", "Implement dedupe.js"] }),
      ...steps,
      "ok",
    ]);
    const middleware = [planMiddleware({ reminders: { exit: false } })] as const;
    await createAgent({ model, tools: [edit], middleware }).invoke(go);
    return model.requests.flatMap(({ messages }) => reminders(messages, "todo_stale_reminder")).length;
  };
  expect(await named("/src/parse.js")).toBe(0);
  expect(await named("/src/dedupe.js")).toBeGreaterThan(0);
  expect(await named("/src/parse.js", true)).toBeGreaterThan(0);
});

describe("an answer that Holdfast rejects because of open items", () => {
  const responseFormat = toolStrategy(z.object({ verdict: z.string() }));
  const [{ name: respond }] = responseFormat as unknown as [{ name: string }];

  it("is kept with its structured response, which counts unless a new one follows", async () => {
    const fine = callTool(respond, { verdict: "fine" });
    for (const end of [["Done!"], [callTool("work"), "Done!"], ["Done!", "Done!!"]] as Step[][]) {
      const model = new ScriptedModel([THREE, fine, ...end, "Well.", "Well!"]);
      const middleware = [planMiddleware({ verify: false })] as const;
      const agent = createAgent({ model, tools: [work], middleware, responseFormat });
      const { structuredResponse, messages } = await agent.invoke(go);
      expect(structuredResponse).toEqual({ verdict: "fine" });
      expect(messages.find((message) => markOf(message, "called_back"))).toMatchObject({
        tool_calls: [{ args: { verdict: "fine" } }],
      });
    }
  });

  it("has its place also when the provider gives all its answers one id", async () => {
    const answer = (content: string) => new AIMessage({ content, id: "same" });
    const { agent } = agentWith([THREE, answer("1"), answer("2"), answer("3")]);
    const { messages } = await agent.invoke(go);
    expect(messages.slice(3).map(({ type, name, text }) => (type === "ai" ? text : name))).toEqual([
      "1",
      "todo_completion_reminder",
      "2",
      "todo_completion_reminder",
      "3",
    ]);
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
  });

  it("is called back in other words the second time, with every way out", async () => {
    const { agent } = agentWith([THREE, "1", "2", "3"]);
    const { messages } = await agent.invoke(go);
    const [first, second] = reminders(messages, "todo_completion_reminder").map(({ text }) => text);
    expect(first).toMatch(
      /what is left[^]*done, cancel, or block with the reason[^]*Then give your whole answer/,
    );
    expect(second).toMatch(/done if it is, cancel, or block[^]*Then give your whole answer/);
  });

  it("does not occur when a later message asked for only a part, and the part is done", async () => {
    const plan = callTool("write_todos", {
      todos: ["Implement report.js", "Implement cli.js", "Write tests"],
    });
    const model = new ScriptedModel([
      plan,
      "1",
      "2",
      "3",
      callTool("update_todos", { done: "1" }),
      "The report is there.",
    ]);
    const checkpointer = new MemorySaver();
    const agent = createAgent({ model, middleware: [planMiddleware({ verify: false })], checkpointer });
    const config = { configurable: { thread_id: "t" } };
    await agent.invoke(go, config);
    const { messages } = await agent.invoke(
      { messages: [new HumanMessage("Go on with report.js.")] },
      config,
    );
    expect([messages.at(-1)!.text, model.requests.length]).toEqual(["The report is there.", 6]);
  });
});

describe("context loss", () => {
  const summarizer = () =>
    summarize({
      model: new ScriptedModel(["They talked."], { loop: true }),
      trigger: { messages: 6 },
      keep: { messages: 2 },
    });

  for (const order of ["before", "after"] as const) {
    it(`shows the plan once when summarization ${order} the plan removes its calls (lean)`, async () => {
      const { model, agent } = agentWith(
        [
          THREE,
          callTool("work"),
          callTool("work"),
          callTool("update_todos", { done: "1" }),
          callTool("work"),
          "x",
          "y",
          "z",
        ],
        {},
        order === "before" ? [summarizer()] : [],
        order === "after" ? [summarizer()] : [],
      );
      await agent.invoke(go);
      const afterSummary = model.requests[3]!.messages;
      const shown = afterSummary.filter((message) => message.text.includes("[>] 1: read"));
      expect(afterSummary.some((message) => message.text.includes("They talked."))).toBe(true);
      expect(shown).toHaveLength(1);
      expect(shown[0]).toBe(afterSummary.at(-1));
      // The result of the next plan call carries the plan, so nothing has to be repeated from then on.
      const next = model.requests[4]!.messages;
      expect(next.at(-1)?.text).toBe(
        "1/3 done; now 2.\n<plan>\n[x] 1: read\n[>] 2: build\n[ ] 3: check\n</plan>",
      );
      expect(reminders(next)).toEqual([]);
    });
  }

  it("shows a plan whose other items are blocked, and takes it for no premature exit", async () => {
    const block = callTool("update_todos", { done: "1", block: ["2: no access", "3: waits for the user"] });
    const steps = [THREE, block, callTool("work"), callTool("work"), callTool("work"), "I need access."];
    const { model, agent } = agentWith(steps, {}, [summarizer()]);
    await agent.invoke(go);
    expect(model.requests).toHaveLength(steps.length);
    const { messages } = model.requests.at(-1)!;
    expect(messages.some(({ text }) => text.includes("They talked."))).toBe(true);
    expect(reminders(messages, "todo_reminder").map(({ text }) => text)).toEqual([
      "<system_reminder>\nYour plan stands at:\n[x] 1: read\n[!] 2: build (no access)\n[!] 3: check (waits for the user)\nContinue where you can; update_todos works on these ids.\n</system_reminder>",
    ]);
  });

  it("does not reset the exit guard's count: a summary is not a new run", async () => {
    const { model, agent } = agentWith(
      [THREE, callTool("work"), "1", callTool("work"), callTool("work"), "2", "3"],
      {},
      [summarizer()],
    );
    const { messages } = await agent.invoke(go);
    expect(messages.at(-1)?.text).toBe("3");
    expect(model.requests).toHaveLength(7);
  });

  it("is not detected from a refused call, even when a later call has the same id", async () => {
    const same = (todos: unknown) => callTool("write_todos", { todos }, "call_0");
    const { model, agent } = agentWith([
      same(7),
      same(["read", "build"]),
      callTool("work", {}, "call_1"),
      "1",
      "2",
      "3",
    ]);
    await agent.invoke(go);
    for (const { messages } of model.requests) expect(reminders(messages, "todo_reminder")).toEqual([]);
  });

  it("persists one hidden todo_reminder in deerflow", async () => {
    const { model, agent } = agentWith(
      [CLASSIC_THREE, callTool("work"), callTool("work"), callTool("work"), "x", "y", "z"],
      { preset: "deerflow" },
      [summarizer()],
    );
    const { messages } = await agent.invoke(go);
    for (const { messages: sent } of model.requests.slice(3)) {
      expect(reminders(sent, "todo_reminder")).toHaveLength(1);
    }
    const kept = reminders(messages, "todo_reminder");
    expect(kept).toHaveLength(1);
    expect(kept[0]?.additional_kwargs["hide_from_ui"]).toBe(true);
    expect(kept[0]?.text).toMatch(/^<system_reminder>[^]*\[>\] 1: read[^]*<\/system_reminder>$/);
    expect(reminders(messages, "todo_completion_reminder")).toHaveLength(2);
  });

  it("shows the plan in classic and checklist, unless it is off as in their sources", async () => {
    const checklist = callTool("todo", { items: [{ id: "1", text: "read", status: "in_progress" }] });
    for (const [preset, first] of [
      ["classic", CLASSIC_THREE],
      ["checklist", checklist],
    ] as const) {
      const cases = [{}, { reminders: false }, { reminders: { contextLoss: false } }] as const;
      for (const options of cases) {
        const steps = [first, callTool("work"), callTool("work"), "x"];
        const { model, agent } = agentWith(steps, { preset, ...options }, [summarizer()]);
        const { messages } = await agent.invoke(go);
        const shown = model.requests.at(-1)!.messages.filter((message) => message.text.includes("read"));
        expect(shown.map(({ name }) => name)).toEqual("reminders" in options ? [] : ["todo_reminder"]);
        expect(reminders(messages)).toEqual([]);
        expect(model.requests).toHaveLength(4);
      }
    }
  });

  it("judges what the model really reads, after trimming at any place", async () => {
    const trim = () =>
      createMiddleware({
        name: "trim",
        wrapModelCall: (request, handler) =>
          handler({
            ...request,
            messages: request.messages.length > 3 ? request.messages.slice(-2) : request.messages,
          }),
      });
    for (const [before, after] of [
      [[trim()], []],
      [[], [trim()]],
    ]) {
      const { model, agent } = agentWith([THREE, callTool("work"), "x", "y", "z"], {}, before, after);
      await agent.invoke(go);
      const shown = model.requests[2]!.messages.filter((message) => message.text.includes("[>] 1: read"));
      expect(shown).toHaveLength(1);
    }
  });

  it("notices that the arguments of an old plan call were blanked", async () => {
    const blank = createMiddleware({
      name: "blank",
      wrapModelCall: (request, handler) => {
        const messages = request.messages.map((message) =>
          AIMessage.isInstance(message) && request.messages.length > 3
            ? new AIMessage({
                content: "",
                tool_calls: message.tool_calls!.map((call) => ({ ...call, args: {} })),
              })
            : message,
        );
        return handler({ ...request, messages });
      },
    });
    const { model, agent } = agentWith([THREE, callTool("work"), "x", "y", "z"], {}, [blank]);
    await agent.invoke(go);
    expect(model.requests[2]!.messages.at(-1)?.text).toContain("[>] 1: read");
  });

  it("leaves a finished plan in peace, also on a new request", async () => {
    const model = new ScriptedModel([
      THREE,
      callTool("update_todos", { done: "1,2,3" }),
      "Done.",
      callTool("work"),
      callTool("work"),
      callTool("work"),
      callTool("work"),
      "Hello.",
    ]);
    const agent = createAgent({
      model,
      tools: [work],
      middleware: [summarizer(), planMiddleware({ verify: false })],
      checkpointer: new MemorySaver(),
    });
    const config = { configurable: { thread_id: "t" } };
    await agent.invoke(go, config);
    await agent.invoke({ messages: [new HumanMessage("hi")] }, config);
    for (const { messages } of model.requests) expect(reminders(messages)).toEqual([]);
  });
});

describe("stale plan", () => {
  const rounds = (count: number): Step[] => Array.from({ length: count }, () => callTool("work"));

  it("is mentioned after 3 rounds, and then backs off", async () => {
    const { model, agent } = agentWith([THREE, ...rounds(13), "x", "y", "z"]);
    await agent.invoke(go, { recursionLimit: 50 });
    const at = model.requests.flatMap(({ messages }, index) =>
      reminders(messages, "todo_stale_reminder").length > 0 ? [index] : [],
    );
    expect(at).toEqual([4, 7, 13]);
    const last = model.requests[4]!.messages.at(-1);
    expect(last?.text).toBe(
      "<system_reminder>Plan check: 0/3 done; now 1. Update it if that is out of date.</system_reminder>",
    );
  });

  it("is mentioned after 5 rounds in classic and deerflow, unless switched off", async () => {
    for (const preset of ["classic", "deerflow"] as const) {
      for (const stale of [undefined, false] as const) {
        const options = { preset, reminders: { exit: false, ...(stale === false && { stale }) } } as const;
        const { model, agent } = agentWith([CLASSIC_THREE, ...rounds(11), "x"], options);
        await agent.invoke(go, { recursionLimit: 50 });
        const at = model.requests.flatMap(({ messages }, index) =>
          reminders(messages, "todo_stale_reminder").length > 0 ? [index] : [],
        );
        expect(at).toEqual(stale === false ? [] : [6, 11]);
      }
    }
  });

  it("is not mentioned right after an update", async () => {
    const { model, agent } = agentWith([
      THREE,
      ...rounds(2),
      callTool("update_todos", { done: "1" }),
      ...rounds(2),
      "x",
      "y",
      "z",
    ]);
    await agent.invoke(go);
    for (const { messages } of model.requests) expect(reminders(messages, "todo_stale_reminder")).toEqual([]);
  });

  it("reminds every round in checklist, and stops when the model uses the tool", async () => {
    const todo = callTool("todo", { items: [{ id: "1", text: "read", status: "in_progress" }] });
    const { model, agent } = agentWith([...rounds(4), todo, ...rounds(3), "x"], { preset: "checklist" });
    await agent.invoke(go);
    const nagged = model.requests.map(
      ({ messages }) => messages.at(-1)?.text === "<reminder>Update your todos.</reminder>",
    );
    expect(nagged).toEqual([false, false, false, true, true, false, false, false, true]);
  });
});
