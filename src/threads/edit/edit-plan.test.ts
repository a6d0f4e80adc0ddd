import { describe, expect, it } from "vitest";
import { planEditContract, stepOf } from "../../../test/contracts/plan-edits.ts";
import { driveAlone } from "../../../test/drive-alone.ts";
import type { Todo } from "../../plan/index.ts";
import { sqliteSaver, type SqliteSaver } from "../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { PlanEdits } from "../plan/plan-edits.ts";
import { planRules, planText } from "../plan/plan-text.ts";
import { createRunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../prepare/settings.ts";
import { taskInput } from "../run/run-graph.ts";
import { Thread } from "../thread/thread.ts";
import { editPlan } from "./edit-plan.ts";
import { clearPlan, planWish } from "./plan-command.ts";

const PLAN = callTool("write_todos", { todos: ["Dig", "Plant"] });
const STOPS: Step[] = ["Stop.", "Stop.", "Stop."];

describe("in the process that runs the thread", () => {
  planEditContract(async () => {
    let edits: PlanEdits | undefined;
    let told = 0;
    const checkpointer = await sqliteSaver(":memory:");
    const agentFor = (step: Step) => agentOn(new ScriptedModel([step], { loop: true }), checkpointer);
    const reader = new Thread(await agentFor("-"), "t");
    return {
      run: async (turn) => {
        edits = new PlanEdits();
        await driveAlone(await agentFor(stepOf(turn)), taskInput("Go", {}), edits, (event) => {
          if (event.type === "plan-change" && event.by === "person") told += 1;
        });
        edits = undefined;
      },
      plan: () => reader.todos(),
      edit: (todos, base) => editPlan(reader, { todos, base }, { edits }),
      told: () => told,
      hasConflicts: true,
    };
  });
});

it("an edit that comes when its run has just ended is made in the thread, and told", async () => {
  const edits = new PlanEdits();
  const agent = await agentWith([PLAN, ...STOPS]);
  await driveAlone(agent, taskInput("Go", {}), edits);
  const base = await new Thread(agent, "t").todos();
  const told: string[][] = [];
  const onMade = (todos: readonly Todo[]): void => void told.push(contents(todos));
  const made = await editPlan(new Thread(agent, "t"), { todos: [...base, "Water"], base }, { edits, onMade });
  expect(contents(made)).toEqual(["Dig", "Plant", "Water"]);
  expect(told).toEqual([["Dig", "Plant", "Water"]]);
  expect(await new Thread(agent, "t").todos()).toEqual(made);
});

it("an edit that a run makes is told by the run alone", async () => {
  const edits = new PlanEdits();
  let made: Promise<Todo[]> | undefined;
  const step: Step = () => {
    made = editPlan(
      new Thread(agent, "t"),
      { todos: ["Rest"], base: [] },
      { edits, onMade: () => expect.fail("told") },
    );
    return callTool("ls", { path: "/" });
  };
  const agent = await agentWith([step, ...STOPS]);
  await driveAlone(agent, taskInput("Go", {}), edits);
  expect(contents(await made!)).toEqual(["Rest"]);
});

it("the rules of a plan are edited with it, between runs and while one is at work", async () => {
  const edits = new PlanEdits();
  let made: Promise<Todo[]> | undefined;
  const rules = planRules("Rules:\n- never touch date.js\n\n- [ ] Dig\n");
  const step: Step = async () => {
    const base = await new Thread(agent, "t").todos();
    made = editPlan(new Thread(agent, "t"), { todos: base, base, rules }, { edits });
    return callTool("ls", { path: "/" });
  };
  const model = new ScriptedModel([PLAN, step, ...STOPS]);
  const agent = await agentOn(model);
  await driveAlone(agent, taskInput("Go", {}), edits);
  await made;
  expect((await new Thread(agent, "t").plan()).rules).toEqual(["never touch date.js"]);
  const told = model.requests[2]!.messages.at(-1)!.text;
  expect(told).toContain("The user changed the rules of your plan.\nRules:\n- never touch date.js");
  const base = await new Thread(agent, "t").todos();
  await editPlan(new Thread(agent, "t"), { todos: base, base, rules: [] });
  expect((await new Thread(agent, "t").plan()).rules).toEqual([]);
  expect(planRules(planText(base, ["a [x] b", "c"]))).toEqual(["a [x] b", "c"]);
});

it("what is done stays when a plan is cleared", async () => {
  const agent = await agentWith([PLAN, callTool("update_todos", { done: "1", note: "by hand" }), ...STOPS]);
  await driveAlone(agent, taskInput("Go", {}));
  expect(contents(await clearPlan(new Thread(agent, "t")))).toEqual(["Dig"]);
});

it("only an edit takes something behind its word", () => {
  expect(planWish("")).toEqual({ to: "show", rest: "" });
  expect(planWish("edit")).toEqual({ to: "edit", rest: "" });
  expect(planWish("edit\n- [ ] Dig\n- [ ] Plant")).toEqual({ to: "edit", rest: "- [ ] Dig\n- [ ] Plant" });
  expect(planWish("clear")).toEqual({ to: "clear", rest: "" });
  expect(["clear all", "approve it", "editor", "Dig"].map(planWish)).toEqual(Array(4).fill(undefined));
});

const contents = (todos: readonly Todo[]): string[] => todos.map(({ content }) => content);

const agentWith = (steps: Step[]) => agentOn(new ScriptedModel(steps));

async function agentOn(model: ScriptedModel, saver?: SqliteSaver) {
  const settings = { ...DEFAULT_SETTINGS, model: "scripted" };
  return createRunAgent({ settings, model, checkpointer: saver ?? (await sqliteSaver(":memory:")) });
}
