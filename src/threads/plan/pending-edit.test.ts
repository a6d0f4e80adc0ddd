import { MemorySaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { runGraph, taskInput } from "../../../test/helpers/models/run-thread.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import type { Ending } from "../events/ending.ts";
import type { RunEventBody } from "../events/events.ts";
import { createRunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS, type RunSettings } from "../prepare/settings.ts";
import type { Question } from "../questions/index.ts";
import { Thread } from "../thread/thread.ts";

const SETTINGS: RunSettings = { ...DEFAULT_SETTINGS, model: "scripted", ask: ["write_file"] };
const PLAN = callTool("write_todos", { todos: ["Dig", "Plant", "Water"] });
const ASK = callTool("ask_clarification", { question: "Which bed?" });
const WRITE = callTool("write_file", { file_path: "/a", content: "1" });
const task = (description: string, todo?: string) =>
  callTool("task", {
    description,
    subagent_type: "general-purpose",
    todo_id: todo,
  });

/** A thread that has run until it waits. */
async function waiting(steps: Step[], settings: Partial<RunSettings> = {}) {
  const model = new ScriptedModel(steps);
  const checkpointer = new MemorySaver();
  const events: RunEventBody[] = [];
  const agentWith = (more: Partial<RunSettings>) =>
    createRunAgent({ settings: { ...SETTINGS, ...more }, model, checkpointer });
  const run = (input: object | null, more: Partial<RunSettings>, words?: string): Promise<Ending> =>
    runGraph(input, {
      thread: new Thread(agentWith(more), "t"),
      model: { model, name: "scripted", source: "option" },
      emit: (event) => void events.push(event),
      signal: new AbortController().signal,
      answer: async ({ kind }: Question) =>
        kind === "permission" && words !== undefined ? { type: words } : words,
    });
  await run(taskInput("Go", {}), settings);
  const agent = agentWith({});
  return {
    model,
    events,
    questions: () => new Thread(agent, "t").questions(),
    resume: (words?: string) => run(null, {}, words),
    plan: async () =>
      (await new Thread(agent, "t").todos()).map(({ id, content, status }) => `${id} ${content} ${status}`),
    edit: async (fields: Record<string, object | undefined>, ...added: unknown[]) => {
      const todos = await new Thread(agent, "t").todos();
      const kept = todos.filter(({ id }) => !(id in fields) || fields[id] !== undefined);
      await new Thread(agent, "t").writePlan({
        todos: [...kept.map((todo) => ({ ...todo, ...fields[todo.id] })), ...added],
      });
    },
  };
}

const KELP = { "2": { content: "Plant kelp" } };
const NEWS = "The user changed";
const told = ({ requests }: ScriptedModel, at: number): string => JSON.stringify(requests[at]?.messages);

describe("a plan edited while a question is open", () => {
  it.each<[string, Step]>([
    ["alone", ASK],
    ["beside a call that has finished", [callTool("ls", { path: "/" }), ASK]],
  ])("keeps the question of a turn, %s, and the answer reaches the model", async (_where, turn) => {
    const { model, questions, edit, plan, resume } = await waiting([
      PLAN,
      turn,
      callTool("update_todos", { done: "1,2,3", note: "by hand" }),
      "Done.",
    ]);
    const before = await questions();
    await edit(KELP);
    expect(await plan()).toContain("2 Plant kelp pending");
    expect(await questions()).toEqual(before);
    expect(await resume("the left one")).toMatchObject({ outcome: "done", counts: { completed: 3 } });
    expect(told(model, 2)).toContain("The user answers: the left one");
    expect(told(model, 2)).toContain(NEWS);
    expect(told(model, 2)).toContain("Plant kelp");
    expect(await plan()).toContain("2 Plant kelp completed");
  });

  it("keeps the question about a tool", async () => {
    const { model, edit, resume, plan } = await waiting([
      PLAN,
      [WRITE, callTool("ls", { path: "/" })],
      callTool("update_todos", { done: "1,2,3", note: "by hand" }),
      "Done.",
    ]);
    await edit(KELP);
    expect(await resume("approve")).toMatchObject({ outcome: "done" });
    expect(told(model, 2)).toContain("Plant kelp");
    expect(await plan()).toContain("2 Plant kelp completed");
  });

  it("keeps the work and question of a sub-agent, next to a finished sub-agent", async () => {
    const { model, edit, resume, plan, events } = await waiting([
      PLAN,
      [task("Dig", "1"), task("Plant", "2")],
      callTool("ls", { path: "/" }),
      callTool("ls", { path: "/" }),
      "Dug.",
      WRITE,
      "Planted.",
      callTool("update_todos", { done: "3", note: "by hand" }),
      "Done.",
    ]);
    const made = model.requests.length;
    await edit({ "3": { content: "Water daily" } });
    expect((await plan())[2]).toBe("3 Water daily pending");
    expect(await resume("approve")).toMatchObject({ outcome: "done" });
    expect(await plan()).toEqual(["1 Dig completed", "2 Plant completed", "3 Water daily completed"]);
    expect(model.requests).toHaveLength(made + 3);
    expect(events.filter((event) => event.type === "tool-end" && event.name === "ls")).toHaveLength(2);
  });

  it("can be edited again", async () => {
    const { edit, plan, resume } = await waiting([
      PLAN,
      [callTool("ls", { path: "/" }), ASK],
      "Stop.",
      "Stop.",
      "Stop.",
    ]);
    await edit(KELP, "Harvest");
    await edit({ "1": undefined, "4": { content: "Harvest twice" } });
    expect((await plan()).map((line) => line.replace(/ \w+$/, ""))).toEqual([
      "2 Plant kelp",
      "3 Water",
      "4 Harvest twice",
    ]);
    await resume("the left one");
    expect((await plan()).map((line) => line.replace(/ \w+$/, ""))).toEqual([
      "2 Plant kelp",
      "3 Water",
      "4 Harvest twice",
    ]);
  });

  it("cannot be edited back to its earlier state, and the error says so", async () => {
    const { edit, plan, resume } = await waiting([PLAN, ASK, "Stop.", "Stop.", "Stop."]);
    await edit(KELP);
    await expect(edit({ "2": { content: "Plant" } })).rejects.toMatchObject({ code: "turn-unfinished" });
    await resume("the left one");
    expect((await plan())[1]).toContain("Plant kelp");
  });

  it("stays as it is when the edit is not valid, and so does the question", async () => {
    const { edit, plan, questions } = await waiting([PLAN, [callTool("ls", { path: "/" }), ASK]]);
    const before = await plan();
    await expect(edit({ "2": { dependsOn: ["9"] } })).rejects.toMatchObject({ code: "invalid-plan" });
    expect(await plan()).toEqual(before);
    expect(await questions()).toHaveLength(1);
  });

  it("is refused where the turn that waits would undo it, and nothing is lost", async () => {
    const { edit, plan, questions, resume } = await waiting([
      [callTool("write_todos", { todos: ["Dig", "Plant"] }), task("Dig", "1")],
      WRITE,
      "Dug.",
      "Stop.",
      "Stop.",
      "Stop.",
    ]);
    const before = await plan();
    await expect(edit({ "2": undefined })).rejects.toMatchObject({ code: "turn-unfinished" });
    expect(await plan()).toEqual(before);
    expect(await questions()).toHaveLength(1);
    await resume("approve");
    expect(await plan()).toEqual(["1 Dig completed", "2 Plant in_progress"]);
  });
});

it("a plan edit after a sub-agent ran out of turns lets the sub-agent continue", async () => {
  const { model, edit, plan, resume } = await waiting(
    [PLAN, task("Dig", "1"), callTool("ls", { path: "/" }), "Dug.", "Stop.", "Stop.", "Stop."],
    { maxTurns: 3 },
  );
  expect(model.requests).toHaveLength(3);
  await edit(KELP);
  await resume();
  expect(await plan()).toEqual([
    "1 Dig completed",
    expect.stringContaining("2 Plant kelp"),
    expect.stringContaining("3 Water"),
  ]);
  expect(told(model, 3)).toContain("(empty)");
});
