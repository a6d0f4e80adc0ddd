import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { interrupt, MemorySaver } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { callTool, ScriptedModel, type Step } from "../../../testing/index.ts";
import { isPlanChangeEvent, type PlanChangeEvent } from "../events.ts";
import { planMiddleware } from "../index.ts";
import type { PlanOptions } from "../options.ts";
import { workWasDone } from "./evidence.ts";
import type { Verifier } from "./verifier.ts";

const work = tool(() => "worked", { name: "work", description: "work", schema: z.object({}) });
const go = { messages: [new HumanMessage("go")] };
const THREE = callTool("write_todos", { todos: ["read", "build", "check"] });
const done = (ids: string) => callTool("update_todos", { done: ids });

async function run(steps: Step[], options: PlanOptions) {
  const model = new ScriptedModel(steps);
  const agent = createAgent({
    model,
    tools: [work],
    middleware: [planMiddleware({ verify: false, reminders: false, ...options })],
  });
  const { messages, todos } = await agent.invoke(go);
  const replies = messages.filter((message) => ToolMessage.isInstance(message) && message.name !== "work");
  return { todos, texts: replies.map((reply) => reply.text), statuses: todos.map((todo) => todo.status) };
}

describe("verified completion", () => {
  it("refuses with the reason, and the item stays in progress", async () => {
    const { texts, statuses } = await run([THREE, done("1"), "ok"], {
      verify: (todo) => `${todo.content}.md is missing`,
    });
    expect(texts[1]).toBe(
      "Error: Item 1 is not accepted as completed: read.md is missing.\nThe plan is unchanged.",
    );
    expect(statuses[0]).toBe("in_progress");
  });

  it("checks items written as completed, and keeps refused items in the plan as open", async () => {
    const list = { todos: [{ content: "read", status: "completed" }, { content: "build" }] };
    const { texts, statuses } = await run([callTool("write_todos", list), "ok"], {
      verify: () => "no proof",
    });
    expect(texts[0]).toBe("Plan set. 0/2 done; now 1.\nItem 1 is not accepted as completed: no proof.");
    expect(statuses).toEqual(["in_progress", "pending"]);
  });

  it("stops with the run: an abort and LangGraph's control flow are not refusals", async () => {
    const controller = new AbortController();
    const verify = (): Promise<never> => {
      controller.abort();
      return new Promise(() => undefined);
    };
    const agent = createAgent({
      model: new ScriptedModel([THREE, done("1")]),
      middleware: [planMiddleware({ verify })],
    });
    await expect(agent.invoke(go, { signal: controller.signal })).rejects.toThrow(/abort/i);

    const asking = createAgent({
      model: new ScriptedModel([THREE, done("1"), done("2,3"), "ok"]),
      middleware: [planMiddleware({ verify: () => interrupt("is it done?") === "yes" })],
      checkpointer: new MemorySaver(),
    });
    const config = { configurable: { thread_id: "v" } };
    const paused = (await asking.invoke(go, config)) as unknown as Record<string, { value: string }[]>;
    expect(paused["__interrupt__"]?.[0]?.value).toBe("is it done?");
  });

  it("accepts, synchronously or not", async () => {
    for (const verify of [() => true, () => undefined, () => null, async () => Promise.resolve(true)]) {
      const { statuses } = await run([THREE, done("1"), "ok"], { verify });
      expect(statuses[0]).toBe("completed");
    }
  });

  it("counts an error, a false and a check that never ends as a refusal", async () => {
    const cases: [PlanOptions, string][] = [
      [{ verify: () => false }, "the check did not pass"],
      [{ verify: () => Promise.reject(new Error("no disk")) }, "its check failed: no disk"],
      [
        { verify: () => new Promise(() => undefined), verifyTimeout: 20 },
        "its check did not finish within 0.02 s",
      ],
    ];
    for (const [options, reason] of cases) {
      const { texts } = await run([THREE, done("1"), "ok"], options);
      expect(texts[1]).toContain(reason);
    }
  });

  it("asks once per completion, also within one turn, with the state before it", async () => {
    const asked: string[] = [];
    const { texts, statuses } = await run([THREE, [done("1"), done("2"), done("3")], "ok"], {
      verify: (todo, { todos }) => {
        asked.push(`${todo.id}: ${todos.map((other) => other.status[0]).join("")}`);
        return todo.id !== "2";
      },
    });
    expect(asked).toEqual(["1: cip", "2: cci", "3: cic"]);
    expect(statuses).toEqual(["completed", "in_progress", "completed"]);
    expect(texts[2]).toContain("Item 2 is not accepted");
  });

  it("workWasDone wants a finished call to another tool since the item was started", async () => {
    const verify = workWasDone();
    const lazy = await run([THREE, done("1"), "ok"], { verify });
    expect(lazy.texts[1]).toContain("no call has finished that could be its work");
    const sameTurn = await run([THREE, [callTool("work"), done("1")], "ok"], { verify });
    expect(sameTurn.statuses[0]).toBe("in_progress");
    const honest = await run(
      [THREE, callTool("work"), [done("1"), callTool("work")], done("2"), done("3"), "ok"],
      {
        verify,
      },
    );
    expect(honest.statuses).toEqual(["completed", "completed", "in_progress"]);
    const invented = await run([THREE, callTool("no_such_tool"), done("1"), "ok"], { verify });
    expect(invented.statuses[0]).toBe("in_progress");
    for (const start of [
      [THREE, callTool("work")],
      [callTool("work"), THREE],
    ]) {
      const { statuses } = await run([start, done("1"), "ok"], { verify });
      expect(statuses[0]).toBe("completed");
    }
  });
});

describe("a refused completion", () => {
  const verify: Verifier = (todo) => todo.content !== "build" || "it does not compile";
  const REFUSED = "Item 2 is not accepted as completed: it does not compile.";

  it("leaves the rest of its call valid, and the result names the item and the reason", async () => {
    const call = callTool("update_todos", {
      done: "1,2",
      add: ["publish"],
      edit: [{ id: "3", note: "twice" }],
    });
    const { texts, statuses, todos } = await run([THREE, call, "ok"], { verify });
    expect(texts[1]).toBe(`1/4 done; now 2. Added 4.\n${REFUSED}`);
    expect(statuses).toEqual(["completed", "in_progress", "pending", "pending"]);
    expect(todos[2]?.note).toBe("twice");
  });

  it("starts and completes nothing that depends on it", async () => {
    const plan = callTool("write_todos", {
      todos: ["read", "build", { content: "check", after: [2] }, { content: "publish", after: [3] }, "tell"],
    });
    const call = callTool("update_todos", { done: "1,2,3", start: "4" });
    const { texts, statuses } = await run([plan, call, "ok"], { verify });
    expect(texts[1]).toBe(
      `1/5 done; now 2.\n${REFUSED}\nNote: 3 is not completed: it waits on 2. 4 is not in_progress: it waits on 3.`,
    );
    expect(statuses).toEqual(["completed", "in_progress", "pending", "pending", "pending"]);
  });

  it("keeps its place where only so many may be in progress", async () => {
    const call = callTool("update_todos", { done: "2", start: "3", cancel: "1" });
    const begin = callTool("update_todos", { start: "2", edit: [{ id: "1", status: "pending" }] });
    const { texts, statuses } = await run([THREE, begin, call, "ok"], { verify, maxInProgress: 1 });
    expect(texts[2]).toBe(
      `0/2 done; now 2.\n${REFUSED}\nNote: 3 is not started: at most 1 may be in_progress.`,
    );
    expect(statuses).toEqual(["cancelled", "in_progress", "pending"]);
  });

  it("starts the next item where something has to be in progress", async () => {
    const plan = callTool("write_todos", { todos: [{ content: "read", status: "in_progress" }, "build"] });
    const { statuses } = await run([plan, done("1,2"), "ok"], { verify, idle: "refuse" });
    expect(statuses).toEqual(["completed", "in_progress"]);
  });

  it("is an error when nothing of the call remains", async () => {
    const again = await run([THREE, done("1"), done("1,2"), "ok"], { verify });
    expect(again.texts[2]).toBe(`Error: ${REFUSED}\nThe plan is unchanged.`);
  });

  it("keeps its old status in a fully rewritten list, in every preset", async () => {
    const list = (first: string, second: string, third: string) => {
      const statuses = [first, second, third];
      return ["read", "build", "check"].map((content, at) => ({ content, status: statuses[at] }));
    };
    const before = list("in_progress", "pending", "pending");
    const after = list("completed", "completed", "in_progress");
    for (const preset of ["classic", "deerflow"] as const) {
      const steps = [callTool("write_todos", { todos: before }), callTool("write_todos", { todos: after })];
      const { texts, statuses } = await run([...steps, "ok"], { preset, verify });
      expect(statuses).toEqual(["completed", "pending", "in_progress"]);
      const echo = JSON.stringify(list("completed", "pending", "in_progress"));
      expect(texts[1]).toBe(`Updated todo list to ${echo}\n${REFUSED}`);
    }
    const items = (todos: typeof before) => ({
      items: todos.map(({ content, status }, at) => ({ id: String(at + 1), text: content, status })),
    });
    const running = items(list("completed", "in_progress", "pending"));
    const { texts, statuses } = await run([callTool("todo", running), callTool("todo", items(after)), "ok"], {
      preset: "checklist",
      verify,
    });
    expect(statuses).toEqual(["completed", "in_progress", "pending"]);
    expect(texts[1]).toBe(`Error: ${REFUSED}\nThe plan is unchanged.`);
  });

  it("does not make two reports refuse each other for ever", async () => {
    const { statuses } = await run(
      [
        [THREE, callTool("work")],
        [done("1,2"), callTool("work")],
        [done("1,3"), callTool("work")],
        done("2"),
        "ok",
      ],
      { verify: workWasDone() },
    );
    expect(statuses).toEqual(["completed", "completed", "completed"]);
  });
});

it("workWasDone judges an unstarted item by the work since the earliest start", async () => {
  const verify = workWasDone();
  const otherFirst = await run([[THREE, callTool("work")], done("3"), "ok"], { verify });
  expect(otherFirst.statuses).toEqual(["in_progress", "pending", "completed"]);
  const claimed = await run([[THREE, callTool("work")], done("1,2"), "ok"], { verify });
  expect(claimed.statuses).toEqual(["completed", "in_progress", "pending"]);
  const lazy = await run([THREE, done("2"), "ok"], { verify });
  for (const text of [claimed.texts[1], lazy.texts[1]]) {
    expect(text).toContain("Item 2 is not accepted as completed: no call has finished");
  }
});

it("workWasDone counts work on an item that the user started", async () => {
  const model = new ScriptedModel([THREE, "1", callTool("work"), done("3"), "2"]);
  const agent = createAgent({
    model,
    tools: [work],
    middleware: [planMiddleware({ verify: workWasDone(), reminders: false })],
    checkpointer: new MemorySaver(),
  });
  const config = { configurable: { thread_id: "t" } };
  const { todos } = await agent.invoke(go, config);
  const started = todos.map((todo) => (todo.id === "3" ? { ...todo, status: "in_progress" } : todo));
  await agent.graph.updateState(config, { todos: started });
  const result = await agent.invoke({ messages: [new HumanMessage("go on")] }, config);
  expect(result.todos[2]?.status).toBe("completed");
});

describe("actuals", () => {
  it("charges each item for its part of a turn: work after a report is the next item's", async () => {
    let clock = 1_000;
    const turn = (calls: ReturnType<typeof callTool>[], input: number, output: number): Step => {
      const tool_calls = calls.map((call, index) => ({
        ...call,
        id: `${input}-${index}`,
        type: "tool_call" as const,
      }));
      const usage_metadata = { input_tokens: input, output_tokens: output, total_tokens: input + output };
      return () => {
        clock += 500;
        return Object.assign(new AIMessage({ content: "", tool_calls }), { usage_metadata });
      };
    };
    const { todos } = await run(
      [
        turn([callTool("write_todos", { todos: ["read", "build"] }), callTool("work")], 100, 10),
        turn([callTool("work"), callTool("work")], 200, 20),
        turn([done("1"), callTool("work")], 300, 30),
        turn([done("2")], 400, 40),
        "ok",
      ],
      { now: () => clock },
    );
    expect(todos.map((todo) => todo.actuals)).toEqual([
      { startedAt: 1_500, elapsedMs: 641, modelCalls: 1, toolCalls: 3, inputTokens: 257, outputTokens: 25 },
      { startedAt: 2_500, elapsedMs: 929, modelCalls: 2, toolCalls: 1, inputTokens: 657, outputTokens: 66 },
    ]);
  });
});

describe("events", () => {
  const steps: Step[] = [THREE, done("1"), done("7"), "ok"];

  it("announces every accepted change on the custom stream and to the callback", async () => {
    const called: PlanChangeEvent[] = [];
    const agent = createAgent({
      model: new ScriptedModel(steps),
      middleware: [
        planMiddleware({
          verify: false,
          reminders: false,
          onPlanChange: (event) => void called.push(event),
          now: () => 5,
        }),
      ],
    });
    const streamed: PlanChangeEvent[] = [];
    for await (const chunk of await agent.stream(go, { streamMode: "custom" })) {
      if (isPlanChangeEvent(chunk)) streamed.push(chunk);
    }
    expect(streamed).toEqual(called);
    expect(streamed).toHaveLength(2);
    expect(streamed[1]).toMatchObject({
      type: "plan-change",
      version: 1,
      owner: "main",
      by: "model",
      at: 5,
      changes: [
        { type: "todo-status", id: "1", from: "in_progress", to: "completed" },
        { type: "todo-status", id: "2", from: "pending", to: "in_progress" },
      ],
      counts: { total: 3, completed: 1, in_progress: 1, pending: 1, blocked: 0, cancelled: 0 },
    });
    expect(streamed[1]!.todos.map((todo) => todo.status)).toEqual(["completed", "in_progress", "pending"]);
  });

  it("come from inside a sub-agent too, with its name", async () => {
    // A millisecond that an item takes would be news, too.
    const options = { verify: false, reminders: false, now: () => 5 } as const;
    const child = createAgent({
      model: new ScriptedModel(steps),
      middleware: [planMiddleware({ ...options, owner: "researcher" })],
    });
    const delegate = tool(
      async (_, config) => (await child.invoke(go, config as object)).messages.at(-1)!.text,
      {
        name: "delegate",
        description: "delegate",
        schema: z.object({}),
      },
    );
    const agent = createAgent({
      model: new ScriptedModel([callTool("write_todos", { todos: ["ask"] }), callTool("delegate"), "ok"]),
      tools: [delegate],
      middleware: [planMiddleware(options)],
    });
    const owners: string[] = [];
    for await (const chunk of await agent.stream(go, { streamMode: "custom", subgraphs: true })) {
      const [, event] = chunk;
      if (isPlanChangeEvent(event)) owners.push(event.owner);
    }
    expect(owners).toEqual(["main", "researcher", "researcher", "main"]);
  });

  it("does not let a broken callback disturb the run", async () => {
    const { statuses } = await run([THREE, done("1"), "ok"], {
      onPlanChange: () => {
        throw new Error("view broke");
      },
    });
    expect(statuses[0]).toBe("completed");
  });
});
