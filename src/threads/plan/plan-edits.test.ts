import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { runGraph, taskInput, type RunGraphOptions } from "../../../test/helpers/models/run-thread.ts";
import type { Todo } from "../../plan/index.ts";
import { sqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import type { RunEventBody } from "../events/events.ts";
import { createRunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS, type RunSettings } from "../prepare/settings.ts";
import { Thread } from "../thread/thread.ts";
import type { PlanEdit } from "./merged-plan.ts";
import { PlanEdits } from "./plan-edits.ts";

const PLAN = callTool("write_todos", { todos: ["Dig", "Plant", "Water"] });
const LOOK = callTool("ls", { path: "/" });
const done = (ids: string) => callTool("update_todos", { done: ids, note: "by hand" });
const task = callTool("task", { description: "Dig", subagent_type: "general-purpose", todo_id: "1" });

/** A thread of which a script is run, with what the model does to submit edits on the way. */
async function thread(settings: Partial<RunSettings> = {}) {
  const edits = new PlanEdits();
  const events: RunEventBody[] = [];
  const outcomes: unknown[] = [];
  const controller = new AbortController();
  const saver = await sqliteSaver(":memory:");
  let agent: ReturnType<typeof createRunAgent>;
  const plan = () => new Thread(agent, "t").todos();
  const submit = (edit: PlanEdit): void => {
    void edits.submit(edit).then(
      (todos) => outcomes.push(todos.map(({ content, status }) => `${content} ${status}`)),
      (error: { code?: string }) => outcomes.push(error.code),
    );
  };
  /** Submits the plan with another text for an item, and goes on with the step. */
  const changing = (id: string, content: string, step: Step): Step => {
    return async () => {
      const base = await plan();
      submit({ base, todos: base.map((todo) => (todo.id === id ? { ...todo, content } : todo)) });
      return step;
    };
  };
  const run = async (steps: Step[], more: Partial<RunGraphOptions> = {}) => {
    const model = new ScriptedModel(steps);
    agent = createRunAgent({
      settings: { ...DEFAULT_SETTINGS, model: "scripted", ...settings },
      model,
      checkpointer: saver,
    });
    const end = await runGraph(taskInput("Go", {}), {
      thread: new Thread(agent, "t"),
      model: { model, name: "scripted", source: "option" },
      emit: (event) => void events.push(event),
      signal: controller.signal,
      answer: () => Promise.resolve(undefined),
      edits,
      ...more,
    });
    return { end, model };
  };
  const messages = async (): Promise<BaseMessage[]> => {
    const { values } = await agent.graph.getState({ configurable: { thread_id: "t" } });
    return (values as { messages: BaseMessage[] }).messages;
  };
  return { edits, events, outcomes, controller, plan, submit, changing, run, messages };
}

const kinds = (messages: BaseMessage[]): string =>
  messages
    .map((message) =>
      AIMessage.isInstance(message)
        ? `ai${message.tool_calls?.length ? message.tool_calls.length : ""}`
        : message.getType(),
    )
    .join(" ");
const said = (model: ScriptedModel, at: number): string => JSON.stringify(model.requests[at]?.messages);
const byPerson = (events: RunEventBody[]) =>
  events.filter((event) => event.type === "plan-change" && event.by === "person");

describe("an edit of a plan that runs", () => {
  it("is made before the turn's tools; the model reads it next, and watchers once", async () => {
    const { run, changing, outcomes, events, messages } = await thread();
    const { end, model } = await run([
      PLAN,
      changing("3", "Water daily", [LOOK, done("1")]),
      LOOK,
      done("2,3"),
      "Done.",
    ]);
    expect(end).toMatchObject({ outcome: "done", counts: { completed: 3 } });
    expect(outcomes).toEqual([["Dig in_progress", "Plant pending", "Water daily pending"]]);
    expect(said(model, 1)).not.toContain("Water daily");
    expect(said(model, 2)).toContain("The user changed");
    expect(said(model, 2)).toContain("Water daily");
    expect(kinds(await messages())).toBe("human ai1 tool ai2 tool tool ai1 tool ai1 tool ai");
    expect(byPerson(events)).toMatchObject([{ changes: [{ id: "3", set: { content: "Water daily" } }] }]);
    expect(events.filter(({ type }) => type === "tool-start")).toHaveLength(5);
  });

  it("waits for a working sub-agent and does not stop the sub-agent", async () => {
    const { run, changing, outcomes, events, messages } = await thread();
    const { end, model } = await run([
      PLAN,
      [task, LOOK],
      changing("3", "Water daily", LOOK),
      LOOK,
      "Dug.",
      done("2,3"),
      "Done.",
    ]);
    expect(end).toMatchObject({ outcome: "done" });
    expect(outcomes).toEqual([["Dig completed", "Plant in_progress", "Water daily pending"]]);
    expect(events.filter(({ type }) => type === "subagent-start")).toHaveLength(1);
    expect(said(model, 5)).toContain("Water daily");
    expect(kinds(await messages())).toBe("human ai1 tool ai2 tool tool ai1 tool ai");
  });

  it("can be followed at once by other edits, each on top of the one before", async () => {
    const { run, plan, submit, outcomes } = await thread();
    const { end } = await run([
      PLAN,
      async () => {
        const base = await plan();
        submit({ base, todos: base.with(1, { ...base[1]!, content: "Plant kelp" }) });
        submit({ base, todos: [...base, "Weed"] });
        submit({ base, todos: base.with(1, { ...base[1]!, content: "Plant moss" }) });
        return LOOK;
      },
      done("1,2,3,4"),
      "Done.",
    ]);
    expect(end).toMatchObject({ outcome: "done", counts: { completed: 4 } });
    expect(outcomes[0]).toContain("Plant kelp pending");
    expect(outcomes[1]).toHaveLength(4);
    expect(outcomes[2]).toBe("plan-conflict");
  });

  it("can undo the edit before it, though only a step later", async () => {
    const { run, plan, submit, outcomes } = await thread();
    let base: Todo[] = [];
    await run([
      PLAN,
      async () => {
        base = await plan();
        const kelp = base.with(1, { ...base[1]!, content: "Plant kelp" });
        submit({ base, todos: kelp });
        submit({ base: kelp, todos: base });
        return LOOK;
      },
      done("1,2,3"),
      "Done.",
    ]);
    expect(outcomes).toEqual([
      ["Dig in_progress", "Plant kelp pending", "Water pending"],
      ["Dig in_progress", "Plant pending", "Water pending"],
    ]);
  });

  it("is made at once while the run waits for an answer, and keeps the question", async () => {
    const { run, edits, plan } = await thread();
    const ask = callTool("ask_clarification", { question: "Which bed?" });
    const made: string[][] = [];
    const { end, model } = await run([PLAN, [LOOK, ask], done("1,2,3"), "Done."], {
      answer: async () => {
        const base = await plan();
        const todos = await edits.submit({
          base,
          todos: base.with(2, { ...base[2]!, content: "Water daily" }),
        });
        made.push(todos.map(({ content }) => content));
        return "the left one";
      },
    });
    expect(made).toEqual([["Dig", "Plant", "Water daily"]]);
    expect(said(model, 2)).toContain("The user answers: the left one");
    expect(said(model, 2)).toContain("Water daily");
    expect(end).toMatchObject({ outcome: "done" });
  });

  it.each([0, 1, 3, 10, 30, 100])(
    "does not lose the answer that resumes the run (%s ticks after the answer)",
    async (ticks) => {
      const { run, submit, plan, outcomes } = await thread();
      const ask = callTool("ask_clarification", { question: "Which bed?" });
      const { end, model } = await run([PLAN, [LOOK, ask], LOOK, done("1,2,3"), "Done."], {
        answer: async () => {
          const base = await plan();
          void (async () => {
            for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
            submit({ base, todos: base.with(2, { ...base[2]!, content: "Water daily" }) });
          })();
          return "the left one";
        },
      });
      expect(said(model, 2)).toContain("The user answers: the left one");
      expect(end).toMatchObject({ outcome: "done" });
      expect(outcomes).toEqual([["Dig in_progress", "Plant pending", "Water daily pending"]]);
      expect((await plan())[2]).toMatchObject({ content: "Water daily", status: "completed" });
    },
  );
});

describe("an edit that comes when a run ends", () => {
  it("is made right after the end", async () => {
    const { run, changing, outcomes, plan } = await thread();
    const { end } = await run([PLAN, done("1,2"), changing("3", "Water daily", "Stop."), "Stop.", "Stop."]);
    expect(end).toMatchObject({ outcome: "open" });
    expect(outcomes).toEqual([["Dig completed", "Plant completed", "Water daily in_progress"]]);
    expect((await plan())[2]).toMatchObject({ content: "Water daily" });
  });

  it("is made when the run is stopped while the edit waits for its step", async () => {
    const { run, changing, outcomes, controller, messages, plan } = await thread();
    const { end } = await run([
      PLAN,
      [task, LOOK],
      changing("3", "Water daily", () => {
        controller.abort();
        return LOOK;
      }),
    ]);
    expect(end).toMatchObject({ outcome: "interrupted" });
    expect(outcomes).toEqual([["Dig in_progress", "Plant pending", "Water daily pending"]]);
    expect((await plan())[2]).toMatchObject({ content: "Water daily" });
    expect((await messages()).filter((message) => ToolMessage.isInstance(message))).not.toHaveLength(0);
  });

  it("is made when the run fails", async () => {
    const { run, changing, outcomes } = await thread();
    const { end } = await run([PLAN, changing("3", "Water daily", new Error("no"))]);
    expect(end).toMatchObject({ outcome: "failed" });
    expect(outcomes).toEqual([["Dig in_progress", "Plant pending", "Water daily pending"]]);
  });

  it("is refused after it", async () => {
    const { run, edits } = await thread();
    await run(["Done."]);
    await expect(edits.submit({ todos: ["Dig"] })).rejects.toMatchObject({ code: "run-ended" });
  });

  it("is made first when it came before the run started", async () => {
    const { run, submit, outcomes } = await thread();
    submit({ todos: ["Dig"] });
    const { model } = await run([done("1"), "Done."]);
    expect(outcomes).toEqual([["Dig pending"]]);
    expect(said(model, 0)).toContain("Dig");
  });
});

it("no edit is made while a plan waits for approval", async () => {
  const { run, edits, outcomes, submit } = await thread({ approve: "first" });
  await run([PLAN, done("1,2,3"), "Done."], {
    answer: async () => {
      submit({ todos: ["Weed"] });
      await edits.settle();
      return { type: "approve" };
    },
  });
  expect(outcomes).toEqual(["invalid-options"]);
});
