import { call, type Answer, type Call, type Conversation, type DoneCall } from "../conversation.ts";
import { DEMO_ELSEWHERE, DEMO_INTRODUCTION, DEMO_OVER } from "../offline.prompt.ts";
import { Plan } from "../plan.ts";
import { counted, reasonIn, reportIn } from "../words.ts";
import { BROKEN_LINE, MENDED_LINE, SCRATCH_MARK } from "./scratch.ts";

const MEND = "Mend the failing test";
const ASK = "Ask how a fraction of a cent is rounded";
const ADD = "Add the discount, with a test";
const CHECK = "Have a sub-agent review the change";

const [README, SOURCE, NEW_TEST] = ["/README.md", "/src/total.js", "/test/discount.test.js"];
/** The beginning of the new test's name, and the line that the discount is put in front of. */
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
  const { request, system, made } = conversation;
  if (request.startsWith(REVIEW)) return review(conversation);
  if (NEEDED.some((name) => !tools.includes(name))) return DEMO_ELSEWHERE;
  const readme = made(read(README));
  if (!readme) return [read(README)];
  if (readme.failed || !readme.result.includes(SCRATCH_MARK)) return DEMO_ELSEWHERE;
  const looks = [SOURCE, ...skillsIn(system)].map(read);
  const calls = looks.filter((look) => !made(look));
  if (calls.length > 0) return { text: DEMO_INTRODUCTION, calls };
  const [source, ...skills] = looks.map((look) => made(look)!);
  const isBroken = source!.result.includes(BROKEN_LINE);
  const hasDiscount = source!.result.includes("function discounted(");
  if (source!.failed || (!isBroken && hasDiscount)) return DEMO_OVER;
  const steps = [
    ...(isBroken ? [MEND] : []),
    ...(!hasDiscount && tools.includes(QUESTION.name) ? [ASK] : []),
    ...(hasDiscount ? [] : [ADD]),
    ...(tools.includes("task") ? [CHECK] : []),
  ];
  // One after the other.
  const items = steps.map((content, at) => ({ content, ...(at > 0 && { after: [at] }) }));
  const plan = new Plan(items, conversation, tools);
  if (plan.rejection !== undefined) return `Nothing was done. ${plan.rejection}`;
  if (plan.opening.length > 0) return plan.opening;
  return new Demo({ conversation, plan, steps, tools, readme, skills }).next();
}

/** A call of a step, with its result once there is one. */
interface Part {
  call: Call;
  result: DoneCall | undefined;
}

interface DemoOptions {
  conversation: Conversation;
  plan: Plan;
  steps: readonly string[];
  tools: readonly string[];
  readme: DoneCall;
  skills: readonly DoneCall[];
}

/** The task at one moment. A step returns the next calls, or nothing once it is finished, refused or left out. */
class Demo {
  readonly #options: DemoOptions;
  readonly #done: string[] = [];
  readonly #blocked = new Map<string, string>();
  /** The lines of the answer. */
  readonly #said: string[] = [];

  constructor(options: DemoOptions) {
    this.#options = options;
  }

  next(): Answer {
    const calls = this.#mend() ?? this.#ask() ?? this.#add() ?? this.#check();
    if (calls) return calls;
    const answer = ["Played to the end; every call was real.", ...this.#said, this.#tests()].join("\n- ");
    return this.#options.plan.close({ done: this.#done, blocked: this.#blocked }, answer);
  }

  #mend(): Call[] | undefined {
    const edit = { file_path: SOURCE, old_string: BROKEN_LINE, new_string: MENDED_LINE };
    const mended = this.#part(call("edit_file", edit));
    return this.#step(MEND, [...this.#run(0), mended, ...this.#runAfter(mended)], () => {
      const { failures } = this.#lastTests();
      if (failures.length > 0) return `still failing: ${failures.join("; ")}`;
      this.#said.push("src/total.js: the sum of an empty order begins with 0 now.");
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
    const rounding = roundingFrom(conversation.made(QUESTION));
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
      this.#said.push(
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
      this.#said.push(`Review by a sub-agent: ${reportIn(report!)}`);
      return undefined;
    });
  }

  /**
   * The first call of a step without a result, with the progress of the plan. `end` takes the results of a step whose
   * calls all succeeded, and returns a reason where the step is not done all the same.
   */
  #step(
    step: string,
    parts: readonly Part[],
    end: (results: readonly DoneCall[]) => string | undefined,
  ): Call[] | undefined {
    const { steps, plan } = this.#options;
    if (!steps.includes(step)) return undefined;
    // The work goes on where a person does not let the tests run.
    const next = parts.find(({ call: each, result }) => !result || (result.failed && each !== TEST));
    const objection = next && !next.result ? plan.objection(step) : undefined;
    if (objection !== undefined) {
      this.#said.push(`${step}: left out, as ${objection}.`);
      return undefined;
    }
    if (next && !next.result)
      return [...plan.report({ done: this.#done, blocked: this.#blocked }), next.call];
    const problem = next?.result ? reasonIn(next.result) : end(parts.map(({ result }) => result!));
    if (problem === undefined) this.#done.push(step);
    else {
      this.#blocked.set(step, problem);
      this.#said.push(`${step}: ${problem}.`);
    }
    return undefined;
  }

  #part(each: Call): Part {
    return { call: each, result: this.#options.conversation.made(each) };
  }

  /** The first run of the tests from a call on; nothing where commands cannot be run, or a person refused one. */
  #run(from: number): Part[] {
    const { conversation, tools } = this.#options;
    const result = conversation.calls.slice(from).find(isTest);
    const isRefused = conversation.calls.some((done) => isTest(done) && done.failed);
    return tools.includes(TEST.name) && (result || !isRefused) ? [{ call: TEST, result }] : [];
  }

  #runAfter({ result }: Part): Part[] {
    return result ? this.#run(this.#options.conversation.calls.indexOf(result)) : [];
  }

  #lastTests(): TestFigures {
    const last = this.#options.conversation.calls.findLast(isTest);
    return last ? readTests(last) : { pass: 0, failures: [] };
  }

  /** The line on the tests, from their first run to their last. */
  #tests(): string {
    const runs = this.#options.conversation.calls.filter(isTest).map(readTests);
    const told = runs.map(({ pass, failures, problem }) => {
      if (problem !== undefined) return problem;
      const all = pass + failures.length;
      return failures.length > 0
        ? `${failures.length} of ${all} fail (${failures.join("; ")})`
        : `all ${all} pass`;
    });
    return told.length > 0
      ? `Tests: ${told.join(", then ")}.`
      : "The tests were not run: there is no tool for commands.";
  }
}

/** Reviews the scratch project as a sub-agent: reads source and tests, and names functions that no test calls. */
function review({ made }: Conversation): Answer {
  const [source, tests] = [made(read(SOURCE)), made(TESTS)];
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

/** The paths of the skill for tests, where the prompt lists it. */
function skillsIn(system: string): string[] {
  const folder = /(\/\S*)<name>\/SKILL\.md/.exec(system)?.[1];
  return folder !== undefined && system.includes("\n- till-tests: ") ? [`${folder}till-tests/SKILL.md`] : [];
}

function isTest({ name, args }: DoneCall): boolean {
  return name === TEST.name && args["command"] === TEST.args["command"];
}

interface TestFigures {
  pass: number;
  failures: string[];
  /** The reason why there are no figures. */
  problem?: string;
}

function readTests(run: DoneCall): TestFigures {
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

/** The rounding that an answer names. A program cannot read other words, and says so. */
function roundingFrom(asked: DoneCall | undefined): Rounding {
  const words = /^The user answers: (.+)/s.exec(asked?.result ?? "")?.[1] ?? "";
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
