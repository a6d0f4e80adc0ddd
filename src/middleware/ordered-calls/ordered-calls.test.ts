import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import * as fc from "fast-check";
import { createAgent, createMiddleware, tool, type AnyAgentMiddleware } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { rounds } from "../../../test/helpers/runner/rounds.ts";
import { HarnessError } from "../../errors.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { consentMiddleware, repeatsMiddleware } from "../consent/index.ts";
import { orderedCallsMiddleware, type OrderedCallsOptions } from "./index.ts";

const go = { messages: [new HumanMessage("go")] };
const config = { configurable: { thread_id: "t" } };
const readOnly = { annotations: { readOnlyHint: true } };

interface World {
  values: Record<string, number>;
  /** What ran, from its start to its end. */
  log: string[];
}

const schema = z.object({ key: z.string(), turns: z.number() });

/** Lets other work go first, as often as it says. */
async function pass(turns: number): Promise<void> {
  for (let at = 0; at < turns; at += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Tools that look at numbers and double or count them up, each after some delay. */
function toolsOf({ values, log }: World) {
  const change = (name: string, next: (value: number) => number) =>
    tool(
      async ({ key, turns }: z.output<typeof schema>) => {
        log.push(`> ${name} ${key}`);
        const before = values[key] ?? 0;
        await pass(turns);
        values[key] = next(before);
        log.push(`< ${name} ${key}`);
        return `${name} ${key}: ${values[key]}`;
      },
      { name, description: name, schema },
    );
  const look = tool(
    async ({ key, turns }: z.output<typeof schema>) => {
      log.push(`> look ${key}`);
      const seen = values[key] ?? 0;
      await pass(turns);
      log.push(`< look ${key}`);
      return `look ${key}: ${seen}`;
    },
    { name: "look", description: "look", schema, metadata: readOnly },
  );
  const ask = tool(
    async ({ key }: z.output<typeof schema>) => {
      const answer: unknown = interrupt({ key });
      values[key] = (values[key] ?? 0) + 100;
      return `ask ${key}: ${String(answer)}`;
    },
    { name: "ask", description: "ask", schema },
  );
  return [change("add", (value) => value + 1), change("double", (value) => value * 2), look, ask];
}

interface MadeCall {
  name: string;
  key: string;
  turns: number;
}

const calls = (names: readonly string[]) =>
  fc.array(
    fc.record({
      name: fc.constantFrom(...names),
      key: fc.constantFrom("a", "b"),
      turns: fc.integer({ min: 0, max: 3 }),
    }),
    { minLength: 2, maxLength: 7 },
  );

const step = (list: readonly MadeCall[]): Step =>
  list.map(({ name, key, turns }, at) => callTool(name, { key, turns }, `c${at}`));

/** What the calls give when each runs after the one before it. */
function oneByOne(list: readonly MadeCall[]): { results: string[]; values: Record<string, number> } {
  const values: Record<string, number> = {};
  const results = list.map(({ name, key }) => {
    const before = values[key] ?? 0;
    if (name === "look") return `look ${key}: ${before}`;
    const next = { add: before + 1, double: before * 2, ask: before + 100 }[name]!;
    values[key] = next;
    return name === "ask" ? `ask ${key}: yes` : `${name} ${key}: ${next}`;
  });
  return { results, values };
}

function agentOf(
  turn: Step,
  {
    version = "v2",
    middleware = [],
    options,
    world = { values: {}, log: [] },
    checkpointer = new MemorySaver(),
  }: {
    version?: "v1" | "v2";
    middleware?: AnyAgentMiddleware[];
    options?: OrderedCallsOptions;
    world?: World;
    checkpointer?: MemorySaver;
  } = {},
) {
  const model = new ScriptedModel([turn, "ok"]);
  const build = (answer: ScriptedModel = model) =>
    createAgent({
      model: answer,
      tools: toolsOf(world),
      middleware: [orderedCallsMiddleware(options) as AnyAgentMiddleware, ...middleware],
      checkpointer,
      version,
    });
  return { agent: build(), build, model, world };
}

function resultsOf(messages: readonly BaseMessage[]): string[] {
  const found = messages.filter((message) => ToolMessage.isInstance(message));
  return found
    .toSorted((one, other) => Number(one.tool_call_id.slice(1)) - Number(other.tool_call_id.slice(1)))
    .map((message) => message.text);
}

interface State {
  messages: BaseMessage[];
  __interrupt__?: { id: string; value: unknown }[];
}

describe("calls of one message", () => {
  for (const version of ["v1", "v2"] as const) {
    it(`give one-by-one results for any mix of reads and changes (${version})`, async () => {
      await fc.assert(
        fc.asyncProperty(calls(["add", "double", "look"]), async (list) => {
          const { agent, world } = agentOf(step(list), { version });
          const { messages } = (await agent.invoke(go, config)) as State;
          expect({ results: resultsOf(messages), values: world.values }).toEqual(oneByOne(list));
        }),
        { numRuns: rounds(80) },
      );
    });

    it(`wait for a call that asks the user, and keep their order (${version})`, async () => {
      await fc.assert(
        fc.asyncProperty(calls(["add", "double", "look", "ask"]), async (list) => {
          const { agent, world } = agentOf(step(list), { version });
          let state = (await agent.invoke(go, config)) as State;
          const asked = list.filter(({ name }) => name === "ask").length;
          for (let at = 0; at < asked; at += 1) {
            expect(state.__interrupt__).toHaveLength(1);
            state = (await agent.invoke(new Command({ resume: "yes" }), config)) as State;
          }
          const wanted = oneByOne(list);
          // All calls of a step are one task there, which begins again with its first call.
          if (version === "v1" && asked > 0) return;
          expect({ results: resultsOf(state.messages), values: world.values }).toEqual(wanted);
        }),
        { numRuns: rounds(80) },
      );
    });
  }

  it("run together when they only read", async () => {
    const list = ["a", "b", "c"].map((key) => ({ name: "look", key, turns: 2 }));
    const { agent, world } = agentOf(step(list));
    await agent.invoke(go, config);
    expect(world.log.slice(0, 3)).toEqual(["> look a", "> look b", "> look c"]);
  });

  it("run one after the other where one changes something", async () => {
    const list = ["add", "look", "double"].map((name) => ({ name, key: "a", turns: 2 }));
    const { agent, world } = agentOf(step(list));
    await agent.invoke(go, config);
    expect(world.log).toEqual(["> add a", "< add a", "> look a", "< look a", "> double a", "< double a"]);
  });

  it("keep their order under LangGraph's limit on concurrent tasks", async () => {
    const list = ["look", "add", "look", "double"].map((name) => ({ name, key: "a", turns: 1 }));
    // With one at a time LangGraph runs a single task of a step and ends.
    for (const maxConcurrency of [2, 3]) {
      const { agent, world } = agentOf(step(list));
      const { messages } = (await agent.invoke(go, { ...config, maxConcurrency })) as State;
      expect({ results: resultsOf(messages), values: world.values }).toEqual(oneByOne(list));
    }
  });

  it("are ordered as an option says of a tool", async () => {
    const list = ["add", "double"].map((name) => ({ name, key: "a", turns: 1 }));
    const together = agentOf(step(list), { options: { tools: { add: "parallel", double: "parallel" } } });
    await together.agent.invoke(go, config);
    expect(together.world.log.slice(0, 2)).toEqual(["> add a", "> double a"]);
    const free = agentOf(step(list), { options: { tools: { double: "free" } } });
    await free.agent.invoke(go, config);
    expect(free.world.log.slice(0, 2)).toEqual(["> add a", "> double a"]);
  });

  it("keep their order when all share one id", async () => {
    const list = ["add", "double", "add"];
    const same = list.map((name, at) => callTool(name, { key: "a", turns: 3 - at }, "same"));
    const { agent, world } = agentOf(same);
    await agent.invoke(go, config);
    expect(world.values).toEqual({ a: 3 });
  });

  it("are said in the prompt to have an order", async () => {
    const { agent, model } = agentOf("done");
    await agent.invoke(go, config);
    expect(model.requests[0]!.messages[0]!.text).toContain("in the order you give them");
    const silent = agentOf("done", { options: { systemPrompt: "" } });
    await silent.agent.invoke(go, config);
    expect(silent.model.requests[0]!.messages).toHaveLength(1);
  });
});

describe("the user's consent between calls", () => {
  type Decision = "approve" | "reject" | "edit";
  const decision = fc.constantFrom<Decision>("approve", "reject", "edit");

  /** The calls as the person left them; undefined for one that was rejected. */
  const decide = (list: readonly MadeCall[], decisions: readonly Decision[]) =>
    list.map((call, at) => {
      if (call.name !== "double" || decisions[at] === "approve") return call;
      return decisions[at] === "reject" ? undefined : { ...call, key: call.key === "a" ? "b" : "a" };
    });

  const answerTo = (made: Decision, args: { key: string; turns: number }) =>
    made === "edit"
      ? {
          type: "edit",
          editedAction: { name: "double", args: { ...args, key: args.key === "a" ? "b" : "a" } },
        }
      : { type: made };

  it("is requested for all calls at once, and decisions take effect in call order", async () => {
    await fc.assert(
      fc.asyncProperty(
        calls(["add", "double", "look"]),
        fc.array(decision, { minLength: 7, maxLength: 7 }),
        fc.boolean(),
        async (list, decisions, isOneByOne) => {
          const { agent, world } = agentOf(step(list), {
            middleware: [consentMiddleware({ interruptOn: { double: true } }) as AnyAgentMiddleware],
          });
          let state = (await agent.invoke(go, config)) as State;
          const asking = list.filter(({ name }) => name === "double").length;
          const questions = state.__interrupt__ ?? [];
          expect(questions).toHaveLength(asking);
          const answers = questions.map(({ id, value }) => {
            const { call, args } = value as { call: string; args: { key: string; turns: number } };
            return [id, answerTo(decisions[Number(call.slice(1))]!, args)] as const;
          });
          // The last question first: its call waits for the others, and is not asked about again.
          const portions = isOneByOne
            ? answers.toReversed().map((answer) => [answer])
            : answers.length > 0
              ? [answers]
              : [];
          for (const portion of portions) {
            const resume = new Command({ resume: Object.fromEntries(portion) });
            state = (await agent.invoke(resume, config)) as State;
          }
          const kept = decide(list, decisions);
          const wanted = oneByOne(kept.filter((call) => call !== undefined));
          const results = resultsOf(state.messages);
          expect(results).toHaveLength(list.length);
          const ran = results.filter((_, at) => kept[at]).map((text) => text.split("\n").at(-1));
          expect({ ran, values: world.values }).toEqual({ ran: wanted.results, values: wanted.values });
        },
      ),
      { numRuns: rounds(120) },
    );
  });
});

describe("a run that stops between calls", () => {
  class Stop extends Error {}

  it("continues with the remaining calls in order after a stop at any point", async () => {
    await fc.assert(
      fc.asyncProperty(calls(["add", "double", "look"]), fc.nat({ max: 6 }), async (list, at) => {
        const world: World = { values: {}, log: [] };
        const checkpointer = new MemorySaver();
        const controller = new AbortController();
        let left = at;
        const stopping = createMiddleware({
          name: "Stopping",
          wrapToolCall: async (request, handler) => {
            if (left-- === 0) controller.abort(new Stop("stopped"));
            return handler(request);
          },
        }) as AnyAgentMiddleware;
        const repeats = repeatsMiddleware({ add: "harmless", double: "harmless", look: "harmless" });
        const first = agentOf(step(list), { world, checkpointer, middleware: [stopping] });
        const run = first.agent.invoke(go, { ...config, signal: controller.signal, durability: "sync" });
        const stopped = await run.then(
          () => false,
          () => true,
        );
        // What was under way when the run was stopped has its effect all the same.
        await pass(12);
        if (!stopped) return;
        const before = { ...world.values };
        const saved = (await first.agent.graph.getState(config)) as unknown as { values: State };
        if (!saved.values.messages.some((message) => AIMessage.isInstance(message))) return;
        const log = world.log.length;
        const second = agentOf("ok", { world, checkpointer, middleware: [repeats as AnyAgentMiddleware] });
        const { messages } = (await second.agent.invoke(null, config)) as State;
        expect(resultsOf(messages)).toHaveLength(list.length);
        const again = world.log.slice(log).filter((line) => line.startsWith(">"));
        const rest = list.slice(list.length - again.length).map(({ name, key }) => `> ${name} ${key}`);
        // Reads beside each other begin together, in their order.
        expect(again).toEqual(rest);
        expect(Object.keys(world.values).length).toBeGreaterThanOrEqual(Object.keys(before).length);
      }),
      { numRuns: rounds(60) },
    );
  });

  it("leaves no call waiting: a call after a hanging call ends with the run", async () => {
    const controller = new AbortController();
    const hangs = tool(
      () =>
        new Promise<string>((_, reject) => {
          setImmediate(() => controller.abort(new Error("enough")));
          controller.signal.addEventListener("abort", () => reject(new Error("aborted")));
        }),
      { name: "hang", description: "h", schema: z.object({}) },
    );
    let ran = 0;
    const next = tool(() => `${++ran}`, { name: "next", description: "n", schema: z.object({}) });
    const ended: string[] = [];
    const watch = createMiddleware({
      name: "Watch",
      wrapToolCall: async (request, handler) => {
        try {
          return await handler(request);
        } finally {
          ended.push(request.toolCall.name);
        }
      },
    }) as AnyAgentMiddleware;
    const agent = createAgent({
      model: new ScriptedModel([[callTool("hang", {}, "c0"), callTool("next", {}, "c1")], "ok"]),
      tools: [hangs, next],
      middleware: [orderedCallsMiddleware() as AnyAgentMiddleware, watch],
    });
    await expect(agent.invoke(go, { signal: controller.signal })).rejects.toThrow(/enough|abort/i);
    await pass(5);
    expect({ ended: ended.toSorted(), ran }).toEqual({ ended: ["hang", "next"], ran: 0 });
  });

  it("runs no later call when an earlier one ends the run", async () => {
    const fails = createMiddleware({
      name: "Fails",
      wrapToolCall: async (request, handler) => {
        if (request.toolCall.name === "double") throw new HarnessError("storage-failed", "disk full");
        return handler(request);
      },
    }) as AnyAgentMiddleware;
    const list = ["add", "double", "add"].map((name) => ({ name, key: "a", turns: 0 }));
    const { agent, world } = agentOf(step(list), { middleware: [fails] });
    await expect(agent.invoke(go, config)).rejects.toThrow("disk full");
    await pass(5);
    expect(world.values).toEqual({ a: 1 });
  });
});

describe("a call after a failed one", () => {
  const files = (isRefused: boolean) => {
    const path = z.object({ file_path: z.string() });
    const write = tool(
      () => {
        if (isRefused) throw new Error("disk is full");
        return "written";
      },
      { name: "write_file", description: "w", schema: path },
    );
    const execute = tool(() => "tests pass", {
      name: "execute",
      description: "e",
      schema: z.object({ command: z.string() }),
    });
    return [write, execute];
  };
  const turn = [
    callTool("write_file", { file_path: "/a.js" }, "c0"),
    callTool("execute", { command: "npm test" }, "c1"),
  ];

  const run = async (isRefused: boolean, options?: OrderedCallsOptions) => {
    const agent = createAgent({
      model: new ScriptedModel([turn, "ok"]),
      tools: files(isRefused),
      middleware: [orderedCallsMiddleware(options) as AnyAgentMiddleware],
    });
    return resultsOf(((await agent.invoke(go)) as State).messages);
  };

  it("is withheld where it is a command and a file was to be changed, and says why", async () => {
    expect(await run(true)).toEqual([
      "Error: disk is full",
      "Not run: write_file /a.js before it in this message failed. Fix that, then call execute again.",
    ]);
    expect(await run(false)).toEqual(["written", "tests pass"]);
  });

  it("is run where the policy says so", async () => {
    expect(await run(true, { withhold: false })).toEqual(["Error: disk is full", "tests pass"]);
    expect(await run(true, { withhold: () => false })).toEqual(["Error: disk is full", "tests pass"]);
  });
});

it("options that cannot work are refused", () => {
  expect(() => orderedCallsMiddleware({ tools: { look: "reads" as never } })).toThrow(
    "orderedCallsMiddleware",
  );
});
