import { HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { createAgent, createMiddleware, todoListMiddleware, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Todo } from "../../../plan/index.ts";
import { callTool, ScriptedModel, type Step } from "../../../testing/index.ts";
import { planMiddleware } from "../index.ts";
import type { PlanOptions } from "../options.ts";

/** No time passes: a turn that takes a millisecond more would change an item's figures, and be told. */
const still = (): number => 5;
const go = { messages: [new HumanMessage("go")] };
const config = { configurable: { thread_id: "t" } };
/** As if the process had been killed after the model's message, before the tool calls in it. */
const killed = { ...config, interruptBefore: ["tools" as const] };
const THREE = callTool("write_todos", { todos: ["read", "build", "check"] });
const done = (ids: string) => callTool("update_todos", { done: ids });
const docs = { content: "docs", status: "pending" };
const NEWS = "The user changed";

function threadWith(steps: Step[], options: PlanOptions = {}) {
  const model = new ScriptedModel(steps);
  const named = (name: string, run: () => string) =>
    tool(run, { name, description: name, schema: z.object({}) });
  const events: string[] = [];
  const onPlanChange: PlanOptions["onPlanChange"] = ({ by, changes, todos }) =>
    void events.push(`${by} ${changes.map(({ type }) => type).join()} of ${todos.length}`);
  const agent = createAgent({
    model,
    tools: [named("work", () => "worked"), named("ask", () => String(interrupt("sure?")))],
    middleware: [
      // With such a hook LangChain finds the calls that are still open when some of a turn have finished.
      createMiddleware({ name: "other", afterModel: () => undefined }),
      planMiddleware({ now: still, verify: false, reminders: { exit: false }, onPlanChange, ...options }),
    ],
    checkpointer: new MemorySaver(),
  });
  const todos = async (): Promise<Todo[]> => (await agent.graph.getState(config)).values.todos as Todo[];
  return {
    model,
    agent,
    events,
    lines: async () => (await todos()).map(({ id, content, status }) => `${id} ${content} ${status}`),
    edit: async (change: (todos: Todo[]) => unknown[]) =>
      agent.graph.updateState(config, { todos: change(await todos()) }),
    resume: (decision?: unknown) =>
      agent.invoke(decision === undefined ? (null as never) : new Command({ resume: decision }), config),
  };
}

/** A thread with a plan of three and a turn whose calls are waiting. */
async function waiting(turn: Step, after: Step[], options: PlanOptions = {}) {
  const thread = threadWith([THREE, turn, ...after], options);
  await thread.agent.invoke(go, killed);
  await thread.agent.invoke(null as never, killed);
  return thread;
}

const without = (id: string) => (todos: Todo[]) => todos.filter((todo) => todo.id !== id);
const set = (id: string, fields: Partial<Todo>) => (todos: Todo[]) =>
  todos.map((todo) => (todo.id === id ? { ...todo, ...fields } : todo));
const results = (messages: readonly BaseMessage[] = []): string[] =>
  messages.filter((message) => ToolMessage.isInstance(message)).map((message) => message.text);

/** How often the news stands in a request. */
const told = ({ requests }: ScriptedModel): number[] =>
  requests.map(({ messages }) => messages.filter(({ text }) => text.includes(NEWS)).length);

describe("a user's edit while plan calls are waiting", () => {
  it("is reported in the result of the call, which applies on top of the edit", async () => {
    const { model, edit, resume, lines } = await waiting(done("1"), [callTool("work"), "ok"]);
    await edit((todos) => [...set("2", { content: "build twice" })(todos), docs]);
    await resume();
    expect(await lines()).toEqual([
      "1 read completed",
      "2 build twice in_progress",
      "3 check pending",
      "4 docs pending",
    ]);
    expect(results(model.requests[2]!.messages)[1]).toBe(
      'The user changed the plan before this call: 2 has content "build twice"; added 4 "docs" (pending).\n' +
        "1/4 done; now 2.\n<plan>\n[x] 1: read\n[>] 2: build twice\n[ ] 3: check\n[ ] 4: docs\n</plan>",
    );
    // It stays in that result and is not said again.
    expect(told(model)).toEqual([0, 0, 1, 1]);
  });

  it("is reported with the refusal of a call that the edit made impossible", async () => {
    const { model, edit, resume, lines } = await waiting(done("2"), ["ok", "ok"]);
    await edit(without("2"));
    await resume();
    expect(await lines()).toEqual(["1 read in_progress", "3 check pending"]);
    const result = results(model.requests[2]!.messages)[1]!;
    expect(result).toContain("Error: done: there is no item 2; known ids: 1, 3.\nThe plan is unchanged.");
    expect(result).toContain("The user changed the plan before this call: removed 2.");
    expect(result).toContain("<plan>\n[>] 1: read\n[ ] 3: check\n</plan>");
    expect(told(model)).toEqual([0, 0, 1]);
  });

  it("is reported by the first of several calls, refused or not", async () => {
    for (const first of [done("1"), done("2")]) {
      const turn = [first, callTool("update_todos", { add: ["ship"] }), callTool("work")];
      const { model, edit, resume, lines } = await waiting(turn, [callTool("work"), "ok"]);
      await edit((todos) => [...without("2")(todos), docs]);
      await resume();
      expect((await lines()).slice(1)).toEqual([
        expect.stringContaining("3 check"),
        "4 docs pending",
        "5 ship pending",
      ]);
      const [, ofFirst, ofSecond] = results(model.requests[2]!.messages);
      expect(ofFirst).toContain(NEWS);
      expect(ofSecond).not.toContain(NEWS);
      expect(told(model)).toEqual([0, 0, 1, 1]);
    }
  });

  it("is reported even when the call undoes it", async () => {
    const list = (statuses: string[]) => ({
      todos: ["read", "build"].map((content, at) => ({ content, status: statuses[at] })),
    });
    const steps = [
      callTool("write_todos", list(["in_progress", "pending"])),
      callTool("write_todos", list(["completed", "in_progress"])),
      "ok",
    ];
    const thread = threadWith(steps, { preset: "classic" });
    await thread.agent.invoke(go, killed);
    await thread.agent.invoke(null as never, killed);
    await thread.edit((todos) => [...todos, docs]);
    await thread.resume();
    expect(await thread.lines()).toEqual(["1 read completed", "2 build in_progress"]);
    expect(results(thread.model.requests[2]!.messages)[1]).toMatch(
      /^The user changed the plan before this call: added 3 "docs" \(pending\)\.\nUpdated todo list to /,
    );
    expect(told(thread.model)).toEqual([0, 0, 1]);
  });

  it("is reported once with all other edits, and reaches watchers before the call", async () => {
    const { model, events, edit, resume } = await waiting(done("1"), ["ok"]);
    await edit(set("3", { priority: "high" }));
    await edit(without("2"));
    await resume();
    expect(results(model.requests[2]!.messages)[1]).toContain(
      'before this call: removed 2; 3 has content "check", priority "high".',
    );
    expect(events.slice(1)).toEqual([
      "person todo-remove,todo-edit of 2",
      "model todo-status,todo-status of 2",
    ]);
  });

  it("is reported when the edit is the first plan of the thread", async () => {
    const { model, agent, edit, resume, lines } = threadWith([THREE, "ok"]);
    await agent.invoke(go, killed);
    await edit(() => [docs]);
    await resume();
    expect(await lines()).toEqual([
      "2 read in_progress",
      "3 build pending",
      "4 check pending",
      "1 docs cancelled",
    ]);
    expect(results(model.requests[1]!.messages)[0]).toContain('before this call: added 1 "docs" (pending).');
    expect(told(model)).toEqual([0, 1]);
  });

  it("keeps the answer that follows from completing the last item", async () => {
    const turn = [done("1,2"), callTool("work")];
    const run = async (fields: Partial<Todo>): Promise<string | undefined> => {
      const { edit, resume, lines } = await waiting(turn, ["ok"]);
      await edit(set("3", fields));
      await resume();
      return (await lines())[2];
    };
    expect(await run({})).toBe("3 check completed");
    expect(await run({ content: "check twice" })).toBe("3 check twice in_progress");
  });

  it("is not reported when the options turn off reports of edits", async () => {
    const { model, edit, resume } = await waiting(done("1"), ["ok"], { reminders: false });
    await edit(without("2"));
    await resume();
    expect(results(model.requests[2]!.messages)[1]).toBe("1/2 done; now 3.");
  });

  it("is not what another middleware's plan looks like", async () => {
    const checkpointer = new MemorySaver();
    const items = ["read", "build"].map((content) => ({ content, status: "pending" }));
    const theirs = createAgent({
      model: new ScriptedModel([callTool("write_todos", { todos: items }), "1"]),
      middleware: [todoListMiddleware() as unknown as ReturnType<typeof planMiddleware>],
      checkpointer,
    });
    await theirs.invoke(go, config);
    const model = new ScriptedModel([done("1"), "2", "3", "4"]);
    const ours = createAgent({
      model,
      middleware: [planMiddleware({ now: still, verify: false })],
      checkpointer,
    });
    await ours.invoke({ messages: [new HumanMessage("go on")] }, config);
    expect(told(model)).toEqual([0, 0, 0, 0]);
  });
});

describe("a user's edit while no plan call is waiting", () => {
  it("is reported once in the next request when other calls were waiting", async () => {
    const { model, edit, resume } = await waiting(callTool("work"), [callTool("work"), "ok"]);
    await edit(without("2"));
    await resume();
    expect(model.requests[2]!.messages.at(-1)!.text).toContain("The user changed your plan: removed 2.");
    expect(told(model)).toEqual([0, 0, 1, 0]);
  });

  it("is reported in the next request when a question was open after a plan call", async () => {
    const { model, agent, edit, resume, lines } = threadWith([
      THREE,
      [done("1"), callTool("ask")],
      callTool("work"),
      "ok",
    ]);
    await agent.invoke(go, config);
    await edit(set("2", { status: "cancelled" }));
    await resume("yes");
    expect(await lines()).toEqual(["1 read completed", "2 build cancelled", "3 check pending"]);
    expect(results(model.requests[2]!.messages).slice(1)).toEqual(["1/3 done; now 2.", "yes"]);
    expect(model.requests[2]!.messages.at(-1)!.text).toContain(
      "The user changed your plan: 2 is now cancelled.",
    );
    expect(told(model)).toEqual([0, 0, 1, 0]);
  });
});

describe("a user's edit while the approval of a plan is open", () => {
  async function proposed() {
    const thread = threadWith([THREE, "ok"], { approval: "first" });
    await thread.agent.invoke(go, config);
    await thread.edit(() => [docs]);
    return thread;
  }

  it("is reported when the user approves the plan", async () => {
    const { model, resume, lines } = await proposed();
    await resume("approve");
    expect(await lines()).toEqual([
      "2 read in_progress",
      "3 build pending",
      "4 check pending",
      "1 docs cancelled",
    ]);
    expect(results(model.requests[1]!.messages)[0]).toContain('before this call: added 1 "docs" (pending).');
    expect(told(model)).toEqual([0, 1]);
  });

  it("does not make a rejection void", async () => {
    const { model, resume, lines } = await proposed();
    await resume({ type: "reject", reason: "mine is enough" });
    expect(await lines()).toEqual(["1 docs pending"]);
    expect(results(model.requests[1]!.messages)).toEqual([
      "The user rejected this plan: mine is enough. It was not applied.",
    ]);
    expect(model.requests[1]!.messages.at(-1)!.text).toContain("1: docs");
  });

  it("leads to the same question again when the run continues without an answer", async () => {
    const { resume, lines } = await proposed();
    expect(await resume()).toHaveProperty("__interrupt__");
    expect(await lines()).toEqual(["1 docs pending"]);
  });
});
