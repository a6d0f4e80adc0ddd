import { AIMessage } from "@langchain/core/messages";
import { MemorySaver, type BaseCheckpointSaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { taskInput } from "../../../test/helpers/models/run-thread.ts";
import { createDeepAgent } from "../../deep/index.ts";
import { sqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import type { RunEvent } from "../events/events.ts";
import { eventIn } from "../events/stream-events.ts";
import { threadOf } from "../log/thread.ts";
import { transcript } from "../log/transcript.ts";
import { createRunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../prepare/settings.ts";
import { runThread, RunEvents } from "../run/run-thread.ts";
import { Thread } from "../thread/thread.ts";
import { EMPTY_VIEW, reduce } from "../view/view.ts";
import { replay } from "./replay.ts";

const settings = { ...DEFAULT_SETTINGS, model: "scripted", ask: ["write_file"] };

/** Runs agents that are told apart by their task, and returns the events as they came and as they are read later. */
async function told(
  scripts: Record<string, Step[]>,
  checkpointer: BaseCheckpointSaver,
  /** Answers that are given first, once. */
  unsaid: Record<string, Step> = {},
): Promise<{ live: RunEvent[]; later: (until?: number) => Promise<RunEvent[]> }> {
  const step: Step = ({ messages }) => {
    const task = messages.find((message) => message.getType() === "human")!.text;
    const { [task]: first } = unsaid;
    delete unsaid[task];
    return first ?? scripts[task]![messages.filter((message) => message.getType() === "ai").length]!;
  };
  const model = new ScriptedModel([step], { loop: true });
  const agent = createRunAgent({ settings, model, checkpointer });
  const live: RunEvent[] = [];
  await runThread(taskInput("Go", { run: settings }), {
    thread: new Thread(agent, "t"),
    held: async () => {},
    model: { model, name: "scripted", source: "option" },
    events: new RunEvents("t", (event) => void live.push(event)),
    task: "Go",
    resumed: false,
    signal: new AbortController().signal,
    answer: async () => undefined,
  });
  const later = async (until?: number): Promise<RunEvent[]> => {
    const reader = createRunAgent({ settings, checkpointer });
    return replay(new Thread(reader, "t"), { until });
  };
  return { live, later };
}

/** What is to see of each agent at the end. */
function seen(events: readonly RunEvent[]) {
  const { agents, usage } = events.reduce(reduce, EMPTY_VIEW);
  const of = (owner: string) => events.filter((event) => "owner" in event && event.owner === owner);
  return [...agents.values()]
    .map(({ owner, name, todoId, ended, todos, usage: spent }) => ({
      owner,
      name,
      todoId,
      ended,
      spent,
      total: usage,
      plan: todos.map(({ content, status }) => `${content} ${status}`),
      said: of(owner).flatMap((event) => (event.type === "model-end" ? [event.text] : [])),
      calls: of(owner).flatMap((event) =>
        event.type === "tool-end" ? [`${event.name} ${event.about} ${event.ok} ${event.result}`] : [],
      ),
    }))
    .toSorted((a, b) => a.owner.localeCompare(b.owner));
}

const spending = (content: string, tokens: number): AIMessage => {
  const usage_metadata = { input_tokens: tokens, output_tokens: 1, total_tokens: tokens + 1 };
  return Object.assign(new AIMessage(content), { usage_metadata });
};
const plan = (content: string) => callTool("write_todos", { todos: [{ content, status: "in_progress" }] });
const job = (description: string, todo_id?: string) =>
  callTool("task", { description, subagent_type: "general-purpose", todo_id: todo_id || undefined });
const DONE = callTool("update_todos", { done: ["1"], note: "by hand" });

describe("a saved thread", () => {
  const TWO = {
    Go: [[plan("Look")], [job("North", "1"), job("South")], DONE, spending("Both are seen.", 100)],
    North: [plan("Look north"), DONE, spending("Ice.", 20)],
    South: [plan("Look south"), callTool("ls", { path: "/" }), DONE, spending("Penguins.", 3)],
  };

  it.each([
    ["SQLite", () => sqliteSaver(":memory:")],
    ["LangGraph's own checkpointer", async () => new MemorySaver()],
  ])("tells of each sub-agent its plan, calls, words and tokens, from %s", async (_name, saver) => {
    const { live, later } = await told(TWO, await saver());
    const again = await later();
    expect(seen(again)).toEqual(seen(live));
    expect(seen(again)).toHaveLength(3);
    expect(again.at(-1)).toMatchObject({ type: "run-end", usage: { inputTokens: 123, outputTokens: 3 } });
  });

  it("replays items that started with their plan and ended one by one", async () => {
    const scripts = {
      Go: [
        [
          callTool("write_todos", { todos: ["North", "South", "Tell"] }),
          job("North", "1"),
          job("South", "2"),
        ],
        "Both are seen.",
      ],
      North: [callTool("ls", { path: "/" }), callTool("ls", { path: "/a" }), "Ice."],
      South: [callTool("ls", { path: "/" }), "Penguins."],
    };
    const { later } = await told(scripts, await sqliteSaver(":memory:"));
    const plans = (await later()).flatMap((event) =>
      event.type === "plan-change" ? [event.todos.map(({ status }) => status[0]).join("")] : [],
    );
    expect(plans.slice(0, 3)).toEqual(["iip", "icp", "ccp"]);
    const { spans } = threadOf({ events: await later(), questions: [] });
    expect(spans.flatMap(({ kind, label }) => (kind === "item" ? label : []))).toEqual(
      expect.arrayContaining(["North", "South"]),
    );
  });

  it("replays only the new part of a repeated sub-agent, and an empty answer's cost", async () => {
    const again = { description: "And the width?", subagent_type: "general-purpose", again: "t1" };
    const scripts = {
      Go: [job("Depth"), callTool("task", again), spending("Both are known.", 100)],
      Depth: [callTool("ls", { path: "/" }), spending("4.", 20), spending("9.", 30)],
    };
    const { live, later } = await told(scripts, await sqliteSaver(":memory:"), { Depth: spending("", 7) });
    expect(seen(await later())).toEqual(seen(live));
    const { usage } = (await later()).at(-1) as Extract<RunEvent, { type: "run-end" }>;
    expect(usage).toMatchObject({ inputTokens: 157 });
  });

  it("tells it between the start and the end of the sub-agent, whose time is its own", async () => {
    const { later } = await told(TWO, await sqliteSaver(":memory:"));
    const events = await later();
    const ownerOf = (event: RunEvent) => ("owner" in event ? (event.owner ?? "main") : "main");
    const owners = new Set(events.map(ownerOf).filter((owner) => owner !== "main"));
    expect(owners.size).toBe(2);
    for (const owner of owners) {
      const own = events.filter((event) => ownerOf(event) === owner);
      expect(own[0]!.type).toBe("subagent-start");
      expect(own.at(-1)!.type).toBe("subagent-end");
      expect(own.map(({ at }) => at)).toEqual(own.map(({ at }) => at).toSorted((a, b) => a - b));
      expect(own.at(-1)!.at).toBe(own.at(-2)!.at);
    }
  });

  it("replays the work of a waiting sub-agent, and nothing later than requested", async () => {
    const write = callTool("write_file", { file_path: "/a.md", content: "a" });
    const { live, later } = await told(
      { Go: [job("North")], North: [plan("Write"), write] },
      await sqliteSaver(":memory:"),
    );
    const events = await later();
    const helper = (all: readonly RunEvent[]) => seen(all).find(({ owner }) => owner !== "main");
    expect(helper(events)).toEqual(helper(live));
    expect(helper(events)).toMatchObject({ plan: ["Write in_progress"], ended: false });
    expect(events.findLast(({ type }) => type === "question")).toMatchObject({
      call: { name: "write_file", args: { file_path: "/a.md", content: "a" } },
    });
    expect(events.at(-1)).toMatchObject({ type: "run-end", outcome: "waiting" });
    expect(helper(await later(0))).toMatchObject({ plan: [], said: [] });
  });
});

it("live and replayed events show an answer returned to the model, and the reason", async () => {
  const script = [plan("Look"), "All is seen.", callTool("ls", { path: "/" }), DONE, "Now it is."];
  const { live, later } = await told({ Go: script }, await sqliteSaver(":memory:"));
  for (const events of [live, await later()]) {
    const text = transcript(events);
    const places = [
      "All is seen.",
      "*Holdfast returned the answer: items of the plan are still open.*",
      "Now it is.",
    ];
    expect(places.map((words) => text.indexOf(words)).toSorted((a, b) => a - b)).toEqual(
      places.map((words) => text.indexOf(words)),
    );
    expect(places.every((words) => text.includes(words))).toBe(true);
  }
  // It is saved with the next answer, and has its own time.
  const timesIn = (events: readonly RunEvent[]): [said: number, askedAgain: number] => {
    const at = events.findIndex((event) => event.type === "model-end" && event.text === "All is seen.");
    const again = events.slice(at).find(({ type }) => type === "model-start")!;
    return [events[at]!.at, again.at];
  };
  const [said, askedAgain] = timesIn(live);
  for (const time of timesIn(await later())) {
    expect(time).toBeGreaterThanOrEqual(said);
    expect(time).toBeLessThanOrEqual(askedAgain);
  }
});

it.each([
  ["after the run", [plan("Look"), DONE, "Seen."]],
  [
    "while it waits",
    [plan("Look"), callTool("write_file", { file_path: "/a.md", content: "a" }), DONE, "Seen."],
  ],
] as const)("a plan that a client edited through the state, %s, is replayed", async (_name, script) => {
  const saver = await sqliteSaver(":memory:");
  const { later } = await told({ Go: [...script] }, saver);
  const { graph } = createRunAgent({ settings, checkpointer: saver });
  const config = { configurable: { thread_id: "t" } };
  const { todos } = (await graph.getState(config)).values as { todos: object[] };
  await graph.updateState(config, { todos: [...todos, { content: "Tell", status: "pending" }] });
  const events = await later();
  const { agents } = events.reduce(reduce, EMPTY_VIEW);
  expect(agents.get("main")!.todos.map(({ content }) => content)).toEqual(["Look", "Tell"]);
  const edits = events.filter((event) => event.type === "plan-change" && event.by === "person");
  expect(edits).toHaveLength(1);
});

it("a fork replays only its own work as its own", async () => {
  const checkpointer = new MemorySaver();
  const { graph } = createDeepAgent({
    model: new ScriptedModel([
      callTool("ls", { path: "/" }),
      callTool("task", { description: "Think", subagent_type: "thinker" }, "t"),
      "Thought.",
      "Done.",
    ]),
    plan: false,
    subagents: [{ name: "thinker", description: "thinks", fork: true }],
    checkpointer,
  });
  const config = { configurable: { thread_id: "t" } };
  await graph.invoke({ messages: [{ role: "user", content: "Go" }] } as never, config);
  const events = await replay(new Thread({ graph } as never, "t"));
  const said = events.flatMap((event) =>
    event.type === "model-end" && event.owner === "main/thinker:t" ? event.text : [],
  );
  expect(said).toEqual(["Thought."]);
});

it("a failed background sub-agent is replayed as failed; a refused call started none", async () => {
  const task = (description: string, more: object = {}) =>
    callTool("task", { description, subagent_type: "general-purpose", ...more });
  const { live, later } = await told(
    {
      Go: [
        [
          task("Break", { background: true }),
          callTool("task", { description: "Help", subagent_type: "nobody" }),
        ],
        callTool("background", { action: "wait" }),
        "Done.",
      ],
      Break: [new Error("no such model")],
    },
    new MemorySaver(),
  );
  const helpers = (events: readonly RunEvent[]) =>
    events.flatMap((event) => {
      if (event.type === "subagent-start") return [`${event.description} began`];
      return event.type === "subagent-end"
        ? [`ended ${event.ok} ${event.error?.includes("no such model")}`]
        : [];
    });
  expect(helpers(live)).toEqual(["Break began", "ended false true"]);
  expect(helpers(await later())).toEqual(helpers(live));
});

it("live and replayed events name a sub-agent's own model", async () => {
  const answer = { messages: [new AIMessage("Ice.")] };
  const scout = { name: "scout", description: "looks", runnable: { invoke: async () => answer } };
  const subagents = [
    { ...scout, model: "openai:small" },
    { ...scout, name: "other" },
  ];
  const task = (name: string) => callTool("task", { description: "Look", subagent_type: name });
  const model = new ScriptedModel([[task("scout"), task("other")], "Seen."]);
  const { graph } = createDeepAgent({ model, plan: false, subagents, checkpointer: new MemorySaver() });
  const go = { messages: [{ role: "user", content: "Go" }] };
  const options = { configurable: { thread_id: "t" }, streamMode: "custom" } as const;
  const live = [];
  for await (const chunk of await graph.stream(go as never, options)) live.push(eventIn(chunk) ?? []);
  const later = await replay(new Thread({ graph } as never, "t"));
  for (const events of [live.flat(), later]) {
    const starts = events.flatMap((event) =>
      event.type === "subagent-start" ? [`${event.name} ${event.model}`] : [],
    );
    expect(starts).toEqual(["scout openai:small", "other undefined"]);
  }
});
