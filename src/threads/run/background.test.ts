import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { runGraph, taskInput, type RunGraphOptions } from "../../../test/helpers/models/run-thread.ts";
import { callTool, ScriptedModel, type ModelRequestRecord, type Step } from "../../testing/index.ts";
import type { RunEventBody } from "../events/events.ts";
import { PlanEdits } from "../plan/plan-edits.ts";
import { createRunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS, type RunSettings } from "../prepare/settings.ts";
import { replay } from "../record/replay.ts";
import { Thread } from "../thread/thread.ts";

const SETTINGS: RunSettings = { ...DEFAULT_SETTINGS, model: "scripted", background: true };
const OWNER = "main/Count the leaks:t";
const JOB = "Count the leaks";

type Says = (request: ModelRequestRecord) => Step | Promise<Step>;

/** A thread whose agent hands a job to the background; both have one model, so it looks at who asks. */
function threadOf({ main, helper }: { main: Says; helper: Says }) {
  const checkpointer = new MemorySaver();
  const events: RunEventBody[] = [];
  const isHelper = (messages: BaseMessage[]) => messages.some(({ text }) => text === JOB);
  const build = (settings: Partial<RunSettings>) => {
    const says: Says = (request) => (isHelper(request.messages) ? helper : main)(request);
    const model = new ScriptedModel([says], { loop: true });
    return { model, agent: createRunAgent({ settings: { ...SETTINGS, ...settings }, model, checkpointer }) };
  };
  return {
    events,
    run: async (
      input: string | null,
      { settings = {}, ...more }: Partial<RunGraphOptions> & { settings?: Partial<RunSettings> } = {},
    ) => {
      const { model, agent } = build(settings);
      return runGraph(input === null ? null : taskInput(input, {}), {
        thread: new Thread(agent, "t"),
        model: { model, name: "scripted", source: "option" },
        emit: (event) => void events.push(event),
        signal: new AbortController().signal,
        answer: () => Promise.resolve(undefined),
        ...more,
      });
    },
    told: async () => {
      return replay(new Thread(build({}).agent, "t"));
    },
  };
}

const start = callTool(
  "task",
  { description: JOB, subagent_type: "general-purpose", background: true, todo_id: "1" },
  "t",
);
const texts = (messages: BaseMessage[]) => messages.map(({ text }) => text);
const hasReport = ({ messages }: ModelRequestRecord) =>
  texts(messages).some((one) => one.includes("3 leaks."));
const said = ({ messages }: ModelRequestRecord) => messages.filter((one) => AIMessage.isInstance(one)).length;
const plan = callTool("write_todos", { todos: ["Count"] });
const calling: Says = (request) =>
  said(request) === 0 ? [plan, start] : hasReport(request) ? "Told." : "Waiting.";
const working: Says = (request) =>
  said(request) === 0 ? callTool("write_file", { file_path: "/a", content: "x" }, "w") : "Found 3 leaks.";

const about = (events: readonly RunEventBody[], type: RunEventBody["type"]) =>
  events.filter((event) => event.type === type && "owner" in event && event.owner === OWNER);

describe("a run with a sub-agent in the background", () => {
  it("shows it like any other, live and afterwards, and ends when it has ended", async () => {
    const { run, events, told } = threadOf({ main: calling, helper: working });
    expect(await run("Go")).toMatchObject({ outcome: "done", answer: "Told.", counts: { completed: 1 } });
    for (const list of [events, await told()]) {
      expect(about(list, "subagent-start")).toHaveLength(1);
      expect(about(list, "subagent-end")).toHaveLength(1);
      expect(about(list, "model-end")).toHaveLength(2);
      expect(about(list, "tool-end")).toHaveLength(1);
      const [begun, ended, over] = [
        list.findIndex(({ type }) => type === "subagent-start"),
        list.findIndex(({ type }) => type === "subagent-end"),
        list.findLastIndex((event) => event.type === "model-end" && event.owner === "main"),
      ];
      expect(begun).toBeLessThan(ended);
      expect(ended).toBeLessThan(over);
    }
  });

  it("asks the sub-agent's question, and continues with the answer in another run", async () => {
    const { run, events } = threadOf({ main: calling, helper: working });
    const settings = { ask: ["write_file"] };
    expect(await run("Go", { settings })).toMatchObject({ outcome: "waiting" });
    expect(events.find(({ type }) => type === "question")).toMatchObject({
      owner: OWNER,
      kind: "permission",
    });
    const approve = { settings, answer: () => Promise.resolve({ type: "approve" }) };
    expect(await run(null, approve)).toMatchObject({ outcome: "done", answer: "Told." });
    expect(about(events, "tool-end")).toHaveLength(1);
  });

  it("stops at its turn limit with the sub-agent, and later continues with both", async () => {
    const { run } = threadOf({ main: calling, helper: working });
    const stopped = await run("Go", { settings: { maxTurns: 2 } });
    expect(stopped).toMatchObject({ outcome: "open", reason: "turn-limit" });
    expect(await run(null)).toMatchObject({ outcome: "done", answer: "Told." });
  });

  it("stops the sub-agent on cancel, and leaves nothing of it running", async () => {
    const controller = new AbortController();
    let [isCut, asked] = [true, 0];
    const helper: Says = (request) => {
      if (said(request) === 0 || !isCut) return working(request);
      asked += 1;
      controller.abort();
      return new Promise<Step>(() => {});
    };
    const { run, events } = threadOf({
      main: (request) => (isCut && said(request) > 0 ? new Promise<Step>(() => {}) : calling(request)),
      helper,
    });
    expect(await run("Go", { signal: controller.signal })).toMatchObject({ outcome: "interrupted" });
    isCut = false;
    expect(await run(null)).toMatchObject({ outcome: "done", answer: "Told." });
    expect(asked).toBe(1);
    expect(about(events, "tool-end")).toHaveLength(1);
  });

  it("lets the sub-agent continue while the user changes the plan, and shows its end", async () => {
    const edits = new PlanEdits();
    let isEdited = false;
    let opened = (): void => {};
    const edited = new Promise<void>((resolve) => {
      opened = resolve;
    });
    const { run, events } = threadOf({
      main: async (request) => {
        if (said(request) !== 1 || isEdited) return calling(request);
        isEdited = true;
        const todos = [{ id: "1", content: "Count", status: "in_progress" }, { content: "Tell" }];
        void edits.submit({ todos }).then(opened);
        return callTool("ls", { path: "/" });
      },
      helper: async (request) => (said(request) > 0 ? (await edited, working(request)) : working(request)),
    });
    const end = await run("Go", { edits });
    expect(about(events, "subagent-end")).toHaveLength(1);
    expect(about(events, "model-end")).toHaveLength(2);
    expect(end.counts.total).toBe(2);
  });
});
