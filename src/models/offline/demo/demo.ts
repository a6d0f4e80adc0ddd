import { call, type Answer, type Call, type Conversation, type FinishedCall } from "../conversation.ts";
import { DEMO_ELSEWHERE, DEMO_INTRODUCTION, DEMO_OVER } from "../offline.prompt.ts";
import { Plan } from "../plan.ts";
import { counted, reasonIn, reportIn } from "../words.ts";
import { BROKEN_LINE, MENDED_LINE, SCRATCH_MARK } from "./scratch.ts";

const MEND = "Mend the failing test";
const ASK = "Ask how a fraction of a cent is rounded";
const ADD = "Add the discount, with a test";
const CHECK = "Have a sub-agent review the change";

const [README, SOURCE, NEW_TEST] = ["/README.md", "/src/total.js", "/test/discount.test.js"];
/** The beginning of the new test's name, and the line before which the discount is inserted. */
const [TITLE, FIRST_LINE] = ["a discount", "/** The total of an order, in cents. */"];
const NEEDED = ["read_file", "edit_file", "write_file"];
const RATE = call("mcp__till__discount", {});
// As TAP, since Node's usual report differs between versions.
const TEST = call("execute", { command: "node --test --test-reporter=tap" });
const QUESTION = call("ask_clarification", {
  question: "A discount can leave a fraction of a cent. Which way is it rounded?",
  options: ["Down, for the customer", "Up, for the shop"],
});

/** The beginning of the description for the sub-agent, and its search. */
const REVIEW = "Review:";
const TESTS = call("grep", { pattern: String.raw`test\(|\w+\(\[`, path: "/test", regex: true });

/** The demo model's answer: the next step of its one task, computed from the files it read and all calls so far. */
export function playDemo(conversation: Conversation, tools: readonly string[]): Answer {
  const { request, system, findCall } = conversation;
  if (request.startsWith(REVIEW)) return review(conversation);
  if (NEEDED.some((name) => !tools.includes(name))) return DEMO_ELSEWHERE;
  const readme = findCall(read(README));
  if (!readme) return [read(README)];
  if (readme.failed || !readme.result.includes(SCRATCH_MARK)) return DEMO_ELSEWHERE;
  const looks = [SOURCE, ...skillsIn(system)].map(read);
  const calls = looks.filter((look) => !findCall(look));
  if (calls.length > 0) return { text: DEMO_INTRODUCTION, calls };
  const [source, ...skills] = looks.map((look) => findCall(look)!);
  const isBroken = source!.result.includes(BROKEN_LINE);
  const hasDiscount = source!.result.includes("function discounted(");
  if (source!.failed || (!isBroken && hasDiscount)) return DEMO_OVER;
  const steps = [
    ...(isBroken ? [MEND] : []),
    ...(!hasDiscount && tools.includes(QUESTION.name) ? [ASK] : []),
    ...(hasDiscount ? [] : [ADD]),
    ...(tools.includes("task") ? [CHECK] : []),
  ];
  const items = steps.map((content, at) => ({ content, ...(at > 0 && { after: [at] }) }));
  const plan = new Plan(items, conversation, tools);
  if (plan.rejection !== undefined) return `Nothing was done. ${plan.rejection}`;
  if (plan.opening.length > 0) return plan.opening;
  return new Demo({ conversation, plan, steps, tools, readme, skills }).next();
}

/** A call of a step, with its result if it is finished. */
interface Part {
  call: Call;
  result: FinishedCall | undefined;
}

interface DemoOptions {
  conversation: Conversation;
  plan: Plan;
  steps: readonly string[];
  tools: readonly string[];
  readme: FinishedCall;
  skills: readonly FinishedCall[];
}

/** The state of the task. Each step returns its next calls; undefined once it is finished, refused or left out. */
class Demo {
  readonly #options: DemoOptions;
  readonly #done: string[] = [];
  readonly #blocked = new Map<string, string>();
  readonly #answerLines: string[] = [];

  constructor(options: DemoOptions) {
    this.#options = options;
  }

  next(): Answer {
    const calls = this.#mend() ?? this.#ask() ?? this.#add() ?? this.#check();
    if (calls) return calls;
    const answer = ["Played to the end; every call was real.", ...this.#answerLines, this.#tests()].join(
      "\n- ",
    );
    return this.#options.plan.close({ done: this.#done, blocked: this.#blocked }, answer);
  }

  #mend(): Call[] | undefined {
    const edit = { file_path: SOURCE, old_string: BROKEN_LINE, new_string: MENDED_LINE };
    const fix = this.#part(call("edit_file", edit));
    return this.#step(MEND, [...this.#run(0), fix, ...this.#runAfter(fix)], () => {
      const { failures } = this.#lastTests();
      if (failures.length > 0) return `still failing: ${failures.join("; ")}`;
      this.#answerLines.push("src/total.js: the sum of an empty order begins with 0 now.");
      return undefined;
    });
  }

  #ask(): Call[] | undefined {
    return this.#step(ASK, [this.#part(QUESTION)], () => undefined);
  }

  #add(): Call[] | undefined {
    const { conversation, tools, readme, skills } = this.#options;
    const rate = this.#part(RATE);
    if (tools.includes(RATE.name) && !rate.result) return this.#step(ADD, [rate], () => undefined);
    const isServed = rate.result?.failed === false;
    const percent = Number(/(\d+) percent/.exec((isServed ? rate.result! : readme).result)?.[1] ?? 5);
    const rounding = roundingFrom(conversation.findCall(QUESTION));
    const prefix = /begins with `([^`]+)`/.exec(skills.map(({ result }) => result).join("\n"))?.[1] ?? "";
    const source = call("edit_file", {
      file_path: SOURCE,
      old_string: FIRST_LINE,
      new_string: discountOf(percent, rounding) + FIRST_LINE,
    });
    const content = testOf(percent, rounding, prefix);
    const test = this.#part(call("write_file", { file_path: NEW_TEST, content }));
    return this.#step(ADD, [this.#part(source), test, ...this.#runAfter(test)], () => {
      const { failures } = this.#lastTests();
      if (failures.some((name) => name.includes(TITLE))) return `its test fails`;
      const origin = isServed
        ? "the MCP server till says"
        : "README.md says, as the server till is not there";
      const named = prefix === "" ? "" : " Its test is named as the skill till-tests asks.";
      this.#answerLines.push(
        `src/total.js: ${percent} percent off, as ${origin}; rounded ${rounding.way}, ${rounding.reason}.${named}`,
      );
      return undefined;
    });
  }

  #check(): Call[] | undefined {
    const { conversation, plan } = this.#options;
    const todo_id = plan.idOf(CHECK);
    const task = call("task", {
      description: `${REVIEW} say which functions of ${SOURCE} no test in /test calls.`,
      subagent_type: "general-purpose",
      ...(todo_id !== undefined && { todo_id }),
    });
    const result = conversation.calls.find(({ name }) => name === "task");
    return this.#step(CHECK, [{ call: task, result }], ([report]) => {
      this.#answerLines.push(`Review by a sub-agent: ${reportIn(report!)}`);
      return undefined;
    });
  }

  /**
   * The first unfinished call of a step, with the progress of the plan. `end` takes the results once all calls have
   * succeeded, and returns a reason if the step is blocked nevertheless.
   */
  #step(
    step: string,
    parts: readonly Part[],
    end: (results: readonly FinishedCall[]) => string | undefined,
  ): Call[] | undefined {
    const { steps, plan } = this.#options;
    if (!steps.includes(step)) return undefined;
    // The work goes on if a person does not allow the tests to run.
    const next = parts.find(({ call: each, result }) => !result || (result.failed && each !== TEST));
    const objection = next && !next.result ? plan.objection(step) : undefined;
    if (objection !== undefined) {
      this.#answerLines.push(`${step}: left out, as ${objection}.`);
      return undefined;
    }
    if (next && !next.result)
      return [...plan.report({ done: this.#done, blocked: this.#blocked }), next.call];
    const problem = next?.result ? reasonIn(next.result) : end(parts.map(({ result }) => result!));
    if (problem === undefined) this.#done.push(step);
    else {
      this.#blocked.set(step, problem);
      this.#answerLines.push(`${step}: ${problem}.`);
    }
    return undefined;
  }

  #part(each: Call): Part {
    return { call: each, result: this.#options.conversation.findCall(each) };
  }

  /** The first run of the tests from a call on; none if commands cannot run, or a person refused one. */
  #run(from: number): Part[] {
    const { conversation, tools } = this.#options;
    const result = conversation.calls.slice(from).find(isTest);
    const isRefused = conversation.calls.some((one) => isTest(one) && one.failed);
    return tools.includes(TEST.name) && (result || !isRefused) ? [{ call: TEST, result }] : [];
  }

  #runAfter({ result }: Part): Part[] {
    return result ? this.#run(this.#options.conversation.calls.indexOf(result)) : [];
  }

  #lastTests(): TestFigures {
    const last = this.#options.conversation.calls.findLast(isTest);
    return last ? readTests(last) : { pass: 0, failures: [] };
  }

  /** The line of the answer about all runs of the tests. */
  #tests(): string {
    const runs = this.#options.conversation.calls.filter(isTest).map(readTests);
    const results = runs.map(({ pass, failures, problem }) => {
      if (problem !== undefined) return problem;
      const all = pass + failures.length;
      return failures.length > 0
        ? `${failures.length} of ${all} fail (${failures.join("; ")})`
        : `all ${all} pass`;
    });
    return results.length > 0
      ? `Tests: ${results.join(", then ")}.`
      : "The tests were not run: there is no tool for commands.";
  }
}

/** The review by the sub-agent: reads source and tests, and lists functions that no test calls. */
function review({ findCall }: Conversation): Answer {
  const [source, tests] = [findCall(read(SOURCE)), findCall(TESTS)];
  if (!source || !tests) return [read(SOURCE), TESTS];
  const problem = [source, tests].find(({ failed }) => failed);
  if (problem) return `Not reviewed: ${problem.result}`;
  const names = [...source.result.matchAll(/export function (\w+)/g)].map(([, name]) => name!);
  const untested = names.filter((name) => !tests.result.includes(`${name}([`));
  const count = tests.result.split('test("').length - 1;
  const verdict = untested.length > 0 ? `no test calls ${untested.join(", ")}` : "a test calls each of them";
  return `${counted(names.length, "function")} in src/total.js, ${counted(count, "test")}; ${verdict}.`;
}

function read(path: string): Call {
  return call("read_file", { file_path: path });
}

/** The path of the skill for tests, if the prompt lists it. */
function skillsIn(system: string): string[] {
  const folder = /(\/\S*)<name>\/SKILL\.md/.exec(system)?.[1];
  return folder !== undefined && system.includes("\n- till-tests: ") ? [`${folder}till-tests/SKILL.md`] : [];
}

function isTest({ name, args }: FinishedCall): boolean {
  return name === TEST.name && args["command"] === TEST.args["command"];
}

interface TestFigures {
  pass: number;
  failures: string[];
  /** The reason why there are no figures. */
  problem?: string;
}

function readTests(run: FinishedCall): TestFigures {
  const { result } = run;
  const pass = Number(/^# pass (\d+)$/m.exec(result)?.[1] ?? -1);
  const names = [...result.matchAll(/^\s*not ok \d+ - (.+)$/gm)].map(([, name]) => name!.trim());
  const failures = names.filter((name) => !/\.[cm]?js$/.test(name));
  if (pass < 0) return { pass: 0, failures, problem: `not run (${reasonIn(run)})` };
  return { pass, failures };
}

interface Rounding {
  name: "floor" | "ceil";
  way: "down" | "up";
  reason: string;
}

/** The rounding that an answer names. The default for other words, with a reason that says so. */
function roundingFrom(question: FinishedCall | undefined): Rounding {
  const words = /^The user answers: (.+)/s.exec(question?.result ?? "")?.[1] ?? "";
  const isUp = /\b(?:up|shop)\b/i.test(words);
  const isDown = /\b(?:down|customer)\b/i.test(words);
  if (isUp !== isDown) return { ...(isUp ? UP : DOWN), reason: "as you said" };
  const reason =
    words === ""
      ? "as nobody answered"
      : `as a program could not read ${JSON.stringify(words)} as up or down`;
  return { ...DOWN, reason };
}

const UP = { name: "ceil", way: "up" } as const;
const DOWN = { name: "floor", way: "down" } as const;

function discountOf(percent: number, { name, way }: Rounding): string {
  return `/** The total after a discount of ${percent} percent, rounded ${way}. */
export function discounted(lines) {
  return Math.${name}((total(lines) * ${100 - percent}) / 100);
}

`;
}

function testOf(percent: number, { name, way }: Rounding, prefix: string): string {
  return `import assert from "node:assert/strict";
import { test } from "node:test";
import { discounted } from "../src/total.js";

test("${prefix}${TITLE} of ${percent} percent is rounded ${way}", () => {
  assert.equal(discounted([{ cents: 5, count: 1 }]), ${Math[name]((5 * (100 - percent)) / 100)});
});
`;
}
