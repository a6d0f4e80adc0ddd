import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { Counter } from "../../bench/count.ts";
import { alone } from "../../bench/worth/crew.ts";
import { deerflowPeer } from "../../bench/worth/deerflow-peer.ts";
import type { ShownTools } from "../../bench/worth/dialects.ts";
import { ALL_FAULTS, FAULT_NAMES, FAULTS, NO_FAULTS, type Faults } from "../../bench/worth/faults.ts";
import { goalsOf } from "../../bench/worth/goals.ts";
import { mean, pairedDifference, ratio, share } from "../../bench/worth/intervals.ts";
import { jobOf, requestOf, type Job } from "../../bench/worth/job.ts";
import { isRight, measure } from "../../bench/worth/measure.ts";
import { report } from "../../bench/worth/report.ts";
import { Rig, type Outcome } from "../../bench/worth/run.ts";
import { SimulatedModel, Summarizer } from "../../bench/worth/simulated-model.ts";
import { summarize } from "../../bench/worth/summarizer.ts";
import { SYSTEMS, type System } from "../../bench/worth/systems.ts";
import { workTool, World } from "../../bench/worth/world.ts";
import { callTool, ScriptedModel } from "../../src/testing/index.ts";
import { rounds } from "../helpers/runner/rounds.ts";

const system = (name: string): System => SYSTEMS.find((one) => one.name === name)!;
const LEAN = system("holdfast lean");
const PEER = system("todoListMiddleware");
const BARE = system("createAgent");

async function outcomesOf(of: System, count: number, faults = ALL_FAULTS): Promise<Outcome[]> {
  const rig = new Rig(of);
  const outcomes: Outcome[] = [];
  for (let at = 0; at < count; at++) outcomes.push(await rig.run(`test/${at}`, faults));
  return outcomes;
}

interface Request {
  messages: BaseMessage[];
  tools: ShownTools;
}

const counter = new Counter("o200k", "text");
const modelWith = (faults: Faults): SimulatedModel =>
  Object.assign(new SimulatedModel(counter), { seed: "test/3", faults });
const answersOf = (faults: Faults, requests: readonly Request[]): object[] =>
  requests.map(({ messages, tools }) => modelWith(faults).answer(messages, tools).toDict());

/** The requests of a run in a small window, and the answers that the model gave to them. */
async function record(of: System, faults: Faults): Promise<{ requests: Request[]; answers: object[] }> {
  const requests: Request[] = [];
  const answers: object[] = [];
  const model = modelWith(faults);
  const answer = model.answer.bind(model);
  model.answer = (messages, tools) => {
    const message = answer(messages, tools);
    requests.push({ messages: [...messages], tools });
    answers.push(message.toDict());
    return message;
  };
  const scene = { world: new World(jobOf("test/3")) };
  const agent = of.create({ model, tools: [workTool(scene)], summarizer: new Summarizer(counter) });
  const input = { messages: [new HumanMessage(requestOf(scene.world.job))] };
  for await (const _ of await agent.stream(input, { recursionLimit: 160 }));
  return { requests, answers };
}

describe("the simulated model", () => {
  it.each(SYSTEMS.map((one) => [one.name, one] as const))(
    "without faults makes no mistake under %s",
    async (_, one) => {
      const outcomes = await outcomesOf(one, 2, NO_FAULTS);
      expect(outcomes.every(isRight)).toBe(true);
      expect(one.hasPlan && outcomes.some(({ misshown }) => misshown > 0)).toBe(false);
    },
  );

  it("answers from its seed and the request alone", async () => {
    const { requests, answers } = await record(LEAN, ALL_FAULTS);
    expect(requests.length).toBeGreaterThan(4);
    expect(answersOf(ALL_FAULTS, requests.toReversed())).toEqual(answers.toReversed());
  });

  it("has each fault when it is switched on", async () => {
    const { requests, answers } = await record(PEER, NO_FAULTS);
    const { requests: forgetful, answers: right } = await record(BARE, NO_FAULTS);
    const inModel = FAULT_NAMES.filter((name) => name !== "context-limit");
    const silent = inModel.filter((name) => {
      const faults = { ...NO_FAULTS, [name]: 1 };
      const changed = [answersOf(faults, requests), answersOf(faults, forgetful)];
      return JSON.stringify(changed) === JSON.stringify([answers, right]);
    });
    expect(silent).toEqual([]);
    const summaries = forgetful.filter(({ messages }) =>
      messages.some(({ text }) => text.includes("Summary:")),
    );
    expect(summaries.length).toBeGreaterThan(0);
  });

  it("has documented faults only", () => {
    const sources = FAULT_NAMES.flatMap((name) => FAULTS[name].sources);
    expect(sources.filter((source) => !/^[\w.-]+\/[\w.-]+#\d+$/.test(source))).toEqual([]);
    expect(FAULT_NAMES.filter((name) => FAULTS[name].sources.length === 0)).toEqual([]);
  });
});

describe("the world", () => {
  const job: Job = {
    seed: "",
    steps: [
      { name: "tax", after: [] },
      { name: "stock", after: ["tax"] },
    ],
    calls: new Map([["tax", 2]]),
  };

  it("counts work only after its dependencies", () => {
    const world = new World(job);
    expect(world.work("stock")).toMatch(/^Done: stock/);
    expect(world.isTrulyDone("stock")).toBe(false);
    for (const name of ["tax", "tax", "stock"]) world.work(name);
    expect(world.isFinished).toBe(true);
  });

  it("is summarized without its plan, and not quite whole", () => {
    const whole = jobOf("test/7").steps.map(({ name }) => name);
    const summary = summarize(`Human: ${requestOf(jobOf("test/7"))}\nTool: Done: ${whole[0]}. Fine.`);
    expect(summary).toContain(`1 done, the last one was ${whole[0]}.`);
    expect(summary).not.toMatch(/after|Migrate the/);
  });
});

describe("a run", () => {
  it("comes to the same figures for the same seed", async () => {
    const tasks = { all: 2, alone: 0, longer: 1, none: 1 };
    const once = () => measure([PEER, LEAN], alone([PEER, LEAN]), { seed: 5, tasks, progress: () => {} });
    const [first, second] = [await once(), await once()];
    expect(second).toEqual(first);
    const markdown = report(first, { goals: goalsOf(first.rows), seed: 5, notes: [] });
    expect(markdown).toMatch(/^## Worth\n\n.*measures the harness, not a language model/s);
    expect(markdown).toContain("2 tasks per system, seed 5. With all faults off");
  });

  it("comes to an end where a report in a work call is refused for one of its items", async () => {
    // The model took the others for completed, and reported what waits on them for ever.
    const outcome = await new Rig(system("holdfast lean inline")).run("1/309", ALL_FAULTS);
    expect(outcome.end).toBe("answered");
  });

  it.each([
    ["holdfast lean", rounds(20)],
    ["holdfast lean, verify: false", rounds(20)],
    ["holdfast lean inline", rounds(20)],
    ["holdfast createDeepAgent", rounds(5)],
  ])("under %s loses no item, does not crash and comes to an end", async (name, count) => {
    const outcomes = await outcomesOf(system(name), count);
    const bad = outcomes.filter(({ lost, end }) => lost > 0 || end !== "answered");
    expect(bad).toEqual([]);
  });
});

it("the port of DeerFlow's reminders calls a model back twice and not more", async () => {
  const todos = [{ content: "Read", status: "in_progress" }];
  const model = new ScriptedModel([callTool("write_todos", { todos }), "Done.", "Done.", "Done."]);
  const agent = createAgent({ model, tools: [], middleware: deerflowPeer() });
  await agent.invoke({ messages: [new HumanMessage("Go")] });
  expect(model.requests.length).toBe(4);
  expect(model.requests.at(-1)!.messages.at(-1)!.name).toBe("todo_completion_reminder");
});

it("intervals match the values of textbooks", () => {
  const rounded = (numbers: number[]): number[] => numbers.map((value) => Number(value.toFixed(3)));
  const { low, high } = share(8, 10);
  expect(rounded([low, high])).toEqual([0.49, 0.943]);
  expect(share(0, 10).low).toBe(0);
  const { value, high: above } = mean([1, 2, 3]);
  expect(rounded([value, above])).toEqual([2, 3.132]);
  const { value: more, low: least, high: most } = pairedDifference(12, 3, 50);
  expect(rounded([more, least, most])).toEqual([0.18, 0.03, 0.316]);
  expect(ratio([[1, 2]])).toEqual({ value: 0.5, low: 0.5, high: 0.5 });
});
