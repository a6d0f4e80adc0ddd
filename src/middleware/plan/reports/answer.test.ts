import { AIMessage, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import {
  createAgent,
  createMiddleware,
  modelCallLimitMiddleware,
  modelRetryMiddleware,
  tool,
  toolStrategy,
} from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { callTool, ScriptedModel, type Step } from "../../../testing/index.ts";
import { summarizationMiddleware } from "../../summarization/index.ts";
import { isPlanChangeEvent, type PlanChangeEvent } from "../events.ts";
import { planMiddleware } from "../index.ts";
import type { PlanOptions } from "../options.ts";
import { workWasDone } from "../plan-call/evidence.ts";
import type { VerifyContext } from "../plan-call/verifier.ts";

/** No time passes: a turn that takes a millisecond more would change an item's figures, and be told. */
const still = (): number => 5;
const named = (name: string, answer: () => string) =>
  tool(answer, { name, description: name, schema: z.object({}) });
const work = named("work", () => "worked");
const fail = named("fail", () => {
  throw new Error("broken");
});
const ask = named("ask_user", () => "The user was asked.");
const go = { messages: [new HumanMessage("go")] };
const TWO = callTool("write_todos", { todos: ["read", "build"] });
const done = (ids: string) => callTool("update_todos", { done: ids });
/** Two items, each worked on; the second one is left when the model has nothing more to do. */
const WORKED: Step[] = [
  [TWO, callTool("work")],
  [done("1"), callTool("work")],
];
const config = { configurable: { thread_id: "t" } };

// LangChain's option types collapse to `never` under exactOptionalPropertyTypes.
type AnyMiddleware = ReturnType<typeof planMiddleware>;
const limitCalls = modelCallLimitMiddleware as unknown as (options: object) => AnyMiddleware;
const retry = modelRetryMiddleware as unknown as (options: object) => AnyMiddleware;

function agentWith(steps: Step[], options: PlanOptions = {}, others: unknown[] = []) {
  const model = new ScriptedModel(steps);
  const events: PlanChangeEvent[] = [];
  const plan = planMiddleware({
    now: still,
    verify: false,
    onPlanChange: (event) => void events.push(event),
    ...options,
  });
  const middleware = [plan, ...others] as [AnyMiddleware];
  const checkpointer = new MemorySaver();
  return { model, events, agent: createAgent({ model, tools: [work, fail, ask], middleware, checkpointer }) };
}

async function run(steps: Step[], options: PlanOptions = {}, others: unknown[] = []) {
  const { model, events, agent } = agentWith(steps, options, others);
  const { messages, todos } = await agent.invoke(go, config);
  const statuses = todos.map((todo) => todo.status).join(" ");
  return { model, events, todos, statuses, answer: messages.at(-1)!.text };
}

const reminderIn = (messages: readonly BaseMessage[] | undefined): string | undefined =>
  messages?.find((message) => message.name === "todo_completion_reminder")?.text;

describe("a clean final answer", () => {
  it("completes the item that is left, without another model call", async () => {
    const { model, statuses, answer } = await run([...WORKED, "Built."]);
    expect(statuses).toBe("completed completed");
    expect(answer).toBe("Built.");
    expect(model.requests).toHaveLength(3);
  });

  it("announces the completion once, by the harness, with the item's cost", async () => {
    const usage_metadata = { input_tokens: 70, output_tokens: 7, total_tokens: 77 };
    const last = () => Object.assign(new AIMessage("Built."), { usage_metadata });
    const { events, todos } = await run([...WORKED, last], { now: () => 5 });
    expect(events.map(({ by }) => by)).toEqual(["model", "model", "harness"]);
    expect(events[2]).toMatchObject({
      owner: "main",
      changes: [{ type: "todo-status", id: "2", from: "in_progress", to: "completed" }],
      counts: { total: 2, completed: 2 },
    });
    expect(events[2]!.todos).toEqual(todos);
    // The call that began its work came with the report of the item before it.
    const actuals = { startedAt: 5, elapsedMs: 0, modelCalls: 2, toolCalls: 1 };
    expect(todos[1]?.actuals).toEqual({ ...actuals, inputTokens: 70, outputTokens: 7 });
  });

  it("stores the completion: the next run finds a finished plan without a reminder", async () => {
    const { model, events, agent } = agentWith([...WORKED, "Built.", "You are welcome."]);
    await agent.invoke(go, config);
    const stored = await agent.graph.getState(config);
    expect((stored.values as { todos: object[] }).todos).toMatchObject([
      { status: "completed" },
      { status: "completed" },
    ]);
    await agent.invoke({ messages: [new HumanMessage("thanks")] }, config);
    expect(model.requests.at(-1)!.messages.at(-1)?.text).toBe("thanks");
    expect(events).toHaveLength(3);
  });

  it("completes an item whose work a killed run had done", async () => {
    const { agent } = agentWith([...WORKED, new Error("killed"), "Built."]);
    await expect(agent.invoke(go, config)).rejects.toThrow("killed");
    const { todos } = await agent.invoke(null as never, config);
    expect(todos[1]?.status).toBe("completed");
  });

  it("shows in every stream of the graph, in the model's own step", async () => {
    const { agent } = agentWith([...WORKED, "Built."]);
    const modes = ["updates", "custom"] as const;
    const seen: string[] = [];
    for await (const chunk of await agent.stream(go, { ...config, streamMode: [...modes] })) {
      const [mode, part] = chunk as [string, Record<string, { todos?: { status: string }[] }>];
      if (mode === "custom") seen.push(isPlanChangeEvent(part) ? `event ${part.counts.completed}` : "?");
      else
        for (const [node, update] of Object.entries(part)) {
          if (update.todos) seen.push(`${node} ${update.todos.map(({ status }) => status).join(" ")}`);
        }
    }
    expect(seen.slice(-2)).toEqual(["event 2", "model_request completed completed"]);
  });

  it("does so without reminders, in any middleware order, and with any plan approval", async () => {
    const passive = createMiddleware({
      name: "passive",
      wrapModelCall: (request, handler) => handler(request),
    });
    for (const before of [[], [passive]]) {
      const model = new ScriptedModel([...WORKED, "Built."]);
      const middleware = [...before, planMiddleware({ now: still, verify: false, reminders: false })] as [
        AnyMiddleware,
      ];
      const { todos } = await createAgent({ model, tools: [work], middleware }).invoke(go);
      expect(todos[1]?.status).toBe("completed");
    }
    const { agent, model } = agentWith([...WORKED, "Built."], { approval: "always" });
    await agent.invoke(go, config);
    const { todos } = await agent.invoke(new Command({ resume: { type: "approve" } }), config);
    expect(todos[1]?.status).toBe("completed");
    expect(model.requests).toHaveLength(3);
  });

  it("does so in a sub-agent, for its own plan only", async () => {
    const child = agentWith([...WORKED, "Built."], { owner: "builder" });
    const delegate = tool(
      async (_, runtime) => (await child.agent.invoke(go, { ...runtime, ...config })).messages.at(-1)!.text,
      { name: "delegate", description: "delegate", schema: z.object({}) },
    );
    const model = new ScriptedModel([[TWO, callTool("delegate")], "Early.", done("1,2"), "Done."]);
    const agent = createAgent({
      model,
      tools: [delegate],
      middleware: [planMiddleware({ now: still, verify: false })],
    });
    await agent.invoke(go);
    expect(model.requests).toHaveLength(4);
    expect(child.events.map(({ owner, by }) => `${owner} ${by}`)).toEqual([
      "builder model",
      "builder model",
      "builder harness",
    ]);
  });

  it("does so for a model that gives its messages no ids", async () => {
    class Nameless extends ScriptedModel {
      override async invoke(...args: Parameters<ScriptedModel["invoke"]>) {
        const { content, tool_calls = [] } = await super.invoke(...args);
        return new AIMessage({ content, tool_calls }) as Awaited<ReturnType<ScriptedModel["invoke"]>>;
      }
    }
    const failures = [1, 2, 3].map((n) => new Error(`down ${n}`));
    for (const [ends, status] of [
      [["Built."], "completed"],
      [failures, "in_progress"],
    ] as const) {
      const model = new Nameless([...WORKED, ...ends]);
      const patient = retry({ maxRetries: 0, onFailure: "continue" });
      const middleware = [planMiddleware({ now: still, verify: false }), patient] as unknown as [
        AnyMiddleware,
      ];
      const { todos } = await createAgent({ model, tools: [work], middleware }).invoke(go);
      expect(todos[1]?.status).toBe(status);
    }
  });

  it("ignores items that are blocked, cancelled, or dependent on such items", async () => {
    const rest = callTool("update_todos", {
      done: "1",
      block: "3: no access",
      add: [{ content: "announce", after: ["3"] }],
      cancel: "4",
    });
    const plan = callTool("write_todos", { todos: ["read", "build", "check", "rest"] });
    const { model, statuses } = await run([[plan, callTool("work")], [rest, callTool("work")], "Built."]);
    expect(statuses).toBe("completed completed blocked cancelled pending");
    expect(model.requests).toHaveLength(3);
  });
});

describe("the exit guard works as ever", () => {
  const cases: [when: string, steps: Step[], options?: PlanOptions][] = [
    ["when two items are left", [[TWO, callTool("work")]]],
    ["when nothing was done since the last one was started", [[TWO, callTool("work")], done("1")]],
    [
      "when the only work failed",
      [
        [TWO, callTool("work")],
        [done("1"), callTool("fail")],
      ],
    ],
    ["when the last call failed", [...WORKED, callTool("fail")]],
    ["when the last plan call was refused", [...WORKED, callTool("update_todos", { block: "7: no access" })]],
    [
      "when the last item only waits",
      [...WORKED, callTool("update_todos", { edit: [{ id: "2", status: "pending" }] })],
      { idle: "allow" },
    ],
    ["where the policy says so", WORKED, { finalAnswer: "leave" }],
  ];
  it.each(cases)("%s", async (_, steps, options) => {
    const { model, statuses } = await run([...steps, "1", "2", "3"], options);
    expect(model.requests).toHaveLength(steps.length + 3);
    expect(statuses).toMatch(/(in_progress|pending)$/);
    expect(reminderIn(model.requests.at(-1)?.messages)).toMatch(/^<system_reminder>\nNot finished/);
  });

  it.each([
    ["is empty", ""],
    ["asks back", "Built. **Shall I deploy it, too?**"],
  ])("when the answer %s", async (_, text) => {
    const { model, statuses } = await run([...WORKED, text, "Built."]);
    expect(model.requests).toHaveLength(4);
    expect(statuses).toBe("completed completed");
  });

  it.each<[string, Step[], string]>([
    ["once, and the second one stands", ["Which?", "Which one?"], "Which one?"],
    ["again after an answer that was none", ["Built.", "Which?", "Which one?"], "Which one?"],
    ["once where work without progress follows", ["Which?", callTool("work"), "Which one?"], "Which one?"],
    ["once more after progress", ["Which?", done("1"), "And which?", "So which?"], "So which?"],
  ])("with a question, which is returned to the model %s", async (_, steps, last) => {
    const { model, answer } = await run([[TWO, callTool("work")], ...steps]);
    expect(answer).toBe(last);
    expect(model.requests).toHaveLength(steps.length + 1);
  });

  it("when the answer is another middleware's notice that the model failed", async () => {
    const failures = [1, 2, 3].map((n) => new Error(`down ${n}`));
    const patient = retry({ maxRetries: 0, onFailure: "continue" });
    const { statuses, answer } = await run([...WORKED, ...failures], {}, [patient]);
    expect(answer).toContain("down 3");
    expect(statuses).toBe("completed in_progress");
  });

  it("with a structured response, which cannot write state", async () => {
    const responseFormat = toolStrategy(z.object({ verdict: z.string() }));
    const [{ name }] = responseFormat as unknown as [{ name: string }];
    const verdict = callTool(name, { verdict: "fine" });
    const model = new ScriptedModel([...WORKED, verdict, done("2"), verdict]);
    const agent = createAgent({
      model,
      tools: [work],
      middleware: [planMiddleware({ now: still, verify: false })],
      responseFormat,
    });
    const { todos } = await agent.invoke(go);
    expect(todos[1]?.status).toBe("completed");
    expect(model.requests).toHaveLength(5);
  });

  it("in the other presets", async () => {
    const item = { id: "1", status: "in_progress" };
    for (const preset of ["classic", "deerflow", "checklist"] as const) {
      const plan =
        preset === "checklist"
          ? callTool("todo", { items: [{ ...item, text: "read" }] })
          : callTool("write_todos", { todos: [{ ...item, content: "read" }] });
      const { statuses, events } = await run([[plan, callTool("work")], "1", "2", "3"], { preset });
      expect(statuses).toBe("in_progress");
      expect(events).toHaveLength(1);
    }
  });
});

describe("nothing is completed", () => {
  it("by an answer that was cut off at its start or follows a question to the user", async () => {
    const half = new AIMessage({ content: "", response_metadata: { finish_reason: "length" } });
    for (const steps of [
      [...WORKED, half],
      [...WORKED, callTool("ask_user"), "Please tell me."],
    ]) {
      const { model, statuses } = await run(steps);
      expect(statuses).toBe("completed in_progress");
      expect(model.requests).toHaveLength(steps.length);
    }
  });

  it("by a question that a stale reminder followed", async () => {
    const rounds = [callTool("work"), callTool("work"), callTool("ask_user")];
    const { model, statuses } = await run([...WORKED, ...rounds, "Please tell me."]);
    expect(model.requests.at(-1)?.messages.at(-1)?.name).toBe("todo_stale_reminder");
    expect(statuses).toBe("completed in_progress");
    expect(model.requests).toHaveLength(6);
  });

  it("by a hard stop", async () => {
    const limit = limitCalls({ runLimit: 2, exitBehavior: "end" });
    const { statuses, answer } = await run([...WORKED, "never asked"], {}, [limit]);
    expect(answer).toContain("limits exceeded");
    expect(statuses).toBe("completed in_progress");
  });

  it("by the answer to a user's edit, which the model may not have worked on", async () => {
    const { agent, model } = agentWith([
      ...WORKED,
      callTool("ask_user"),
      "Which?",
      "Done.",
      "Done!",
      "Done!!",
    ]);
    const { todos } = await agent.invoke(go, config);
    const edited = todos.map((todo) => (todo.id === "2" ? { ...todo, content: "build and sign" } : todo));
    await agent.graph.updateState(config, { todos: edited });
    const result = await agent.invoke({ messages: [new HumanMessage("go on")] }, config);
    expect(result.todos[1]?.status).toBe("in_progress");
    expect(model.requests).toHaveLength(7);
  });
});

describe("in a later request of the user", () => {
  const wait = { messages: [new HumanMessage("wait, not yet")] };
  const ENDED: Step[] = [...WORKED, callTool("ask_user"), "Shall I?"];

  it("an answer without work completes nothing, even after work on the previous item", async () => {
    const { agent, model } = agentWith([...ENDED, "Take your time.", "As you like.", "I wait."]);
    await agent.invoke(go, config);
    const { todos } = await agent.invoke(wait, config);
    expect(todos[1]?.status).toBe("in_progress");
    expect(model.requests).toHaveLength(7);
  });

  it("an answer after a tool that ended the previous request completes nothing", async () => {
    const show = tool(() => "shown", {
      name: "show",
      description: "show",
      schema: z.object({}),
      returnDirect: true,
    });
    const model = new ScriptedModel([TWO, [done("1"), callTool("show")], "1", "2", "3"]);
    const agent = createAgent({
      model,
      tools: [show],
      middleware: [planMiddleware({ now: still, verify: false })],
      checkpointer: new MemorySaver(),
    });
    await agent.invoke(go, config);
    const { todos } = await agent.invoke(wait, config);
    expect(todos[1]?.status).toBe("in_progress");
    expect(model.requests).toHaveLength(5);
  });

  it("an answer after work completes the item, also when another call failed before it", async () => {
    const { agent, model } = agentWith([...ENDED, callTool("fail"), callTool("work"), "Built."]);
    await agent.invoke(go, config);
    const { todos } = await agent.invoke(wait, config);
    expect(todos[1]?.status).toBe("completed");
    expect(model.requests).toHaveLength(7);
  });

  it("a hidden message that another middleware adds is none", async () => {
    const hint = new HumanMessage({ content: "mind the tests", additional_kwargs: { hide_from_ui: true } });
    const hinting = createMiddleware({
      name: "hinting",
      beforeModel: ({ messages }) => (messages.length === 7 ? { messages: [hint] } : undefined),
    });
    const { model, statuses } = await run([...WORKED, "Built."], {}, [hinting]);
    expect(model.requests[2]?.messages.at(-1)?.text).toBe("mind the tests");
    expect(statuses).toBe("completed completed");
  });

  it("a summary that removed the user's message and the work starts no new request", async () => {
    const note = callTool("update_todos", { edit: [{ id: "2", note: "nearly" }] });
    for (const [turn, status] of [
      [callTool("work"), "completed"],
      [note, "in_progress"],
    ] as const) {
      const summaries = summarizationMiddleware({
        model: new ScriptedModel(["They built."], { loop: true }),
        trigger: { messages: 8 },
        keep: { messages: 2 },
      });
      const first: Step[] = [TWO, [done("1"), callTool("work"), callTool("ask_user")], "Shall I?"];
      const model = new ScriptedModel([...first, turn, note, note, "1", "2", "3"]);
      const middleware = [summaries, planMiddleware({ now: still, verify: false })] as unknown as [
        AnyMiddleware,
      ];
      const checkpointer = new MemorySaver();
      const agent = createAgent({ model, tools: [work, ask], middleware, checkpointer });
      await agent.invoke(go, config);
      const { todos } = await agent.invoke({ messages: [new HumanMessage("yes")] }, config);
      expect(todos[1]?.status).toBe(status);
      const sent = model.requests[6]!.messages;
      expect(sent.some(({ text }) => text === "yes" || text === "worked")).toBe(false);
    }
  });
});

describe("a verifier", () => {
  it("refuses, and the model reads the reason and is called back at most twice", async () => {
    const asked: string[] = [];
    const verify = (todo: { id: string }, { messages }: VerifyContext) => {
      asked.push(`${todo.id} ${messages.at(-1)!.text}`.trim());
      return todo.id === "1" || "the tests fail";
    };
    const { model, statuses, events } = await run([...WORKED, "Built.", "Built!", "Built!!"], { verify });
    expect(statuses).toBe("completed in_progress");
    expect(model.requests).toHaveLength(5);
    expect(asked).toEqual(["1", "2 Built.", "2 Built!", "2 Built!!"]);
    expect(reminderIn(model.requests[3]?.messages)).toMatch(
      /^<system_reminder>\nItem 2 is not accepted as completed: the tests fail\.\nNot finished/,
    );
    expect(events).toHaveLength(2);
  });

  it("accepts after more work, and sees the work and the whole state", async () => {
    let state: Readonly<Record<string, unknown>> = {};
    const calls: number[] = [];
    const verify = (todo: { id: string }, context: VerifyContext) => {
      state = context.state;
      calls.push(context.toolCalls);
      return todo.id === "1" || context.toolCalls > 1 || "once is not enough";
    };
    const note = createMiddleware({
      name: "note",
      stateSchema: z.object({ noted: z.string().default("yes") }),
    });
    const steps = [...WORKED, "Built.", callTool("work"), "Built."];
    const { model, statuses } = await run(steps, { verify }, [note]);
    expect(statuses).toBe("completed completed");
    expect(model.requests).toHaveLength(5);
    expect(calls).toEqual([1, 1, 2]);
    expect(state).toHaveProperty("noted", "yes");
    const worked = await run([...WORKED, "Built."], { verify: workWasDone() });
    expect(worked.statuses).toBe("completed completed");
  });

  it("ends the run with the item open where the exit guard is off", async () => {
    const options = {
      verify: (todo: { id: string }) => todo.id === "1",
      reminders: { exit: false },
    } as const;
    const { model, statuses } = await run([...WORKED, "Built."], options);
    expect(statuses).toBe("completed in_progress");
    expect(model.requests).toHaveLength(3);
  });

  it("may ask the user; the model then answers again, since its step runs again", async () => {
    const verify = (todo: { id: string }) => todo.id === "1" || interrupt("is it done?") === "yes";
    const { agent, model } = agentWith([...WORKED, "Built.", "Built indeed."], { verify });
    const paused = (await agent.invoke(go, config)) as unknown as Record<string, { value: string }[]>;
    expect(paused["__interrupt__"]?.[0]?.value).toBe("is it done?");
    const { todos, messages } = await agent.invoke(new Command({ resume: "yes" }), config);
    expect(todos[1]?.status).toBe("completed");
    expect(messages.at(-1)?.text).toBe("Built indeed.");
    expect(model.requests).toHaveLength(4);
  });
});

it("the model reads why a rule refused the completion", async () => {
  const { agent, model } = agentWith([
    [callTool("write_todos", { todos: ["read", { content: "build", after: [1] }] }), callTool("ask_user")],
    "Which?",
    callTool("work"),
    "Built.",
    done("1,2"),
    "Built.",
  ]);
  const { todos } = await agent.invoke(go, config);
  // A person may start an item early, and take the one before it away from the model.
  const early = todos.map((todo) => ({ ...todo, status: todo.id === "1" ? "blocked" : "in_progress" }));
  await agent.graph.updateState(config, { todos: early });
  await agent.invoke({ messages: [new HumanMessage("go on")] }, config);
  expect(reminderIn(model.requests[4]?.messages)).toContain("Item 2 cannot be completed before 1");
});

it("the prompt says what the final answer does under either rule", async () => {
  const prompts = await Promise.all(
    (["complete", "leave"] as const).map(async (finalAnswer) => {
      const { model } = await run(["hi"], { finalAnswer });
      return model.requests[0]!.messages[0]!.text.split("\n").at(-1);
    }),
  );
  expect(prompts).toEqual([
    "Your final answer completes the last item; before it, all others are done, blocked or cancelled.",
    "Before your final answer every item is done, blocked or cancelled.",
  ]);
});
