import { expect, it } from "vitest";
import { driveAlone } from "../../test/drive-alone.ts";
import type { Todo } from "../plan/index.ts";
import { sqliteSaver } from "../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";
import { createRunAgent } from "./agent.ts";
import { taskInput } from "./drive.ts";
import { editPlan } from "./edit-plan.ts";
import { clearPlan, planWish } from "./plan-command.ts";
import { PlanEdits } from "./plan-edits.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";
import { readPlan } from "./thread.ts";

const PLAN = callTool("write_todos", { todos: ["Dig", "Plant"] });
const STOPS: Step[] = ["Stop.", "Stop.", "Stop."];

it("an edit that comes when its run has just ended is made in the thread, and told", async () => {
  const edits = new PlanEdits();
  const agent = await agentWith([PLAN, ...STOPS]);
  await driveAlone(agent, taskInput("Go", {}), edits);
  const base = await readPlan(agent, "t");
  const told: string[][] = [];
  const onMade = (todos: readonly Todo[]): void => void told.push(contents(todos));
  const made = await editPlan(agent, "t", { todos: [...base, "Water"], base }, { edits, onMade });
  expect(contents(made)).toEqual(["Dig", "Plant", "Water"]);
  expect(told).toEqual([["Dig", "Plant", "Water"]]);
  expect(await readPlan(agent, "t")).toEqual(made);
});

it("an edit that a run makes is told by the run alone", async () => {
  const edits = new PlanEdits();
  let made: Promise<Todo[]> | undefined;
  const step: Step = () => {
    made = editPlan(agent, "t", { todos: ["Rest"], base: [] }, { edits, onMade: () => expect.fail("told") });
    return callTool("ls", { path: "/" });
  };
  const agent = await agentWith([step, ...STOPS]);
  await driveAlone(agent, taskInput("Go", {}), edits);
  expect(contents(await made!)).toEqual(["Rest"]);
});

it("what is done stays when a plan is cleared", async () => {
  const agent = await agentWith([PLAN, callTool("update_todos", { done: "1" }), ...STOPS]);
  await driveAlone(agent, taskInput("Go", {}));
  expect(contents(await clearPlan(agent, "t"))).toEqual(["Dig"]);
});

it("only an edit takes something behind its word", () => {
  expect(planWish("")).toEqual({ to: "show", rest: "" });
  expect(planWish("edit")).toEqual({ to: "edit", rest: "" });
  expect(planWish("edit\n- [ ] Dig\n- [ ] Plant")).toEqual({ to: "edit", rest: "- [ ] Dig\n- [ ] Plant" });
  expect(planWish("clear")).toEqual({ to: "clear", rest: "" });
  expect(["clear all", "approve it", "editor", "Dig"].map(planWish)).toEqual(Array(4).fill(undefined));
});

const contents = (todos: readonly Todo[]): string[] => todos.map(({ content }) => content);

async function agentWith(steps: Step[]) {
  const settings = { ...DEFAULT_SETTINGS, model: "scripted" };
  const checkpointer = await sqliteSaver(":memory:");
  return createRunAgent({ settings, model: new ScriptedModel(steps), checkpointer });
}
