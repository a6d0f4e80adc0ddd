import { describe, expect, it, onTestFinished } from "vitest";
import { planEditContract, stepOf } from "../../../test/contracts/plan-edits.ts";
import type { Todo } from "../../plan/index.ts";
import { sqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import type { HostThread } from "../host/client.ts";
import { localHost } from "../host/threads-graph.ts";
import { planRules, planText } from "../plan/plan-text.ts";
import { DEFAULT_SETTINGS } from "../prepare/settings.ts";
import { planWish } from "./plan-command.ts";

const PLAN = callTool("write_todos", { todos: ["Dig", "Plant"] });
const STOPS: Step[] = ["Stop.", "Stop.", "Stop."];

describe("in the process that runs the thread", () => {
  planEditContract(async () => {
    let step: Step = "-";
    let told = 0;
    const { thread } = await threadOn(new ScriptedModel([(request) => now(step, request)], { loop: true }));
    return {
      run: async (turn) => {
        step = stepOf(turn);
        const run = await thread.start("Go");
        for await (const event of run.events()) {
          if (event.type === "plan-change" && event.by === "person") told += 1;
        }
        await run.done;
      },
      plan: async () => (await thread.plan()).todos,
      edit: (todos, base) => thread.editPlan({ todos, base }),
      told: () => told,
      hasConflicts: true,
    };
  });
});

const now = (step: Step, request: Parameters<Extract<Step, (...args: never) => unknown>>[0]) =>
  typeof step === "function" ? step(request) : step;

it("an edit right after the end of its run changes the thread and is reported", async () => {
  const { thread, told } = await threadOn(new ScriptedModel([PLAN, ...STOPS]));
  await (
    await thread.start("Go")
  ).done;
  const { todos: base } = await thread.plan();
  const made = await thread.editPlan({ todos: [...base, "Water"], base });
  expect(contents(made)).toEqual(["Dig", "Plant", "Water"]);
  expect(told()).toEqual([["Dig", "Plant", "Water"]]);
  expect((await thread.plan()).todos).toEqual(made);
});

it("the user edits the rules of a plan together with it, between and during runs", async () => {
  let made: Promise<Todo[]> | undefined;
  const rules = planRules("Rules:\n- never touch date.js\n\n- [ ] Dig\n");
  const step: Step = async () => {
    const { todos: base } = await thread.plan();
    made = thread.editPlan({ todos: base, base, rules });
    return callTool("ls", { path: "/" });
  };
  const model = new ScriptedModel([PLAN, step, ...STOPS]);
  const { thread } = await threadOn(model);
  await (
    await thread.start("Go")
  ).done;
  await made;
  expect((await thread.plan()).rules).toEqual(["never touch date.js"]);
  const told = model.requests[2]!.messages.at(-1)!.text;
  expect(told).toContain("The user changed the rules of your plan.\nRules:\n- never touch date.js");
  const { todos: base } = await thread.plan();
  await thread.editPlan({ todos: base, base, rules: [] });
  expect((await thread.plan()).rules).toEqual([]);
  expect(planRules(planText(base, ["a [x] b", "c"]))).toEqual(["a [x] b", "c"]);
});

it("completed items stay when the user clears the plan", async () => {
  const steps = [PLAN, callTool("update_todos", { done: "1", note: "by hand" }), ...STOPS];
  const { thread } = await threadOn(new ScriptedModel(steps));
  await (
    await thread.start("Go")
  ).done;
  expect(contents(await thread.clearPlan())).toEqual(["Dig"]);
});

it("only the edit command accepts text after its word", () => {
  expect(planWish("")).toEqual({ to: "show", rest: "" });
  expect(planWish("edit")).toEqual({ to: "edit", rest: "" });
  expect(planWish("edit\n- [ ] Dig\n- [ ] Plant")).toEqual({ to: "edit", rest: "- [ ] Dig\n- [ ] Plant" });
  expect(planWish("clear")).toEqual({ to: "clear", rest: "" });
  expect(["clear all", "approve it", "editor", "Dig"].map(planWish)).toEqual(Array(4).fill(undefined));
});

const contents = (todos: readonly { content: string }[]): string[] => todos.map(({ content }) => content);

/** A thread of a host, and the plans by people that its readers were told of. */
async function threadOn(model: ScriptedModel): Promise<{ thread: HostThread; told: () => string[][] }> {
  const host = localHost({
    saver: await sqliteSaver(":memory:"),
    defaults: { ...DEFAULT_SETTINGS, model: "scripted" },
    modelOf: async () => ({ model, name: "scripted", source: "option", isFallback: false }),
  });
  onTestFinished(() => host.stop());
  const told = (): string[][] =>
    host.events.since(0).flatMap((entry) => {
      const event = "event" in entry && entry.event.kind === "run" ? entry.event.event : undefined;
      return event?.type === "plan-change" && event.by === "person" ? [contents(event.todos)] : [];
    });
  return { thread: host.thread("t"), told };
}
