import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import { createDeepAgent } from "../src/deep/index.ts";
import { HarnessError } from "../src/errors.ts";
import { figuresIn } from "../src/middleware/plan/ledger.ts";
import { postgresSaver, sqliteSaver } from "../src/storage/index.ts";
import { stopJobs } from "../src/subagents/background/registry.ts";
import { callTool, ScriptedModel } from "../src/testing/index.ts";
import { startPostgres } from "../test/helpers/postgres/server.ts";
import { chance, type Attack, type AttackResult } from "./attack.ts";

const TRIES = 400;

type Saver = BaseCheckpointSaver & { close: () => unknown };
type Call = ReturnType<typeof callTool>;

/** Teams of sub-agents that are stopped anywhere and taken up by others, on both stores. */
export const teams: Attack = {
  name: "teams",
  run: async ({ tries = TRIES, seed }) => {
    const server = await startPostgres();
    const folder = mkdtempSync(join(tmpdir(), "holdfast-teams-"));
    try {
      const open = (at: number) =>
        at % 4 === 0
          ? postgresSaver(server.url, { schema: `t${seed}_${at}`, poolSize: 2 })
          : sqliteSaver(join(folder, `${at}.db`));
      return await stopTeams(open, { tries, seed });
    } finally {
      rmSync(folder, { recursive: true, force: true });
      await server.stop();
    }
  },
};

/** `open` opens the store of a try, as another process would. */
export async function stopTeams(
  open: (at: number) => Promise<Saver>,
  { tries, seed }: { tries: number; seed: number },
): Promise<AttackResult> {
  const problems: string[] = [];
  let stops = 0;
  for (let at = 0; at < tries; at += 1) {
    const game = new Game(chance(seed + at), () => open(at));
    const problem = await game.play();
    stops += game.stops;
    if (problem !== undefined) problems.push(`seed ${seed + at}: ${problem}`);
  }
  const notes = problems[0] ?? `${stops} stops: nothing was lost, early or counted otherwise than used`;
  return { tries, failures: problems.length, notes };
}

interface Member {
  item: number;
  end: "well" | "open" | "failed";
  /** Its turns with work before it ends. */
  turns: number;
  isInBackground: boolean;
}

const CONFIG = { configurable: { thread_id: "t" }, durability: "sync" as const };

class Game {
  stops = 0;
  readonly #team: readonly Member[];
  readonly #items: number;
  readonly #random: () => number;
  readonly #open: () => Promise<Saver>;
  /** The tokens of each answer, by its id: one that is lost with a stop is given again, and counts once. */
  readonly #used = new Map<string, number>();
  #left = Infinity;
  #abort = new AbortController();

  constructor(random: () => number, open: () => Promise<Saver>) {
    this.#random = random;
    this.#open = open;
    const count = 2 + this.#upTo(4);
    this.#items = 1 + this.#upTo(count - 1);
    this.#team = Array.from({ length: count }, (_, at) => ({
      item: 1 + (at % this.#items),
      end: random() < 0.75 ? "well" : random() < 0.5 ? "open" : "failed",
      turns: this.#upTo(2),
      isInBackground: random() < 0.4,
    }));
  }

  #upTo(most: number): number {
    return Math.floor(this.#random() * (most + 1));
  }

  /** Plays to the end, and says what did not hold. */
  async play(): Promise<string | undefined> {
    const words = JSON.stringify(this.#team);
    const completed = new Set<string>();
    let input: object | null = { messages: [new HumanMessage("Go")] };
    for (let stopsLeft = this.#upTo(4); ; stopsLeft -= 1) {
      this.#left = stopsLeft > 0 ? 1 + this.#upTo(12) : Infinity;
      this.#abort = new AbortController();
      const store = await this.#open();
      const saver = this.#watched(store);
      try {
        const { agent, model } = this.#agent(saver);
        await agent
          .invoke(input as never, { ...CONFIG, signal: this.#abort.signal })
          .catch((error: unknown) => {
            // Late writes of the stopped process may come in between, as nobody holds the thread here.
            const isChanged = HarnessError.from(error)?.code === "thread-changed";
            if (isChanged) this.#abort.abort();
            if (!this.#abort.signal.aborted) throw error;
          });
        await stopJobs(saver, "t");
        if (JSON.stringify(model.requests).includes("The user changed"))
          return `the model read of an edit; ${words}`;
        const state = await agent.graph.getState(CONFIG);
        const { todos = [] } = state.values as { todos?: { id: string; status: string }[] };
        const done = new Set(todos.flatMap(({ id, status }) => (status === "completed" ? id : [])));
        const lost = [...completed].find((id) => !done.has(id));
        if (lost !== undefined) return `item ${lost} was completed and is not; ${words}`;
        const early = [...done].find((id) => !this.#endsWell(Number(id)));
        if (early !== undefined)
          return `item ${early} is completed, and its sub-agents are not done; ${words}`;
        for (const id of done) completed.add(id);
        if (!this.#abort.signal.aborted && state.tasks.length === 0)
          return this.#judge(state.values, done, words);
      } finally {
        await store.close();
      }
      this.stops += 1;
      // Before the first checkpoint there is nothing to resume.
      if (this.#used.size > 0) input = null;
    }
  }

  /** The report's item, which no sub-agent has, is not judged. */
  #endsWell(item: number): boolean {
    return this.#team.every((member) => member.item !== item || member.end === "well");
  }

  #judge(values: unknown, done: ReadonlySet<string>, words: string): string | undefined {
    for (let item = 1; item <= this.#items; item += 1) {
      if (this.#endsWell(item) && !done.has(String(item))) return `item ${item} is not completed; ${words}`;
    }
    const { inputTokens, outputTokens } = figuresIn(values).total;
    const used = [...this.#used.values()].reduce((sum, tokens) => sum + tokens, 0);
    const counted = inputTokens + outputTokens;
    return counted === used ? undefined : `${counted} of ${used} tokens were counted; ${words}`;
  }

  #agent(checkpointer: BaseCheckpointSaver) {
    const items = Array.from({ length: this.#items }, (_, at) => `Part ${at + 1}`);
    const tasks = this.#team.map(({ item, isInBackground }, at) =>
      callTool("task", {
        description: `job ${at}`,
        subagent_type: "helper",
        todo_id: String(item),
        ...(isInBackground && { background: true }),
      }),
    );
    const look = [callTool("ls", { path: "/" })];
    const model = this.#model(() => ({
      name: "main",
      answers: [
        [callTool("write_todos", { todos: [...items, "Report"] })],
        tasks,
        look,
        "Here is the report.",
      ],
    }));
    const helper = this.#model((messages) => {
      const job = Number(messages.map(({ text }) => /^job (\d+)/.exec(text)?.[1]).find(Boolean));
      const { end, turns } = this.#team[job]!;
      const plan = [callTool("write_todos", { todos: ["Look", "Count"] })];
      const work: (Call[] | string)[] = Array.from({ length: turns }, () => look);
      const last = { well: ["Found."], open: [plan, "I stopped."], failed: [] }[end];
      return { name: `job${job}`, answers: [...work, ...last] };
    });
    const agent = createDeepAgent({
      model,
      checkpointer,
      background: true,
      plan: { verify: false },
      loopGuard: false,
      summarization: false,
      subagents: [{ name: "helper", description: "helps", model: helper }],
    });
    return { agent, model };
  }

  /** Gives the answer that comes after the last one in the request; a script without one is a model that fails. */
  #model(scriptFor: (messages: BaseMessage[]) => { name: string; answers: (Call[] | string)[] }) {
    return new ScriptedModel(
      [
        ({ messages }) => {
          const { name, answers } = scriptFor(messages);
          const labels = messages.flatMap((message) =>
            AIMessage.isInstance(message) ? Number(/-(\d+)$/.exec(message.id ?? "")?.[1] ?? -1) : [],
          );
          const at = Math.max(-1, ...labels) + 1;
          const answer = answers[at] ?? answers.at(-1);
          if (answer === undefined || (at >= answers.length && typeof answer !== "string"))
            return new Error("no model");
          const id = `${name}-${at}`;
          const [input_tokens, output_tokens] = [100 + at * 7, 10 + at];
          this.#used.set(id, input_tokens + output_tokens);
          return Object.assign(
            new AIMessage({
              id,
              content: typeof answer === "string" ? answer : "",
              tool_calls: (typeof answer === "string" ? [] : answer).map((call, index) => ({
                ...call,
                id: `${id}-${index}`,
                type: "tool_call" as const,
              })),
            }),
            { usage_metadata: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens } },
          );
        },
      ],
      { loop: true },
    );
  }

  /** The saver, which stops the process after some writes. */
  #watched(saver: BaseCheckpointSaver): BaseCheckpointSaver {
    return new Proxy(saver, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== "function") return value;
        const method = value.bind(target) as (...args: unknown[]) => unknown;
        if (key !== "put" && key !== "putWrites") return method;
        return async (...args: unknown[]) => {
          const saved = await method(...args);
          if ((this.#left -= 1) === 0) this.#abort.abort();
          return saved;
        };
      },
    });
  }
}
