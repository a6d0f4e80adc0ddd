import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { tool, toolRetryMiddleware, type AnyAgentMiddleware } from "langchain";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { bubblewrapWorks } from "../files/shell/isolation/bubblewrap.ts";
import { loopGuardMiddleware } from "../middleware/loop-guard/index.ts";
import { localSandboxProvider } from "../middleware/sandbox/index.ts";
import type { Todo } from "../plan/index.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";
import { leadAgentGraph, makeLeadAgent } from "./index.ts";
import type { LeadOptions } from "./options.ts";

const baseDir = mkdtempSync(join(tmpdir(), "holdfast-lead-"));
afterAll(() => rmSync(baseDir, { recursive: true }));

const go = { messages: [new HumanMessage("Help me refactor this large codebase with 10+ modules")] };
const LIST = [
  { content: "Look", status: "in_progress" },
  { content: "Change", status: "pending" },
];
const DONE = LIST.map((todo) => ({ ...todo, status: "completed" }));
const write = (todos: object[]) => callTool("write_todos", { todos });

/** Commands are run here, isolated where that works. */
const sandboxed = {
  provider: localSandboxProvider({ bubblewrap: bubblewrapWorks() ? "always" : "never" }),
};

function lead(configurable: Record<string, unknown>, steps: Step[], options: LeadOptions = {}) {
  const model = new ScriptedModel(steps);
  const config = { configurable: { thread_id: "example-thread", ...configurable } };
  return { model, config, agent: makeLeadAgent(config, { model, baseDir, sandbox: sandboxed, ...options }) };
}

const toolNames = (model: ScriptedModel): string[] =>
  (model.requests[0]!.tools as { function: { name: string } }[]).map((entry) => entry.function.name);
const named = (messages: readonly BaseMessage[], name: string) =>
  messages.filter((message) => message.name === name);

describe("plan mode", () => {
  it("is off by default and on by request; the model gets tool and prompt accordingly", async () => {
    const off = lead({}, ["hi"]);
    const on = lead({ is_plan_mode: true }, ["hi"]);
    const [plain, planned] = [await off.agent.invoke(go, off.config), await on.agent.invoke(go, on.config)];
    expect(toolNames(off.model)).not.toContain("write_todos");
    expect(off.model.requests[0]!.messages[0]!.text).not.toContain("<todo_list_system>");
    expect(plain).not.toHaveProperty("todos");
    expect(toolNames(on.model)).toContain("write_todos");
    expect(on.model.requests[0]!.messages[0]!.text).toContain("<todo_list_system>");
    expect(planned.todos).toEqual([]);
  });

  it("is chosen per task complexity, as in the plan-mode document", () => {
    const forTask = (complexity: string) =>
      lead(
        {
          thread_id: `task-${complexity}`,
          thinking_enabled: false,
          is_plan_mode: ["high", "very_high"].includes(complexity),
        },
        [],
      );
    const has = (agent: object): boolean => chainOf(agent).includes("PlanMiddleware");
    expect(has(forTask("low").agent)).toBe(false);
    expect(has(forTask("high").agent)).toBe(true);
  });

  const chainOf = (agent: object): string[] =>
    (agent as { options: { middleware: { name: string }[] } }).options.middleware
      .map(({ name }) => name)
      // Parts for LangChain.
      .filter((name) => !/\.(state|calls)$/.test(name));

  it("has its chain in the documented order", () => {
    const { agent } = lead({ is_plan_mode: true, subagent_enabled: true }, [], { summarization: true });
    expect(chainOf(agent)).toEqual([
      "toolErrorMiddleware",
      "OrderedCallsMiddleware",
      "ThreadDataMiddleware",
      "SandboxMiddleware",
      "SummarizationMiddleware",
      "PlanMiddleware",
      "SubagentsMiddleware",
      "TitleMiddleware",
      "LoopGuardMiddleware",
      "DanglingCallsMiddleware",
      "EmptyAnswersMiddleware",
      "RepeatsMiddleware",
      "ClarificationMiddleware",
      "PromptCachingMiddleware",
      "BudgetMiddleware",
      "SecretsMiddleware",
    ]);
    expect(chainOf(lead({}, []).agent)).toEqual([
      "toolErrorMiddleware",
      "OrderedCallsMiddleware",
      "ThreadDataMiddleware",
      "SandboxMiddleware",
      "TitleMiddleware",
      "LoopGuardMiddleware",
      "BrokenCallsMiddleware",
      "DanglingCallsMiddleware",
      "EmptyAnswersMiddleware",
      "RepeatsMiddleware",
      "ClarificationMiddleware",
      "PromptCachingMiddleware",
      "BudgetMiddleware",
      "SecretsMiddleware",
    ]);
  });

  it("can be left and entered again in one thread, with its todos intact", async () => {
    const checkpointer = new MemorySaver();
    const first = lead({ is_plan_mode: true }, [write(LIST), "1", "2", "3"], { checkpointer });
    await first.agent.invoke(go, first.config);
    const between = lead({}, ["just talking"], { checkpointer });
    await between.agent.invoke({ messages: [new HumanMessage("hm")] }, between.config);
    const back = lead({ is_plan_mode: true }, [write(DONE), "done"], { checkpointer });
    const state = (await back.agent.graph.getState(back.config)).values as { todos: Todo[] };
    expect(state.todos.map((todo) => todo.content)).toEqual(["Look", "Change"]);
    const { todos } = await back.agent.invoke({ messages: [new HumanMessage("go on")] }, back.config);
    expect(todos.map((todo) => `${todo.id} ${todo.status}`)).toEqual(["1 completed", "2 completed"]);
  });

  it("calls back a model that stops early, and shows the plan again after a summary", async () => {
    const note = tool(() => "noted", { name: "note", description: "n", schema: z.object({ n: z.number() }) });
    const { model, agent, config } = lead(
      { is_plan_mode: true },
      [
        write(LIST),
        callTool("note", { n: 1 }),
        callTool("note", { n: 2 }),
        "Finished!",
        write(DONE),
        "Really.",
      ],
      {
        tools: [note],
        summarization: {
          trigger: { messages: 6 },
          keep: { messages: 2 },
          model: new ScriptedModel(["They talked."], { loop: true }),
        },
      },
    );
    const { messages } = await agent.invoke(go, config);
    expect(named(model.requests[3]!.messages, "todo_reminder")).toHaveLength(1);
    expect(named(model.requests[4]!.messages, "todo_completion_reminder")).toHaveLength(1);
    expect(messages.at(-1)!.text).toBe("Really.");
    expect(named(messages, "todo_completion_reminder")).toHaveLength(1);
  });
});

describe("a request", () => {
  it("is read in snake_case and camelCase, and context wins", () => {
    const warnings: string[] = [];
    const options = {
      model: new ScriptedModel([]),
      baseDir,
      onWarning: (message: string) => void warnings.push(message),
    };
    const has = (config: object): boolean =>
      (
        makeLeadAgent(config, options) as unknown as { options: { middleware: { name: string }[] } }
      ).options.middleware.some(({ name }) => name === "PlanMiddleware");
    expect(has({ configurable: { isPlanMode: true } })).toBe(true);
    expect(has({ configurable: { is_plan_mode: true }, context: { is_plan_mode: false } })).toBe(false);
    expect(has({ configurable: { is_plan_mod: true, __pregel_x: 1, run_id: "1" } })).toBe(false);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("configurable.is_plan_mod is not known");
  });

  it("is refused, or falls back with a warning, for a wrong type or unknown model", () => {
    const model = new ScriptedModel([]);
    const warnings: string[] = [];
    const options = {
      model,
      models: { small: model },
      onWarning: (message: string) => void warnings.push(message),
    };
    expect(() => makeLeadAgent({ configurable: { is_plan_mode: "yes" } }, options)).toThrow(
      'configurable.is_plan_mode is "yes"',
    );
    expect(() => makeLeadAgent({ configurable: { model_name: "huge" } }, options)).toThrow(
      'there is no model "huge"; known: small',
    );
    makeLeadAgent({ configurable: { model_name: "huge" } }, { ...options, unknownModel: "default" });
    makeLeadAgent({ configurable: { thinking_enabled: true } }, options);
    const scout = { name: "scout", description: "looks", effort: "high" } as const;
    makeLeadAgent({ configurable: { subagent_enabled: true } }, { ...options, subagents: [scout] });
    expect(warnings).toEqual([
      'there is no model "huge" (known: small); the default model is used',
      "ScriptedModel has no setting for thinking; thinking_enabled is ignored",
      "ScriptedModel has no setting for thinking; thinking_enabled and reasoning_effort are ignored",
    ]);
  });

  it("sets thinking the provider's way, on a copy", async () => {
    const { ChatAnthropic } = await import("@langchain/anthropic");
    const model = new ChatAnthropic({ model: "claude-sonnet-4-5", apiKey: "x" });
    const agent = makeLeadAgent(
      { configurable: { thinking_enabled: true, reasoning_effort: "low" } },
      { model, baseDir },
    );
    const used = (agent as unknown as { options: { model: InstanceType<typeof ChatAnthropic> } }).options
      .model;
    expect(used.invocationParams({}).thinking).toEqual({ type: "enabled", budget_tokens: 2048 });
    expect(model.invocationParams({}).thinking).not.toEqual({ type: "enabled", budget_tokens: 2048 });
  });

  it("is isolated from 19 others at the same time", async () => {
    const checkpointer = new MemorySaver();
    const runs = Array.from({ length: 20 }, async (_, n) => {
      const isPlanned = n % 2 === 0;
      const list = [{ content: `only ${n}`, status: "in_progress" }];
      const steps: Step[] = isPlanned
        ? [write(list), write(list.map((todo) => ({ ...todo, status: "completed" }))), `answer ${n}`]
        : [`answer ${n}`];
      const { agent, config } = lead({ thread_id: `t-${n}`, is_plan_mode: isPlanned }, steps, {
        checkpointer,
      });
      const result = await agent.invoke({ messages: [new HumanMessage(`question ${n}`)] }, config);
      return { n, isPlanned, result };
    });
    for (const { n, isPlanned, result } of await Promise.all(runs)) {
      expect(result.messages.at(-1)!.text).toBe(`answer ${n}`);
      expect(result.title).toBe(`question ${n}`);
      expect((result as { todos?: Todo[] }).todos?.map((todo) => todo.content)).toEqual(
        isPlanned ? [`only ${n}`] : undefined,
      );
    }
  });
});

describe("the chain", () => {
  it("has a sandbox with the thread's folders under virtual paths", async () => {
    const { agent, config } = lead({ thread_id: "../../etc" }, [
      callTool("write_file", { file_path: "/mnt/user-data/workspace/a.txt", content: "hello\n" }),
      callTool("execute", { command: "cat a.txt /mnt/user-data/workspace/a.txt; pwd" }),
      callTool("write_file", { file_path: "/etc/passwd", content: "no" }),
      "ok",
    ]);
    const { messages } = await agent.invoke(go, config);
    const replies = messages
      .filter((message) => ToolMessage.isInstance(message))
      .map((message) => message.text);
    expect(replies[1]).toBe("hello\nhello\n/mnt/user-data/workspace");
    expect(replies[2]).toContain("not allowed");
    for (const entry of readdirSync(baseDir)) expect(entry).toMatch(/^[a-z0-9][a-z0-9_-]*$/);
  });

  it("asks for clarification: nothing else of the turn runs, and the answer comes back", async () => {
    let worked = 0;
    const work = tool(() => `work ${++worked}`, { name: "work", description: "w", schema: z.object({}) });
    const steps: Step[] = [
      write(LIST),
      [callTool("work"), callTool("ask_clarification", { question: "Which one?", options: ["a", "b"] })],
      write(DONE),
      "Thanks.",
    ];
    const checkpointer = new MemorySaver();
    const { agent, config, model } = lead({ is_plan_mode: true }, steps, { tools: [work], checkpointer });
    const paused = (await agent.invoke(go, config)) as unknown as Record<
      string,
      { value: { question: string } }[]
    >;
    expect(paused["__interrupt__"]?.[0]?.value).toMatchObject({
      type: "clarification",
      question: "Which one?",
      options: ["a", "b"],
    });
    const { messages, todos } = await agent.invoke(new Command({ resume: "b" }), config);
    expect(worked).toBe(0);
    expect(model.requests).toHaveLength(4);
    const replies = model.requests[2]!.messages.filter((message) => ToolMessage.isInstance(message)).map(
      (message) => message.text,
    );
    expect(replies.slice(-2)).toEqual([
      expect.stringContaining("Not run: ask_clarification"),
      "The user answers: b",
    ]);
    expect(messages.at(-1)!.text).toBe("Thanks.");
    expect(todos.every((todo) => todo.status === "completed")).toBe(true);
  });

  it("has no question tool in a non-interactive run", async () => {
    const { agent, config, model } = lead({ non_interactive: true }, ["ok"]);
    await agent.invoke(go, config);
    expect(toolNames(model)).not.toContain("ask_clarification");
  });

  it("warns a model that repeats itself, then ends the run without an exit reminder", async () => {
    const work = tool(() => "same", {
      name: "work",
      description: "w",
      schema: z.object({ a: z.number(), b: z.number() }),
    });
    const again = (n: number) => callTool("work", n % 2 ? { a: 1, b: 2 } : { b: 2, a: 1 });
    const { agent, config, model } = lead(
      { is_plan_mode: true },
      [write(LIST), ...Array.from({ length: 9 }, (_, n) => again(n))],
      { tools: [work] },
    );
    const { messages } = await agent.invoke(go, config);
    expect(model.requests).toHaveLength(6);
    expect(named(model.requests[3]!.messages, "loop_warning")).toEqual([]);
    expect(named(model.requests[4]!.messages, "loop_warning")).toHaveLength(1);
    expect(messages.at(-1)!.text).toContain("I stopped because I was repeating myself");
    expect(named(messages, "loop_warning")).toEqual([]);
  });

  it.each([
    ["the lead's limits", {}, 2],
    ["limits of its own", { middleware: [loopGuardMiddleware({ stopAfter: 3 })] }, 3],
  ])("ends a sub-agent that repeats itself, with %s", async (_, own, turns) => {
    let looked = 0;
    const again = (): Step => {
      looked += 1;
      return callTool("ls", { path: "/" });
    };
    const { agent, config } = lead(
      { subagent_enabled: true },
      [callTool("task", { description: "look", subagent_type: "looker" }), "Ended."],
      {
        loopGuard: { warnAfter: 1, stopAfter: 2 },
        subagents: [
          {
            name: "looker",
            description: "looks",
            model: new ScriptedModel([again], { loop: true }),
            ...(own as { middleware?: AnyAgentMiddleware[] }),
          },
        ],
      },
    );
    const { messages } = await agent.invoke(go, config);
    expect(looked).toBe(turns);
    expect(messages.at(-2)!.text).toContain("I stopped because I was repeating myself");
    expect(messages.at(-1)!.text).toBe("Ended.");
  });

  it("titles a thread once, from a model where there is one, and never fails for it", async () => {
    const titled = async (title: LeadOptions["title"]) => {
      const { agent, config } = lead({}, ["ok"], title ? { title } : {});
      return (await agent.invoke(go, config)).title;
    };
    expect(await titled(undefined)).toBe("Help me refactor this large codebase with 10+ modules");
    expect(await titled({ maxLength: 20 })).toBe("Help me refactor…");
    expect(await titled({ model: { invoke: () => Promise.resolve(new AIMessage('"Refactoring."')) } })).toBe(
      "Refactoring",
    );
    expect(await titled({ model: { invoke: () => Promise.reject(new Error("down")) } })).toContain("Help me");
    expect(await titled({ model: { invoke: () => new Promise(() => undefined) }, timeout: 5 })).toContain(
      "Help me",
    );
  });

  it("delegates when the request allows it", async () => {
    const model = new ScriptedModel([
      callTool("task", { description: "count", subagent_type: "general-purpose" }),
      "counted",
      "ok",
    ]);
    const config = { configurable: { thread_id: "d", subagent_enabled: true, max_concurrent_subagents: 2 } };
    const { messages } = await makeLeadAgent(config, { model, baseDir }).invoke(go, config);
    expect(messages.find((message) => ToolMessage.isInstance(message))!.text).toBe("counted");
  });

  it("has sub-agents in its own sandbox", async () => {
    const path = "/mnt/user-data/workspace/in.txt";
    const model = new ScriptedModel([
      callTool("write_file", { file_path: path, content: "hello" }),
      callTool("task", { description: "read it", subagent_type: "general-purpose", todo_id: null }),
      callTool("execute", { command: `cat ${path}; echo -n " there" >> in.txt` }),
      "read",
      callTool("read_file", { file_path: path }),
      "ok",
    ]);
    const config = { configurable: { thread_id: "shared", subagent_enabled: true } };
    const { messages } = await makeLeadAgent(config, { model, baseDir, sandbox: sandboxed }).invoke(
      go,
      config,
    );
    expect(model.requests[3]!.messages.at(-1)!.text).toBe("hello");
    expect(messages.at(-2)!.text).toContain("hello there");
  });

  it("continues after more than a dozen tool calls and after an unanswered question", async () => {
    const { agent, config, model } = lead(
      {},
      [
        ...Array.from({ length: 20 }, (_, n) => callTool("glob", { pattern: `/mnt/user-data/${n}*` })),
        callTool("ask_clarification", { question: "?" }),
        "ok",
      ],
      { checkpointer: new MemorySaver() },
    );
    await agent.invoke(go, config);
    const { messages } = await agent.invoke({ messages: [new HumanMessage("never mind")] }, config);
    expect(messages.at(-1)!.text).toBe("ok");
    const sent = model.requests.at(-1)!.messages;
    expect(sent.at(-2)!.getType()).toBe("tool");
  });

  it("lets the exit guard speak again once a question was answered", async () => {
    const steps: Step[] = [
      write(LIST),
      callTool("ask_clarification", { question: "?" }),
      "Early.",
      write(DONE),
      "Done.",
    ];
    const { agent, config, model } = lead({ is_plan_mode: true }, steps, { checkpointer: new MemorySaver() });
    await agent.invoke(go, config);
    const { messages } = await agent.invoke(new Command({ resume: "b" }), config);
    expect(messages.at(-1)!.text).toBe("Done.");
    expect(named(model.requests[3]!.messages, "todo_completion_reminder")).toHaveLength(1);
  });

  it("gives a request without a thread its own files, shared with its sub-agents", async () => {
    const path = "/mnt/user-data/workspace/in.txt";
    const run = (steps: Step[]) =>
      makeLeadAgent(
        { configurable: { subagent_enabled: true } },
        { model: new ScriptedModel(steps), baseDir, sandbox: sandboxed },
      ).invoke(go);
    const { messages, threadData } = (await run([
      callTool("write_file", { file_path: path, content: "hello" }),
      callTool("task", { description: "read it", subagent_type: "general-purpose" }),
      callTool("execute", { command: `cat ${path}; echo -n " there" >> in.txt` }),
      "read",
      callTool("read_file", { file_path: path }),
      "ok",
    ])) as { messages: BaseMessage[]; threadData?: { workspace: string } };
    expect(messages.at(-2)!.text).toContain("hello there");
    expect(readFileSync(join(threadData!.workspace, "in.txt"), "utf8")).toBe("hello there");
    const other = await run([callTool("read_file", { file_path: path }), "ok"]);
    expect(other.messages.at(-2)!.text).not.toContain("hello");
  });

  it("lets the user's middleware try a tool again", async () => {
    let tries = 0;
    const flaky = tool(
      () => {
        if (++tries < 3) throw new Error("503");
        return "fine";
      },
      { name: "flaky", description: "f", schema: z.object({}) },
    );
    for (const sandbox of [{}, { resultLimit: false as const }]) {
      tries = 0;
      const middleware = [
        toolRetryMiddleware({ maxRetries: 3, initialDelayMs: 1 }) as unknown as AnyAgentMiddleware,
      ];
      const { agent, config } = lead({}, [callTool("flaky"), "ok"], { tools: [flaky], middleware, sandbox });
      const { messages } = await agent.invoke(go, config);
      expect(messages.at(-2)!.text).toBe("fine");
      expect(tries).toBe(3);
    }
  });

  it("continues when a tool aborts its own request, and stops when the run is aborted", async () => {
    const controller = new AbortController();
    const fetchPage = tool(
      ({ stop }) => {
        if (stop) controller.abort();
        throw new DOMException("timed out", "AbortError");
      },
      { name: "fetch_page", description: "f", schema: z.object({ stop: z.boolean() }) },
    );
    const steps = [callTool("fetch_page", { stop: false }), callTool("fetch_page", { stop: true }), "ok"];
    const { agent, config, model } = lead({}, steps, { tools: [fetchPage] });
    await expect(agent.invoke(go, { ...config, signal: controller.signal })).rejects.toThrow(/abort/i);
    expect(model.requests).toHaveLength(2);
    expect(model.requests[1]!.messages.at(-1)!.text).toBe("Error: timed out");
  });

  it("keeps the files of two base directories apart", async () => {
    const path = "/mnt/user-data/outputs/secret.txt";
    const config = { configurable: { thread_id: "same" } };
    let other: BaseMessage[] = [];
    const model = new ScriptedModel([
      callTool("write_file", { file_path: path, content: "secret" }),
      async () => {
        const steps = [callTool("read_file", { file_path: path }), "ok"];
        const options = { model: new ScriptedModel(steps), baseDir: join(baseDir, "b") };
        ({ messages: other } = await makeLeadAgent(config, options).invoke(go, config));
        return "ok";
      },
    ]);
    await makeLeadAgent(config, { model, baseDir: join(baseDir, "a") }).invoke(go, config);
    expect(other.at(-1)!.text).toBe("ok");
    expect(other.at(-2)!.text).not.toContain("secret\n");
    expect(other.at(-2)!.text).toMatch(/^Error/);
  });

  it("is a graph factory for a LangGraph server", async () => {
    const factory = leadAgentGraph({ model: new ScriptedModel(["ok"]), baseDir });
    const graph = factory({ configurable: { thread_id: "g", is_plan_mode: true } });
    const { messages } = (await graph.invoke(go, { configurable: { thread_id: "g" } })) as {
      messages: BaseMessage[];
    };
    expect(messages.at(-1)!.text).toBe("ok");
  });

  it("reads the context that a LangGraph server passes separately from the config", async () => {
    const config = { configurable: { thread_id: "g" } };
    for (const is_plan_mode of [true, false]) {
      const model = new ScriptedModel(["ok"]);
      const factory = leadAgentGraph({ model, baseDir });
      await factory(config, { executionRuntime: { context: { is_plan_mode } } }).invoke(go, config);
      expect(toolNames(model).includes("write_todos")).toBe(is_plan_mode);
    }
    expect(() => leadAgentGraph({ model: "openai:x" })(config, { executionRuntime: null })).not.toThrow();
  });
});

it.each<[options: unknown, message: string]>([
  [{ sytemPrompt: "x" }, 'makeLeadAgent: there is no option "sytemPrompt" (there are '],
  [{ sandbox: { permissions: { effect: "deny", paths: "/**" } } }, "makeLeadAgent: sandbox.permissions: "],
  [{ sandbox: { provider: {} } }, "must be a sandbox provider, such as localSandboxProvider()"],
  [{ loopGuard: { stopAfter: 0 } }, "makeLeadAgent: loopGuard.stopAfter: must be at least 1"],
  [{ subagents: [{ description: "d" }] }, "makeLeadAgent: subagents.0.name: "],
])("refuses options that cannot work: %j", (options, message) => {
  expect(() => makeLeadAgent({}, options as LeadOptions)).toThrow(message);
});
