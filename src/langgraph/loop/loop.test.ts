import { HumanMessage, RemoveMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import {
  Command,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  REMOVE_ALL_MESSAGES,
  StateGraph,
  StateSchema,
  type BaseCheckpointSaver,
  type StateSnapshot,
} from "@langchain/langgraph";
import * as fc from "fast-check";
import { createAgent, createMiddleware, tool, toolStrategy } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { numbered } from "../../../test/helpers/measure/normalized-ids.ts";
import { rounds } from "../../../test/helpers/runner/rounds.ts";
import { lightLoop } from "../../middleware/light-loop/index.ts";
import { callTool, ScriptedModel, type ScriptedCall, type Step } from "../../testing/scripted-model.ts";
import { messagesField } from "../messages.ts";

const CONFIG = { configurable: { thread_id: "t" } };
const MODES = ["values", "updates", "messages", "tasks", "debug", "custom", "checkpoints"] as const;

/** What the tools of the scripts do. */
const tools = [
  work("work", (n, runtime) => {
    runtime.writer?.({ worked: n });
    return `result ${n}`;
  }),
  work("fail", () => {
    throw new Error("it failed");
  }),
  work("ask", (n) => `answered ${interrupt(`question ${n}`)}`),
  work("direct", (n) => `direct ${n}`, true),
  work("note", (n, { toolCallId }) => {
    const content = `noted ${n}`;
    return new Command({ update: { messages: [new ToolMessage({ content, tool_call_id: toolCallId })] } });
  }),
  work("jump", (n, { toolCallId }) => {
    const reply = new ToolMessage({ content: `jumped ${n}`, tool_call_id: toolCallId });
    return new Command({ goto: "model_request", update: { messages: [reply] } });
  }),
  work("forget", (n, { toolCallId, state }) => {
    const first = state.messages.find((message) => message.type === "tool");
    const removed = first?.id === undefined ? [] : [new RemoveMessage({ id: first.id })];
    const reply = new ToolMessage({ content: `forgot ${n}`, tool_call_id: toolCallId });
    return new Command({ update: { messages: [...removed, reply] } });
  }),
  // As a handoff does it: the graph inside has something for the agent around it.
  work("hand", async (n) => {
    const reply = new ToolMessage({ content: `handed ${n}`, tool_call_id: "handed", id: `handed-${n}` });
    const inner = new StateGraph(MessagesAnnotation)
      .addNode("inner", () => new Command({ graph: Command.PARENT, update: { messages: [reply] } }))
      .addEdge("__start__", "inner")
      .compile();
    await inner.invoke({ messages: [] });
    return "never";
  }),
  work("restart", (n) => {
    const all = new RemoveMessage({ id: REMOVE_ALL_MESSAGES });
    return new Command({
      update: { messages: [all, new HumanMessage({ content: `again ${n}`, id: "new" })] },
    });
  }),
];

const call = fc
  .record({
    name: fc.constantFrom(...tools.map((one) => one.name), "work", "unknown"),
    n: fc.nat(9),
    // Some models count their call ids anew in every turn.
    id: fc.option(fc.constantFrom("1", "2"), { nil: undefined, freq: 3 }),
  })
  .map(({ name, n, id }) => callTool(name, { n }, id));
const turn: fc.Arbitrary<ScriptedCall[]> = fc.oneof(
  { weight: 3, arbitrary: call.map((one) => [one]) },
  { weight: 1, arbitrary: fc.array(call, { minLength: 2, maxLength: 3 }) },
);
const script = fc.array(turn, { maxLength: 6 });
const HOOKS = ["none", "afterModel", "afterModel that jumps", "beforeModel"] as const;

describe("an agent with the light loop does what LangChain's does:", () => {
  it("messages, history and questions, over stops, answers, edits and forks", async () => {
    const run = fc.record({
      turns: script,
      hook: fc.constantFrom(...HOOKS),
      structured: fc.boolean(),
      stopAfter: fc.option(fc.nat(6), { nil: undefined }),
      fork: fc.option(fc.nat(12), { nil: undefined }),
    });
    const check = async (options: Run): Promise<void> => {
      // A jump past a hook has the model run twice at once, beside calls: what runs together has no order to compare.
      const hasJump = options.turns.flat().some(({ name }) => name === "jump");
      fc.pre(!hasJump || options.hook !== "beforeModel");
      // After such a hook LangChain loses calls whose ids were used before (`reused-ids.test.ts`).
      const ids = options.turns.flatMap((calls) => calls.flatMap(({ id }) => id ?? []));
      fc.pre(!options.hook.startsWith("afterModel") || new Set(ids).size === ids.length);
      expect(await played(options, true)).toEqual(await played(options, false));
    };
    await fc.assert(fc.asyncProperty(run, check), { numRuns: rounds(40) });
  });

  it.each(MODES)(
    "the stream of %s",
    async (mode) => {
      const check = async (turns: ScriptedCall[][]): Promise<void> => {
        // What a model says beside calls, after a jump, comes in any order.
        fc.pre(!turns.flat().some(({ name }) => name === "jump"));
        expect(await streamed(turns, mode, true)).toEqual(await streamed(turns, mode, false));
      };
      await fc.assert(fc.asyncProperty(script, check), { numRuns: rounds(15) });
    },
    60_000,
  );

  it("the callbacks of a run and of an edit", async () => {
    const check = async (turns: ScriptedCall[][]): Promise<void> => {
      // A restart may come before or after the end of a call beside it.
      fc.pre(!turns.some((calls) => calls.length > 1 && calls.some(({ name }) => name === "restart")));
      expect(await heard(turns, true)).toEqual(await heard(turns, false));
    };
    await fc.assert(fc.asyncProperty(script, check), { numRuns: rounds(15) });
  });

  it("its drawing", async () => {
    const drawn = (isLight: boolean): Promise<string> => agentOf([], { isLight }).drawMermaid();
    expect(await drawn(true)).toBe(await drawn(false));
    expect(await drawn(true)).toContain("tools");
  });
});

describe("a turn", () => {
  it("copies no state into a Send for a single call, and sends each of several calls", async () => {
    const triggers = async (turns: ScriptedCall[][]): Promise<unknown[]> => {
      const agent = agentOf(turns, { isLight: true });
      const tasks = await listed(await agent.stream(INPUT, { ...CONFIG, streamMode: "tasks" }));
      return (tasks as Task[]).flatMap(({ name, triggers: by }) => (name === "tools" && by ? by : []));
    };
    const single = callTool("work", { n: 1 });
    expect(await triggers([[single]])).toEqual(["branch:to:tools"]);
    expect(await triggers([[single, single]])).toEqual(["__pregel_push", "__pregel_push"]);
    // LangChain's tools would take it for answered.
    const used = callTool("work", { n: 1 }, "1");
    expect(await triggers([[used], [used]])).toEqual(["branch:to:tools", "__pregel_push"]);
  });

  it.each([
    ["LangChain's loop", "the light one", false],
    ["the light one", "LangChain's loop", true],
  ])("stopped in %s continues in %s", async (_, __, isLight) => {
    for (const calls of [
      [callTool("ask", { n: 1 })],
      [callTool("ask", { n: 1 }), callTool("work", { n: 2 })],
    ]) {
      const saver = new MemorySaver();
      await agentOf([calls], { isLight, saver }).invoke(INPUT, CONFIG);
      const later = agentOf([], { isLight: !isLight, saver });
      const { messages } = await later.invoke(new Command({ resume: "yes" }), CONFIG);
      expect(messages.map(({ text }) => text)).toEqual([
        "Go",
        "",
        "answered yes",
        ...(calls.length > 1 ? ["result 2"] : []),
        "Done.",
      ]);
    }
  });

  it("is not the last turn when a client edits the state before the next model call", async () => {
    const config = { ...CONFIG, interruptAfter: ["tools" as const] };
    const agent = agentOf([[callTool("work", { n: 1 })]], { isLight: true });
    await agent.invoke(INPUT, config as never);
    await agent.graph.updateState(CONFIG, { messages: [new HumanMessage("By the way")] });
    const { messages } = await agent.invoke(null as never, CONFIG);
    expect(messages.map(({ text }) => text)).toEqual(["Go", "", "result 1", "By the way", "Done."]);
  });

  it("stopped between two steps continues in either loop", async () => {
    for (const isLight of [true, false]) {
      const saver = new MemorySaver();
      const config = { ...CONFIG, interruptBefore: ["tools" as const] };
      await agentOf([[callTool("work", { n: 1 })]], { isLight, saver }).invoke(INPUT, config as never);
      const later = agentOf([], { isLight: !isLight, saver });
      expect((await later.graph.getState(CONFIG)).next).toEqual(["tools"]);
      const { messages } = await later.invoke(null as never, CONFIG);
      expect(messages.map(({ text }) => text)).toEqual(["Go", "", "result 1", "Done."]);
    }
  });
});

const INPUT = { messages: [new HumanMessage({ content: "Go", id: "go" })] };

interface Run {
  turns: ScriptedCall[][];
  hook: (typeof HOOKS)[number];
  structured: boolean;
  stopAfter: number | undefined;
  fork: number | undefined;
}

interface Task {
  name: string;
  triggers?: string[];
}

interface Runtime {
  toolCallId: string;
  writer?: (chunk: unknown) => void;
  state: { messages: BaseMessage[] };
}

function work(name: string, run: (n: number, runtime: Runtime) => unknown, returnDirect = false) {
  return tool(({ n }: { n: number }, runtime: unknown) => run(n, runtime as Runtime) as string, {
    name,
    description: name,
    schema: z.object({ n: z.number() }),
    returnDirect,
  });
}

/** LangChain numbers the tools for it through all agents of a process. */
function structuredAnswer({ tools: bound }: { tools: unknown[] }): ScriptedCall {
  const names = (bound as { function: { name: string } }[]).map(({ function: { name } }) => name);
  return callTool(
    names.find((name) => name.startsWith("extract-"))!,
    { n: 1 },
  );
}

interface AgentOf {
  isLight: boolean;
  saver?: BaseCheckpointSaver;
  hook?: (typeof HOOKS)[number];
  structured?: boolean;
}

function agentOf(turns: readonly ScriptedCall[][], { isLight, saver, hook = "none", structured }: AgentOf) {
  let jumps = 0;
  const name = "Hook";
  const middleware = {
    none: [],
    afterModel: [createMiddleware({ name, afterModel: () => undefined })],
    "afterModel that jumps": [
      createMiddleware({
        name,
        afterModel: {
          canJumpTo: ["model"],
          hook: () => (jumps++ === 1 ? { jumpTo: "model" as const } : undefined),
        },
      }),
    ],
    beforeModel: [createMiddleware({ name, beforeModel: () => undefined })],
  }[hook];
  const end: Step[] = structured ? [structuredAnswer] : [];
  const field = createMiddleware({
    name: "Messages",
    stateSchema: new StateSchema({ messages: messagesField() }),
  });
  const agent = createAgent({
    model: new ScriptedModel([...turns, ...end, ...Array.from({ length: 20 }, () => "Done.")]),
    tools: tools as never[],
    middleware: [...middleware, ...(isLight ? [field] : [])] as never[],
    checkpointer: saver ?? new MemorySaver(),
    ...(structured && { responseFormat: toolStrategy(z.object({ n: z.number() })) as never }),
  });
  return isLight ? lightLoop(agent) : agent;
}

/** Runs a script, answering every question, and says all that can be seen of the thread. */
async function played({ turns, hook, structured, stopAfter, fork }: Run, isLight: boolean): Promise<unknown> {
  const { graph, invoke } = boundTo(agentOf(turns, { isLight, hook, structured }));
  const ends: unknown[] = [];
  const step = async (run: () => Promise<unknown>): Promise<void> => {
    ends.push(await run().catch((error: Error) => error.message));
  };
  const goOn = async (): Promise<void> => {
    for (let answer = 0; answer < 8; answer += 1) {
      const { tasks } = await graph.getState(CONFIG);
      if (tasks.length === 0) break;
      const asked = tasks.flatMap(({ interrupts }) => interrupts);
      const resume = Object.fromEntries(asked.map(({ id }, at) => [id!, `yes ${answer}.${at}`]));
      await step(() => invoke(asked.length > 0 ? new Command({ resume }) : null, CONFIG));
    }
  };
  // As a stop between two steps leaves it.
  const limit = stopAfter === undefined ? {} : { recursionLimit: stopAfter + 1 };
  await step(() => invoke(INPUT, { ...CONFIG, ...limit }));
  await step(goOn);
  if (fork !== undefined) {
    await step(async () => {
      const history = await listed(graph.getStateHistory(CONFIG));
      const { config } = history[fork % history.length]!;
      const edit = { messages: [new HumanMessage("An edit")] };
      // Which node wrote last LangGraph knows of plain edges only.
      const edited = await graph.updateState(config, edit, fork % 2 === 0 ? "tools" : "model_request");
      await step(async () => shown(await graph.getState(edited)));
      await step(() => invoke(null, edited));
    });
    await step(goOn);
  }
  await step(async () => (await listed(graph.getStateHistory(CONFIG))).map(shown));
  return plain(ends);
}

/** An agent as it is used here, without the types that `null` and an edited configuration do not fit. */
function boundTo(agent: ReturnType<typeof agentOf>) {
  const invoke = (input: unknown, config: object): Promise<unknown> =>
    agent.invoke(input as never, config as never);
  const graph = agent.graph as unknown as {
    getState: (config: object) => Promise<StateSnapshot>;
    getStateHistory: (config: object) => AsyncIterable<StateSnapshot>;
    updateState: (config: object, values: object, asNode: string) => Promise<object>;
  };
  return { invoke, graph };
}

async function listed<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

function shown({ values, next, tasks, metadata }: StateSnapshot): unknown {
  const { step, source } = metadata ?? {};
  const open = tasks.map(({ name, interrupts, error }) => ({
    name,
    error,
    asked: interrupts.map(({ value }) => value as unknown),
  }));
  return { values, next, open, step, source };
}

async function streamed(
  turns: ScriptedCall[][],
  streamMode: (typeof MODES)[number],
  isLight: boolean,
): Promise<unknown> {
  const agent = agentOf(turns, { isLight });
  const chunks: unknown[] = [];
  let input: unknown = INPUT;
  try {
    for (let answer = 0; answer < 8; answer += 1) {
      const stream = await agent.stream(input as never, { ...CONFIG, streamMode });
      for await (const chunk of stream) {
        // LangGraph's stream has no results that come in commands; ours has all (`streamed-results.test.ts`).
        const isResult = streamMode === "messages" && ToolMessage.isInstance((chunk as unknown[])[0]);
        if (!isResult) chunks.push(chunk);
      }
      const { tasks } = await agent.graph.getState(CONFIG);
      if (tasks.length === 0) break;
      const asked = tasks.flatMap(({ interrupts }) => interrupts);
      input = new Command({ resume: Object.fromEntries(asked.map(({ id }) => [id!, "yes"])) });
    }
  } catch (error) {
    chunks.push((error as Error).message);
  }
  return plain(chunks);
}

/** Every run that a listener is told of, by its name and what it is a part of, with how it ended. */
async function heard(turns: ScriptedCall[][], isLight: boolean): Promise<unknown> {
  const agent = agentOf(turns, { isLight });
  const told: unknown[] = [];
  const names = new Map<string, string>();
  const begin = (kind: string, id: string, parent?: string, tags?: string[], name?: string): void => {
    names.set(id, `${names.get(parent ?? "") ?? ""}/${kind} ${name}`);
    told.push([names.get(id), tags]);
  };
  const end = (_: unknown, id: string): void => void told.push(["end", names.get(id)]);
  const listener = {
    handleChainStart: (_: unknown, __: unknown, id: string, parent?: string, ...rest: unknown[]) =>
      begin("chain", id, parent, rest[0] as string[], rest[3] as string),
    handleToolStart: (_: unknown, __: unknown, id: string, parent?: string, ...rest: unknown[]) =>
      begin("tool", id, parent, rest[0] as string[], rest[2] as string),
    handleChatModelStart: (_: unknown, __: unknown, id: string, parent?: string, ...rest: unknown[]) =>
      begin("model", id, parent, rest[1] as string[], rest[3] as string),
    handleChainEnd: end,
    handleToolEnd: end,
    handleLLMEnd: end,
    handleChainError: end,
    handleToolError: end,
  };
  const config = { ...CONFIG, callbacks: [listener] };
  await agent.invoke(INPUT, config as never).catch(() => undefined);
  const edit = { messages: [new HumanMessage("An edit")] };
  // Two calls that have both removed the same message are refused, in either loop.
  await boundTo(agent)
    .graph.updateState(config, edit, "model_request")
    .catch(() => told.push("refused"));
  // Calls beside each other are told of as they come.
  return told.map((one) => JSON.stringify(one)).toSorted();
}

/** What tells a plain edge from a Send. Times and ids are made up anew in each run. */
const OTHER = ["lg_tool_call", "triggers", "langgraph_triggers", "langgraph_path", "path", "timestamp", "ts"];

function plain(value: unknown): unknown {
  return numbered(value, OTHER);
}
