import { MemorySaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { runGraph, taskInput, type RunGraphOptions } from "../../../test/helpers/models/run-thread.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import type { Ending } from "../events/ending.ts";
import type { RunEventBody } from "../events/events.ts";
import { createRunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS, type RunSettings } from "../prepare/settings.ts";
import { Thread } from "../thread/thread.ts";

const SETTINGS: RunSettings = { ...DEFAULT_SETTINGS, model: "scripted" };

/** A thread that several processes run one after the other. */
function threadOf() {
  const checkpointer = new MemorySaver();
  const events: RunEventBody[] = [];
  return {
    events,
    run: async (
      steps: Step[],
      settings: Partial<RunSettings> = {},
      answer: RunGraphOptions["answer"] = () => Promise.resolve(undefined),
    ): Promise<Ending & { model: ScriptedModel }> => {
      const model = new ScriptedModel(steps);
      const agent = createRunAgent({ settings: { ...SETTINGS, ...settings }, model, checkpointer });
      const { next } = await agent.graph.getState({ configurable: { thread_id: "t" } });
      const end = await runGraph(next.length > 0 ? null : taskInput("Go", {}), {
        thread: new Thread(agent, "t"),
        model: { model, name: "scripted", source: "option" },
        emit: (event) => void events.push(event),
        signal: new AbortController().signal,
        answer,
      });
      return { ...end, model };
    },
    plan: async () => {
      const agent = createRunAgent({ settings: SETTINGS, checkpointer });
      const todos = await new Thread(agent, "t").todos();
      return todos.map(({ id, status }) => `${id} ${status}`);
    },
    questions: async () => new Thread(createRunAgent({ settings: SETTINGS, checkpointer }), "t").questions(),
  };
}

const delegate = (todo?: string) =>
  callTool("task", {
    description: "Look around",
    subagent_type: "general-purpose",
    todo_id: todo,
  });
const look = (path: string) => callTool("ls", { path });
const write = (path: string) => callTool("write_file", { file_path: path, content: path });

describe("a limit of turns", () => {
  it("ends the main agent with a message, and the run is open", async () => {
    const { run } = threadOf();
    const { model, ...end } = await run([look("/a"), look("/b"), "Never said."], { maxTurns: 2 });
    const answer = "Stopped after 2 turns, as asked.";
    expect(end).toMatchObject({ outcome: "open", reason: "turn-limit", answer });
    expect(model.requests).toHaveLength(2);
  });

  it("counts the turns of sub-agents, and loses none of their work", async () => {
    const { run, plan, events, questions } = threadOf();
    const stopped = await run(
      [
        [callTool("write_todos", { todos: ["Look", "Tell"] }), delegate("1")],
        write("/a"),
        write("/b"),
        "Never said.",
      ],
      { maxTurns: 3 },
    );
    const answer = "Stopped after 3 turns, as asked.";
    expect(stopped).toMatchObject({ outcome: "open", reason: "turn-limit", answer });
    expect(stopped.model.requests).toHaveLength(3);
    expect(await questions()).toEqual([]);
    expect(events.some(({ type }) => type === "question" || type === "subagent-end")).toBe(false);
    expect(await plan()).not.toContain("1 completed");

    const resumed = await run([
      "Both written.",
      callTool("update_todos", { done: "2", note: "by hand" }),
      "Done.",
    ]);
    expect(resumed).toMatchObject({ outcome: "done", answer: "Done." });
    const [inSubagent, inMain] = resumed.model.requests.map(({ messages }) => JSON.stringify(messages));
    expect(inSubagent).toContain("/a");
    expect(inSubagent).toContain("/b");
    expect(inMain).toContain("Both written.");
    expect(events.filter((event) => event.type === "tool-end" && event.name === "write_file")).toHaveLength(
      2,
    );
    expect(await plan()).toEqual(["1 completed", "2 completed"]);
  });

  it("is one for sub-agents that work side by side", async () => {
    const { run } = threadOf();
    const turns: Step[] = Array.from({ length: 20 }, (_, at) => look(`/${at}`));
    const stopped = await run([[delegate(), delegate(), delegate()], ...turns], { maxTurns: 8 });
    expect(stopped.model.requests).toHaveLength(8);
    expect(stopped.outcome).toBe("open");
    const again = await run(turns, { maxTurns: 4 });
    expect(again.model.requests).toHaveLength(4);
    const last = await run(["One.", "Two.", "Three.", "Done."]);
    expect(last).toMatchObject({ outcome: "done", answer: "Done." });
  });

  it("stops also where a question was answered on the way", async () => {
    const { run } = threadOf();
    const stopped = await run(
      [delegate(), write("/a"), look("/b"), "Never said."],
      { maxTurns: 3, ask: ["write_file"] },
      () => Promise.resolve({ type: "approve" }),
    );
    expect(stopped).toMatchObject({ outcome: "open", answer: "Stopped after 3 turns, as asked." });
    expect(stopped.model.requests).toHaveLength(3);
    expect(await run(["Seen.", "Done."])).toMatchObject({ outcome: "done", answer: "Done." });
  });

  it("is each run's own, also when they run at the same time", async () => {
    const runs = await Promise.all(
      [2, 4].map((maxTurns) =>
        threadOf().run([delegate(), look("/a"), look("/b"), look("/c"), look("/d")], { maxTurns }),
      ),
    );
    expect(runs.map(({ model }) => model.requests.length)).toEqual([2, 4]);
  });
});

it("a sub-agent that repeats itself is stopped, and the main agent continues", async () => {
  const { run } = threadOf();
  const same: Step[] = Array.from({ length: 5 }, () => look("/"));
  const { model, ...end } = await run([delegate(), ...same, "It got stuck."]);
  expect(end).toMatchObject({ outcome: "done", answer: "It got stuck." });
  expect(model.requests).toHaveLength(7);
  expect(JSON.stringify(model.requests[5]!.messages)).toContain("the same tool calls 4 times");
  expect(model.requests.at(-1)!.messages.at(-1)!.text).toContain("I stopped because I was repeating myself");
});
