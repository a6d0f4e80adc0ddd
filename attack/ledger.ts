import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { AIMessage, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, MemorySaver, type BaseCheckpointSaver } from "@langchain/langgraph";
import { z } from "zod";
import { createDeepAgent } from "../src/deep/index.ts";
import { figuresIn } from "../src/middleware/plan/ledger.ts";
import type { Figures } from "../src/plan/index.ts";
import { postgresSaver, sqliteSaver } from "../src/storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../src/testing/index.ts";
import { startPostgres } from "../test/helpers/postgres/server.ts";
import { chance, type Attack, type AttackResult } from "./attack.ts";

const SCRIPTS = 500;
const SECOND = 1000;
const DAY = 86_400 * SECOND;

/** Scripted tasks that are asked about, stopped and taken over anywhere: their figures are those of a quiet run. */
export const ledger: Attack = {
  name: "ledger",
  run: async ({ tries = SCRIPTS, seed }) => {
    const server = await startPostgres();
    try {
      return await compareFigures(server.url, { tries, seed });
    } finally {
      await server.stop();
    }
  },
};

/** The same, on SQLite files and a Postgres database. */
export async function compareFigures(
  url: string,
  { tries, seed }: { tries: number; seed: number },
): Promise<AttackResult> {
  const problems: string[] = [];
  const postgres = await postgresSaver(url, { poolSize: 2 });
  try {
    for (let at = 0; at < tries; at += 1) {
      const problem = await compare(seed + at, postgres);
      if (problem !== undefined) problems.push(`seed ${seed + at}: ${problem}`);
    }
  } finally {
    await postgres.close();
  }
  const notes = problems[0] ?? "every item cost the same, and all of it was what the models used";
  return { tries, failures: problems.length, notes };
}

type Call = ReturnType<typeof callTool>;

interface Answer {
  text: string;
  calls: Call[];
  input: number;
  output: number;
  seconds: number;
}

interface Circumstances {
  store: "memory" | "sqlite" | "postgres";
  /** Tools that are asked about. */
  asked: string[];
  approval: "never" | "first";
  /** After how many saved steps a process is stopped, and another one goes on. */
  stops: number[];
}

const QUIET: Circumstances = { store: "memory", asked: [], approval: "never", stops: [] };

async function compare(seed: number, postgres: BaseCheckpointSaver): Promise<string | undefined> {
  const random = chance(seed);
  const script = scriptOf(random);
  const circumstances: Circumstances = {
    store: random() < 0.5 ? "postgres" : "sqlite",
    asked: ["work", "command", "task"].filter(() => random() < 0.4),
    approval: random() < 0.3 ? "first" : "never",
    stops: Array.from({ length: Math.floor(random() * 4) }, () => 1 + Math.floor(random() * 6)),
  };
  const { used, ...quiet } = await play(script, QUIET, postgres);
  const { used: _, ...disturbed } = await play(script, circumstances, postgres);
  const words = JSON.stringify(circumstances);
  const { elapsedMs, modelCalls, inputTokens, outputTokens } = quiet.total;
  const time = script.isParallel ? {} : { elapsedMs };
  const counted = { ...time, modelCalls, inputTokens, outputTokens };
  if (Object.entries(counted).some(([field, value]) => used[field as keyof typeof used] !== value)) {
    return `${JSON.stringify(counted)} of ${JSON.stringify(used)} were counted`;
  }
  // A sub-agent that was killed cannot say how long it had worked; two that work side by side move one clock.
  const isTimed = !script.isParallel && (!script.hasHelpers || circumstances.stops.length === 0);
  const [a, b] = isTimed ? [quiet, disturbed] : [timeless(quiet), timeless(disturbed)];
  return isDeepStrictEqual(a, b)
    ? undefined
    : `${JSON.stringify(a)} became ${JSON.stringify(b)} with ${words}`;
}

type Outcome = ReturnType<typeof figuresIn> & { actuals: unknown[]; used: Omit<Figures, "toolCalls"> };

function timeless(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, one: unknown) => (key === "elapsedMs" ? undefined : one)));
}

interface Script {
  answers: Answer[];
  /** The answers of sub-agents, by job. */
  jobs: Answer[][];
  hasHelpers: boolean;
  isParallel: boolean;
}

/** A plan, and turns that work on it in all the ways there are. */
function scriptOf(random: () => number): Script {
  const upTo = (most: number): number => Math.floor(random() * (most + 1));
  const jobs: Answer[][] = [];
  const answer = (calls: Call[], text = ""): Answer => ({
    text,
    calls,
    input: upTo(5000),
    output: upTo(500),
    seconds: upTo(5),
  });
  const work = (): Call =>
    callTool(random() < 0.7 ? "work" : "command", { seconds: upTo(9), text: "x".repeat(upTo(300)) });
  const someWork = (): Call[] => Array.from({ length: 1 + upTo(1) }, work);
  const task = (todo?: string): Call => {
    jobs.push([...Array.from({ length: upTo(2) }, () => answer([work()])), answer([], "Report.")]);
    const job = { description: `job ${jobs.length - 1}`, subagent_type: "helper" };
    return callTool("task", todo === undefined ? job : { ...job, todo_id: todo });
  };
  const count = 2 + upTo(3);
  const todos = Array.from({ length: count }, (_, at) => `Step ${at + 1}`);
  const answers = [answer([callTool("write_todos", { todos }), ...(random() < 0.5 ? someWork() : [])])];
  for (let item = 1; item <= count; item += 1) {
    for (let turns = upTo(2); turns > 0; turns -= 1) {
      answers.push(answer(random() < 0.15 ? [task()] : someWork(), random() < 0.3 ? "Working." : ""));
    }
    const how = random();
    if (how < 0.1) answers.push(answer([], "I think that I am done."));
    if (how < 0.2 && item < count) {
      answers.push(
        answer([...someWork(), callTool("update_todos", { done: `${item},${item + 1}` }), work()]),
      );
      item += 1;
    } else if (how < 0.35) answers.push(answer([task(String(item))]));
    else if (how < 0.45 && item < count) {
      answers.push(answer([task(String(item)), task(String(item + 1))]));
      item += 1;
    } else answers.push(answer([callTool("update_todos", { done: String(item) }), ...someWork()]));
  }
  answers.push(answer([], "All is done."), answer([], "All of it is done."), answer([], "Done."));
  const isParallel = answers.some(({ calls }) => calls.filter(({ name }) => name === "task").length > 1);
  return { answers, jobs, hasHelpers: jobs.length > 0, isParallel };
}

/** Plays a script to its end, and reads the figures. */
async function play(
  script: Script,
  { store, asked, approval, stops }: Circumstances,
  postgres: BaseCheckpointSaver,
): Promise<Outcome> {
  const folder = store === "sqlite" ? mkdtempSync(join(tmpdir(), "holdfast-ledger-")) : undefined;
  const file = folder === undefined ? undefined : await sqliteSaver(join(folder, "threads.db"));
  const saver = file ?? (store === "postgres" ? postgres : new MemorySaver());
  try {
    const game = new Game(script, saver, { asked, approval });
    return await game.play([...stops]);
  } finally {
    file?.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

const durability = "sync" as const;

class Game {
  readonly #script: Script;
  readonly #saver: BaseCheckpointSaver;
  readonly #terms: Pick<Circumstances, "asked" | "approval">;
  readonly #config = { configurable: { thread_id: randomUUID() }, durability };
  #now = DAY;
  /** The saved steps until the next stop, and what stops. */
  #left = Infinity;
  #abort = new AbortController();
  /** The usage of models and tools. */
  readonly #used = { elapsedMs: 0, modelCalls: 0, inputTokens: 0, outputTokens: 0 };

  constructor(script: Script, saver: BaseCheckpointSaver, terms: Pick<Circumstances, "asked" | "approval">) {
    this.#script = script;
    this.#saver = saver;
    this.#terms = terms;
  }

  async play(stops: number[]): Promise<Outcome> {
    let input: object | null = { messages: [new HumanMessage("Go")] };
    for (;;) {
      this.#left = stops.shift() ?? Infinity;
      this.#abort = new AbortController();
      const agent = this.#agent();
      await agent
        .invoke(input as never, { ...this.#config, signal: this.#abort.signal })
        .catch((error: unknown) => {
          if (!this.#abort.signal.aborted) throw error;
        });
      this.#now += DAY;
      const state = await agent.graph.getState(this.#config);
      const questions = state.tasks.flatMap(({ interrupts }) => interrupts);
      if (questions.length === 0 && state.tasks.length === 0) return this.#outcome(state.values);
      input =
        questions.length > 0
          ? new Command({ resume: Object.fromEntries(questions.map(({ id }) => [id!, { type: "approve" }])) })
          : null;
    }
  }

  #outcome(values: unknown): Outcome {
    const { todos = [] } = values as { todos?: { actuals?: { startedAt?: number } }[] };
    return {
      ...figuresIn(values),
      actuals: todos.map(({ actuals }) => ({ ...actuals, startedAt: 0 })),
      used: this.#used,
    };
  }

  #spend(seconds: number): void {
    this.#now += seconds * SECOND;
    this.#used.elapsedMs += seconds * SECOND;
  }

  /** The agent as another process would build it. */
  #agent() {
    const work = ["work", "command"].map((name) =>
      tool(
        ({ seconds }) => {
          this.#spend(seconds);
          return "ok";
        },
        { name, description: name, schema: z.object({ seconds: z.number(), text: z.string().optional() }) },
      ),
    );
    const { asked, approval } = this.#terms;
    return createDeepAgent({
      model: this.#model(() => ({ name: "main", answers: this.#script.answers })),
      tools: work,
      checkpointer: this.#watched(),
      plan: { now: () => this.#now, approval },
      repeats: false,
      loopGuard: false,
      summarization: false,
      subagents: [
        {
          name: "helper",
          description: "helps",
          model: this.#model((messages) => {
            const job = messages.map(({ text }) => /^job (\d+)/.exec(text)?.[1]).find(Boolean);
            return { name: `job${job}`, answers: this.#script.jobs[Number(job)]! };
          }),
        },
      ],
      ...(asked.length > 0 && { interruptOn: Object.fromEntries(asked.map((name) => [name, true])) }),
    });
  }

  /** Gives the answer that comes after the last one in the request. */
  #model(scriptFor: (messages: BaseMessage[]) => { name: string; answers: Answer[] }): ScriptedModel {
    const step: Step = ({ messages }) => {
      const { name, answers } = scriptFor(messages);
      const labels = messages.flatMap((message) =>
        AIMessage.isInstance(message) ? Number(/-(\d+)$/.exec(message.id ?? "")?.[1] ?? -1) : [],
      );
      const at = Math.max(-1, ...labels) + 1;
      const answer = answers[at] ?? answers.at(-1)!;
      this.#spend(answer.seconds);
      const id = `${name}-${at}`;
      const { input, output } = answer;
      this.#used.modelCalls += 1;
      this.#used.inputTokens += input;
      this.#used.outputTokens += output;
      return Object.assign(
        new AIMessage({
          id,
          content: answer.text,
          tool_calls: answer.calls.map((call, index) => ({
            ...call,
            id: `${id}-${index}`,
            type: "tool_call" as const,
          })),
        }),
        { usage_metadata: { input_tokens: input, output_tokens: output, total_tokens: input + output } },
      );
    };
    return new ScriptedModel([step], { loop: true });
  }

  /** The saver, which stops the process after some steps. */
  #watched(): BaseCheckpointSaver {
    return new Proxy(this.#saver, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== "function") return value;
        const method = value.bind(target) as (...args: unknown[]) => unknown;
        if (key !== "put") return method;
        return async (...args: unknown[]) => {
          const saved = await method(...args);
          if ((this.#left -= 1) === 0) this.#abort.abort();
          return saved;
        };
      },
    });
  }
}
