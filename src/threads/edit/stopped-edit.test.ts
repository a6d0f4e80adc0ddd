import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { runGraph, taskInput } from "../../../test/helpers/models/run-thread.ts";
import { rounds } from "../../../test/helpers/runner/rounds.ts";
import { sqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type ModelRequestRecord, type Step } from "../../testing/index.ts";
import type { Ending } from "../events/ending.ts";
import type { RunEventBody } from "../events/events.ts";
import { createRunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../prepare/settings.ts";
import { Thread } from "../thread/thread.ts";

const file = (path: string) => callTool("write_file", { file_path: path, content: path });
const task = (todo: string) =>
  callTool("task", { description: `Do ${todo}`, subagent_type: "general-purpose", todo_id: todo });

/** The agents' answers, by the number of earlier ones: a stopped call is answered the same way again. */
const MAIN: Step[] = [
  callTool("write_todos", { todos: ["Dig", "Plant", "Water"] }),
  [file("/a"), task("1"), callTool("ls", { path: "/" })],
  [callTool("update_todos", { add: ["Weed"] }), file("/b"), task("2")],
  [file("/c"), file("/d")],
  callTool("update_todos", { done: "3,4", note: "by hand" }),
  "Done.",
];
const HELPER: Step[] = [file("/h"), callTool("ls", { path: "/" }), "Helped."];

const isMain = ({ tools }: ModelRequestRecord): boolean => JSON.stringify(tools).includes('"task"');
const answer: Step = (request) => {
  const script = isMain(request) ? MAIN : HELPER;
  return script[request.messages.filter((message) => AIMessage.isInstance(message)).length]!;
};

it("a run stopped anywhere and edited repeats no call, and the model reads the edit", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 6, max: 45 }), async (stopAt) => {
      const model = new ScriptedModel([answer], { loop: true });
      const saver = await sqliteSaver(":memory:");
      const agent = createRunAgent({
        settings: { ...DEFAULT_SETTINGS, model: "scripted" },
        model,
        checkpointer: saver,
      });
      const run = async (input: object | null, at: number): Promise<[Ending, RunEventBody[]]> => {
        const events: RunEventBody[] = [];
        const controller = new AbortController();
        const end = await runGraph(input, {
          thread: new Thread(agent, "t"),
          model: { model, name: "scripted", source: "option" },
          emit: (event) => {
            events.push(event);
            if (events.length === at) controller.abort();
          },
          signal: controller.signal,
          answer: () => Promise.resolve(undefined),
        });
        return [end, events];
      };
      const messages = async (): Promise<BaseMessage[]> => {
        const { values } = await agent.graph.getState({ configurable: { thread_id: "t" } });
        return (values as { messages?: BaseMessage[] }).messages ?? [];
      };

      const [first] = await run(taskInput("Go", {}), stopAt);
      fc.pre(first.outcome === "interrupted");
      const finished = (await messages()).flatMap((message) =>
        ToolMessage.isInstance(message) ? [message.tool_call_id] : [],
      );
      const plan = await new Thread(agent, "t").todos();
      const water = plan.find(({ id, status }) => id === "3" && status !== "completed");
      fc.pre(water !== undefined);
      const todos = plan.with(plan.indexOf(water), { ...water, content: "Water daily" });
      await new Thread(agent, "t").writePlan({ todos });
      expect((await new Thread(agent, "t").todos())[2]).toMatchObject({ content: "Water daily" });
      const requests = model.requests.length;
      const [second, events] = await run(null, 0);

      expect(second).toMatchObject({ outcome: "done", answer: "Done.", counts: { completed: 4, total: 4 } });
      expect(inOrder(await messages())).toBe(true);
      const again = events.flatMap((event) => (event.type === "tool-start" ? [event.call] : []));
      expect(again.filter((call) => finished.includes(call))).toEqual([]);
      expect((await new Thread(agent, "t").todos())[2]).toMatchObject({ content: "Water daily" });
      const next = model.requests.slice(requests).find(isMain);
      expect(JSON.stringify(next?.messages)).toContain("Water daily");
      saver.close();
    }),
    { numRuns: rounds(12) },
  );
});

/** Whether every call is followed by its result, in the order of the calls, before the model says anything else. */
function inOrder(messages: readonly BaseMessage[]): boolean {
  let due: string[] = [];
  for (const message of messages) {
    if (ToolMessage.isInstance(message)) {
      if (due.shift() !== message.tool_call_id) return false;
    } else {
      if (due.length > 0) return false;
      if (AIMessage.isInstance(message)) due = (message.tool_calls ?? []).map(({ id }) => id!);
    }
  }
  return due.length === 0;
}
