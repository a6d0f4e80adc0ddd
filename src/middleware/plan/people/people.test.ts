import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createAgent, createMiddleware, todoListMiddleware, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { HarnessError } from "../../../errors.ts";
import type { Todo } from "../../../plan/index.ts";
import { callTool, ScriptedModel, type Step } from "../../../testing/index.ts";
import { planMiddleware, readPlanState, rememberRemoved } from "../index.ts";
import type { PlanOptions } from "../options.ts";
import type { PlanApprovalRequest } from "./approval.ts";

const go = { messages: [new HumanMessage("go")] };
const config = { configurable: { thread_id: "t" } };
const THREE = callTool("write_todos", { todos: ["read", "build", "check"] });

/** What the run stopped to ask, if it did. */
function question(result: object): PlanApprovalRequest | undefined {
  const [asked] =
    (result as Record<string, { value: PlanApprovalRequest }[] | undefined>)["__interrupt__"] ?? [];
  return asked?.value;
}

function threadWith(steps: Step[], options: PlanOptions = {}) {
  let worked = 0;
  const work = tool(() => `worked ${++worked}`, { name: "work", description: "work", schema: z.object({}) });
  const model = new ScriptedModel(steps);
  const checkpointer = new MemorySaver();
  const open = () =>
    createAgent({
      model,
      tools: [work],
      middleware: [
        createMiddleware({ name: "other", afterModel: () => undefined }),
        planMiddleware({ verify: false, ...options }),
      ],
      checkpointer,
    });
  const agent = open();
  const todos = async (): Promise<Todo[]> => (await agent.graph.getState(config)).values.todos as Todo[];
  /** `elsewhere`: an agent that knows of the thread what is stored. */
  return { model, agent, elsewhere: open, todos, worked: () => worked };
}

describe("a user's plan change through updateState", () => {
  const lines = (todos: Todo[]): string[] => todos.map((todo) => `${todo.id} ${todo.content} ${todo.status}`);

  async function paused(options: PlanOptions = {}) {
    const thread = threadWith(
      [THREE, "1", "2", "3", callTool("update_todos", { done: "1" }), "4", "5", "6"],
      options,
    );
    await thread.agent.invoke(go, config);
    return thread;
  }

  it("is validated by the engine: a bad list gets a clear error and loses nothing", async () => {
    const { agent, todos } = await paused();
    const before = await todos();
    const bad: [unknown, string][] = [
      [[{ id: "1", content: "x", status: "nonsense" }], 'invalid status "nonsense"'],
      [[{ id: "1", content: "" }], "todos[0] has no content"],
      [[...before, { id: "2", content: "again", status: "pending" }], "the id 2 is used twice"],
      [
        [
          { ...before[0]!, dependsOn: ["2"] },
          { ...before[1]!, dependsOn: ["1"] },
        ],
        "in a circle: 1 -> 2 -> 1",
      ],
      [null, "todos must be a list of items; got null"],
      ["everything", 'todos must be a list of items; got "everything"'],
    ];
    for (const [todo, message] of bad) {
      const attempt = agent.graph.updateState(config, { todos: todo });
      await expect(attempt).rejects.toThrow(message);
      await expect(attempt).rejects.toBeInstanceOf(HarnessError);
      expect(await todos()).toEqual(before);
    }
  });

  it("is reported to the model once, and the next plan result shows the whole plan", async () => {
    const { agent, todos, model } = await paused();
    const [read, build, check] = (await todos()) as [Todo, Todo, Todo];
    await agent.graph.updateState(config, {
      todos: [
        { content: "ask the owner", status: "pending" },
        read,
        { ...check, content: "check twice", status: "blocked" },
      ],
    });
    expect(build.id).toBe("2");
    expect(lines(await todos())).toEqual([
      "4 ask the owner pending",
      "1 read in_progress",
      "3 check twice blocked",
    ]);
    await agent.invoke({ messages: [new HumanMessage("go on")] }, config);
    const [, , , , told, next] = model.requests;
    expect(told!.messages.at(-1)!.text).toBe(
      '<system_reminder>The user changed your plan: removed 2; added 4 "ask the owner" (pending); 3 has content "check twice"; 3 is now blocked.</system_reminder>',
    );
    expect(next!.messages.filter((message) => message.text.includes("The user changed"))).toEqual([]);
    expect(next!.messages.at(-1)!.text).toContain(
      "<plan>\n[>] 4: ask the owner\n[x] 1: read\n[!] 3: check twice\n</plan>",
    );
  });

  it("is reported with the words of removed items when the host has recorded them", async () => {
    const { agent, model } = await paused();
    const edit = async (change: (todos: readonly Todo[]) => readonly Todo[]) => {
      const plan = readPlanState((await agent.graph.getState(config)).values);
      const todos = change(plan.todos);
      await agent.graph.updateState(config, { todos, _plan: rememberRemoved(plan, todos) });
    };
    const [read, , check] = readPlanState((await agent.graph.getState(config)).values).todos;
    await edit(() => [read!]);
    await edit(() => [read!, check!]);
    await agent.invoke({ messages: [new HumanMessage("go on")] }, config);
    const last = model.requests[4]!.messages.at(-1)!;
    expect(last.text).toBe(
      '<system_reminder>The user changed your plan: removed 2 "build".</system_reminder>',
    );
    const { memory } = readPlanState((await agent.graph.getState(config)).values);
    expect(Object.values(memory.seen).join()).not.toContain("build");
  });

  it("shows the current plan in every request until the model's next plan call", async () => {
    const steps: Step[] = [
      THREE,
      "1",
      "2",
      "3",
      callTool("work"),
      callTool("work"),
      callTool("update_todos", { done: "4" }),
      "4",
    ];
    const { agent, model } = threadWith(steps);
    await agent.invoke(go, config);
    await agent.graph.updateState(config, { todos: [{ content: "write docs", status: "in_progress" }] });
    await agent.invoke({ messages: [new HumanMessage("go on")] }, config);
    for (const { messages } of model.requests.slice(4, 7))
      expect(messages.at(-1)!.text).toContain("write docs");
    expect(model.requests[7]!.messages.at(-1)!.text).toContain("1/1 done");
  });

  it("cannot be forged as changes", async () => {
    const { agent, todos } = await paused();
    const before = await todos();
    for (const changes of [
      5,
      [{ type: "todo-add", todo: { id: "1", content: "", status: "bogus" }, index: 0 }],
    ]) {
      await expect(agent.graph.updateState(config, { todos: { changes } })).rejects.toThrow(
        "must be a list of items",
      );
    }
    expect(await todos()).toEqual(before);
  });

  it("is reported when only the order changed", async () => {
    const { agent, todos, model } = await paused();
    await agent.graph.updateState(config, { todos: (await todos()).toReversed() });
    await agent.invoke({ messages: [new HumanMessage("go on")] }, config);
    expect(model.requests[4]!.messages.at(-1)!.text).toContain(
      "The user changed your plan: the order is 3, 2, 1.",
    );
  });

  it("may reopen completed items and clear their fields", async () => {
    const { agent, todos } = await paused();
    await agent.graph.updateState(config, {
      todos: [{ id: "1", content: "read", status: "completed", note: "x" }],
    });
    await agent.graph.updateState(config, { todos: [{ id: "1", content: "read", status: "pending" }] });
    expect((await todos()).map(({ id, content, status, note }) => ({ id, content, status, note }))).toEqual([
      { id: "1", content: "read", status: "pending", note: undefined },
    ]);
  });

  it("continues a thread that LangChain's middleware started with todos without ids", async () => {
    const checkpointer = new MemorySaver();
    const theirs = createAgent({
      model: new ScriptedModel([
        callTool("write_todos", {
          todos: ["read", "build"].map((content) => ({ content, status: "pending" })),
        }),
        "1",
      ]),
      middleware: [todoListMiddleware() as unknown as ReturnType<typeof planMiddleware>],
      checkpointer,
    });
    await theirs.invoke(go, config);
    const model = new ScriptedModel([callTool("update_todos", { done: "1,2" }), "2"]);
    const ours = createAgent({ model, middleware: [planMiddleware({ verify: false })], checkpointer });
    const { todos: after } = await ours.invoke({ messages: [new HumanMessage("go on")] }, config);
    expect(lines(after)).toEqual(["1 read completed", "2 build completed"]);
    expect(model.requests[0]!.messages.at(-1)!.text).toBe("go on");
  });

  it("shows the model a plan that the user wrote before the model had one", async () => {
    const { agent, model } = threadWith(["1", "2", "3"]);
    await agent.graph.updateState(
      config,
      { todos: [{ content: "read" }, { content: "build" }] },
      "model_request",
    );
    await agent.invoke(go, config);
    expect(model.requests[0]!.messages.at(-1)!.text).toContain("[ ] 1: read\n[ ] 2: build");
    expect(model.requests[0]!.messages.at(-1)!.text).not.toContain("The user changed");
  });
});

describe("approval", () => {
  const propose: Step = [THREE, callTool("work")];

  async function proposed(options: PlanOptions, after: Step[]) {
    const thread = threadWith([propose, ...after], { reminders: false, ...options });
    return { ...thread, request: question(await thread.agent.invoke(go, config)) };
  }

  it("stops before the plan takes effect and before any tool of the turn has run", async () => {
    const { request, todos, worked } = await proposed({ approval: "first" }, []);
    expect(await todos()).toEqual([]);
    expect(worked()).toBe(0);
    expect(request).toMatchObject({ type: "plan-approval", version: 1, owner: "main" });
    expect(request?.todos.map((todo) => todo.content)).toEqual(["read", "build", "check"]);
    expect(request?.action_requests).toEqual(request?.actionRequests);
    expect(request?.review_configs[0]).toEqual({
      action_name: "write_todos",
      allowed_decisions: ["approve", "edit", "reject"],
    });
    expect(request?.reviewConfigs[0]?.actionName).toBe("write_todos");
  });

  for (const decision of [
    { type: "approve" },
    "approve",
    true,
    { decisions: [{ type: "approve" }] },
    [{ type: "accept", args: null }],
  ]) {
    it(`continues after ${JSON.stringify(decision)}`, async () => {
      const { agent, todos, worked, model } = await proposed({ approval: "first" }, ["ok"]);
      await agent.invoke(new Command({ resume: decision }), config);
      expect((await todos()).map((todo) => todo.status)).toEqual(["in_progress", "pending", "pending"]);
      expect(worked()).toBe(1);
      expect(model.requests).toHaveLength(2);
    });
  }

  for (const decision of [
    { type: "edit", todos: [{ content: "read slowly" }] },
    {
      decisions: [
        {
          type: "edit",
          editedAction: { name: "write_todos", args: { todos: [{ content: "read slowly" }] } },
        },
      ],
    },
    {
      decisions: [
        {
          type: "edit",
          edited_action: { name: "write_todos", args: { todos: [{ content: "read slowly" }] } },
        },
      ],
    },
    [{ type: "edit", args: { action: "write_todos", args: { todos: [{ content: "read slowly" }] } } }],
  ]) {
    it(`takes an edited plan: ${JSON.stringify(decision).slice(0, 50)}`, async () => {
      const { agent, todos, worked, model } = await proposed({ approval: "first" }, ["ok"]);
      await agent.invoke(new Command({ resume: decision }), config);
      expect((await todos()).map((todo) => todo.content)).toEqual(["read slowly"]);
      expect(worked()).toBe(0);
      const reply = model.requests[1]!.messages.find(({ name }) => name === "write_todos")!;
      expect(reply.text).toMatch(
        /The user edited this plan before approving it\. Against yours: .*"read slowly"/,
      );
      expect(reply.text).toContain("[>] 1: read slowly");
      // The call stands as the model sent it.
      const { values } = await agent.graph.getState(config);
      for (const { messages } of [model.requests[1]!, values as { messages: BaseMessage[] }]) {
        const call = messages.find((message) => AIMessage.isInstance(message))!.tool_calls![0]!;
        expect(call.args).toEqual(THREE.args);
      }
    });
  }

  it("does not apply a rejected plan, runs no call of it, and tells the model why", async () => {
    const { agent, todos, worked, model } = await proposed({ approval: "first" }, ["As you wish."]);
    const { messages } = await agent.invoke(
      new Command({ resume: { type: "reject", reason: "too expensive" } }),
      config,
    );
    expect(await todos()).toEqual([]);
    expect(worked()).toBe(0);
    const replies = model.requests[1]!.messages.filter((message) => ToolMessage.isInstance(message));
    expect(replies.map((reply) => reply.text)).toEqual([
      "The user rejected this plan: too expensive. It was not applied.",
      "Not run: the user rejected the plan that was proposed in the same turn.",
    ]);
    expect(messages.at(-1)!.text).toBe("As you wish.");
  });

  it("asks again for other work only with always, and never for progress", async () => {
    const later: Step[] = [
      callTool("update_todos", { done: "1" }),
      callTool("update_todos", { add: ["publish"] }),
      "ok",
    ];
    const asked = async (approval: "first" | "always"): Promise<number> => {
      const { agent, model } = await proposed({ approval }, later);
      await agent.invoke(new Command({ resume: "approve" }), config);
      return model.requests.length;
    };
    expect(await asked("first")).toBe(4);
    expect(await asked("always")).toBe(3);
  });

  for (const [approval, where] of [
    ["first", "here"],
    ["always", "here"],
    ["first", "elsewhere"],
    ["always", "elsewhere"],
  ] as const) {
    it(`shows the turn's calls, and a plan edited ${where} holds them (${approval})`, async () => {
      const drop = callTool("work", { what: "delete old.md" }, "drop");
      const { agent, elsewhere, model, todos, worked } = threadWith([[THREE, drop], "ok"], {
        approval,
        reminders: false,
      });
      const request = question(await agent.invoke(go, config));
      expect(request?.calls).toEqual([{ name: "work", args: { what: "delete old.md" } }]);
      const edited = { type: "edit", todos: [{ content: "keep old.md" }] };
      await (where === "here" ? agent : elsewhere()).invoke(new Command({ resume: edited }), config);
      expect(worked()).toBe(0);
      expect((await todos()).map((todo) => todo.content)).toEqual(["keep old.md"]);
      const reply = model.requests.at(-1)!.messages.find((message) => {
        return (message as { tool_call_id?: string }).tool_call_id === "drop";
      });
      expect(reply?.text).toContain("Not run: the user edited the plan");
    });
  }

  it("holds back a call that has the id of the plan call", async () => {
    const { agent, todos, worked } = threadWith([[{ ...THREE, id: "1" }, callTool("work", {}, "1")], "ok"], {
      approval: "first",
      reminders: false,
    });
    await agent.invoke(go, config);
    await agent.invoke(
      new Command({ resume: { type: "edit", todos: [{ content: "keep old.md" }] } }),
      config,
    );
    expect(worked()).toBe(0);
    expect((await todos()).map((todo) => todo.content)).toEqual(["keep old.md"]);
  });

  it("is asked about all plan calls of a turn together", async () => {
    for (const second of [
      callTool("write_todos", { todos: ["evil 1", "evil 2"] }),
      callTool("update_todos", { add: ["evil"] }),
    ]) {
      const { agent, todos } = threadWith([[THREE, second, callTool("work")], "ok"], {
        approval: "first",
        reminders: false,
      });
      const request = question(await agent.invoke(go, config));
      expect(request?.todos.map((todo) => todo.content).join()).toContain("evil");
      const edited = { type: "edit", todos: [{ content: "good" }] };
      await agent.invoke(new Command({ resume: edited }), config);
      expect((await todos()).map((todo) => todo.content)).toEqual(["good"]);
    }
  });

  it("is requested again for the next plan after the first plan is finished", async () => {
    const { agent, todos } = threadWith(
      [
        THREE,
        callTool("update_todos", { done: "1,2,3" }),
        callTool("write_todos", { todos: ["next"] }),
        "ok",
      ],
      { approval: "first", reminders: false },
    );
    await agent.invoke(go, config);
    const request = question(await agent.invoke(new Command({ resume: "approve" }), config));
    expect(request?.todos.map((todo) => todo.content)).toEqual(["next"]);
    await agent.invoke(new Command({ resume: "approve" }), config);
    expect((await todos()).map((todo) => todo.content)).toEqual(["next"]);
  });

  it("is requested with `always` before a cancellation, and can reopen items", async () => {
    const { agent, todos } = threadWith(
      [THREE, callTool("update_todos", { done: "1" }), callTool("update_todos", { cancel: "2" }), "ok"],
      { approval: "always", reminders: false },
    );
    await agent.invoke(go, config);
    const request = question(await agent.invoke(new Command({ resume: "approve" }), config));
    expect(request?.changes).toContainEqual({
      type: "todo-status",
      id: "2",
      from: "in_progress",
      to: "cancelled",
    });
    const reopened = (await todos()).map((todo) => ({ ...todo, status: "pending" as const }));
    await agent.invoke(new Command({ resume: { type: "edit", todos: reopened } }), config);
    expect((await todos()).map((todo) => todo.status)).toEqual(["in_progress", "pending", "pending"]);
  });

  it("says that it needs a checkpointer where there is none", async () => {
    const agent = createAgent({
      model: new ScriptedModel([THREE]),
      middleware: [planMiddleware({ verify: false, approval: "first" })],
    });
    const error: unknown = await agent.invoke(go).catch((reason: unknown) => reason);
    expect(HarnessError.from(error)?.message).toContain("approval needs a checkpointer");
  });

  it("is requested again with the error when the decision or edited list is invalid", async () => {
    const { agent, todos } = await proposed({ approval: "first" }, ["ok"]);
    const answer = async (resume: unknown): Promise<string | undefined> =>
      question(await agent.invoke(new Command({ resume }), config))?.error;
    expect(await answer("hm")).toContain('Resume with {type:"approve"}');
    expect(await answer({ type: "edit", todos: [{ content: "read", status: "soon" }] })).toContain(
      'invalid status "soon"',
    );
    expect(await todos()).toEqual([]);
    expect(await answer({ type: "edit", todos: [{ content: "read twice" }] })).toBeUndefined();
    expect((await todos()).map((todo) => todo.content)).toEqual(["read twice"]);
  });
});
