import { AIMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  interrupt,
  MemorySaver,
  Send,
  StateGraph,
  type BaseCheckpointSaver,
  type StateSnapshot,
} from "@langchain/langgraph";
import * as fc from "fast-check";
import { createAgent, createMiddleware } from "langchain";
import { describe, expect, it } from "vitest";
import { STORES } from "../../test/helpers/postgres/stores.ts";
import { rounds } from "../../test/helpers/runner/rounds.ts";
import { filesMiddleware } from "../middleware/files/index.ts";
import { planMiddleware } from "../middleware/plan/index.ts";
import { ScriptedModel, type ModelRequestRecord, type Step } from "../testing/index.ts";

/** What can be done to a thread; `at` picks an older checkpoint of it, `done` calls of a turn finish before it is stopped. */
interface Operation {
  kind: "run" | "resume" | "edit" | "copy" | "copy and edit" | "end" | "touch" | "input";
  at: number | undefined;
  done: number;
  asNode: number;
}

/** A graph on a checkpointer, in the form that both kinds of graph have. */
interface Subject {
  graph: Pick<StateGraphLike, "stream" | "getState" | "getStateHistory" | "updateState">;
  /** The nodes that an edit may pretend to be. */
  nodes: readonly (string | undefined)[];
  input: object;
  edit: (n: number) => object;
}

type StateGraphLike = ReturnType<typeof plainGraph>;

const CONFIG = { configurable: { thread_id: "t" } };
const CALLS = 3;
const TEXT = "some text that is long enough to be stored on its own ".repeat(4);

const anything: fc.Arbitrary<Operation> = fc.record({
  kind: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom("run", "resume", "edit") },
    { weight: 1, arbitrary: fc.constantFrom("copy", "copy and edit", "end", "touch", "input") },
  ),
  at: fc.option(fc.nat(40), { nil: undefined, freq: 3 }),
  done: fc.constantFrom(0, 1, 2, 2, CALLS),
  asNode: fc.nat(),
});
const begin: Operation = { kind: "run", at: undefined, done: 2, asNode: 0 };
const editAsTools: Operation = { ...begin, kind: "edit", asNode: 1 };

describe.each(STORES)(
  "a thread in $name gets the same history as in LangGraph's own saver:",
  ({ create, cost }) => {
    it.each([
      ["a graph that sends its calls", plainSubject, 40 / cost],
      ["an agent with a plan and files", agentSubject, 12 / cost],
    ])("%s", async (_, subject, numRuns) => {
      const place = await create();
      const saver = await place.open();
      const check = async (operations: Operation[]): Promise<void> => {
        const ours = new Thread(saver, subject);
        const theirs = new Thread(new MemorySaver(), subject);
        try {
          for (const [at, each] of [begin, ...operations].entries()) {
            expect(await ours.after(each, at)).toEqual(await theirs.after(each, at));
          }
        } finally {
          await saver.deleteThread("t");
        }
      };
      const sequence = fc.array(anything, { minLength: 1, maxLength: 5 });
      const examples: [Operation[]][] = [
        [[editAsTools, { ...begin, kind: "copy" }, { ...begin, kind: "resume" }]],
      ];
      // A machine that is busy tries fewer.
      await fc.assert(fc.asyncProperty(sequence, check), {
        numRuns: rounds(numRuns),
        examples,
        interruptAfterTimeLimit: 20_000,
      });
      await saver.close();
      place.remove();
    });
  },
);

class Thread {
  readonly #calls = new Calls();
  readonly #subject: Subject;

  constructor(saver: BaseCheckpointSaver, subject: (saver: BaseCheckpointSaver, calls: Calls) => Subject) {
    this.#subject = subject(saver, this.#calls);
  }

  /** Everything there is to see of the thread after an operation. */
  async after(operation: Operation, n: number): Promise<unknown> {
    const { graph } = this.#subject;
    const outcome = await settled(this.#do(operation, n).then(() => "ok"));
    const state = await settled(graph.getState(CONFIG).then(seen));
    const history = await settled(gather(graph.getStateHistory(CONFIG)).then((all) => all.map(seen)));
    return withoutIds({ outcome, state, history, ran: this.#calls.ran });
  }

  async #do({ kind, at, done, asNode }: Operation, n: number): Promise<void> {
    const { graph, nodes, input, edit } = this.#subject;
    const config = at === undefined ? CONFIG : await this.#older(at);
    const node = nodes[asNode % nodes.length];
    if (kind === "run") await this.#run(input, config, done);
    else if (kind === "resume") await this.#run(await this.#toGoOn(), config, done);
    else if (kind === "edit") await graph.updateState(config, edit(n), node);
    else if (kind === "copy") await graph.updateState(config, null, "__copy__");
    else if (kind === "copy and edit") await graph.updateState(config, [[edit(n), node]], "__copy__");
    else if (kind === "end") await graph.updateState(config, null, "__end__");
    else if (kind === "touch") await graph.updateState(config, null);
    else await graph.updateState(config, input, "__input__");
  }

  async #older(at: number) {
    const history = await gather(this.#subject.graph.getStateHistory(CONFIG));
    return history[at % history.length]!.config as typeof CONFIG;
  }

  async #toGoOn(): Promise<Command | null> {
    const { tasks } = await this.#subject.graph.getState(CONFIG);
    return tasks.some(({ interrupts }) => interrupts.length > 0) ? new Command({ resume: "yes" }) : null;
  }

  async #run(input: object | null, config: typeof CONFIG, done: number): Promise<void> {
    const calls = this.#calls;
    const options = { ...config, streamMode: "tasks" as const, durability: "sync" as const };
    const chunks = await this.#subject.graph.stream(input, {
      ...options,
      signal: calls.begin(done),
    });
    for await (const chunk of chunks as AsyncIterable<object>) if ("result" in chunk) calls.saved(chunk);
  }
}

/**
 * The calls of the turns of one thread. A run in which some are held back is stopped once the others are saved, and the
 * model's answer too, if an older checkpoint has the model run beside its calls.
 */
class Calls {
  readonly ran: string[] = [];
  #stop = new AbortController();
  #done = CALLS;
  #left = 0;
  #held = 0;

  begin(done: number): AbortSignal {
    this.#stop = new AbortController();
    [this.#done, this.#left, this.#held] = [done, 0, 0];
    return this.#stop.signal;
  }

  /** A request to the model starts. */
  asks(): void {
    this.#left += 1;
  }

  /** Passed by every call, the `at`th of its turn, when it starts. */
  async pass(at: number, name: string): Promise<void> {
    if (at < this.#done) {
      this.#left += 1;
      this.ran.push(name);
      return;
    }
    this.#held += 1;
    const { signal } = this.#stop;
    // The others of the turn start in the meantime.
    await new Promise(setImmediate);
    this.#check();
    if (!signal.aborted) await new Promise((done) => signal.addEventListener("abort", done, { once: true }));
    throw new Error("stopped");
  }

  saved(result: object): void {
    if (!["tools", "model", "model_request"].includes((result as { name: string }).name)) return;
    this.#left -= 1;
    this.#check();
  }

  #check(): void {
    if (this.#held > 0 && this.#left === 0) this.#stop.abort();
  }
}

/** LangGraph refuses some operations, and to read what comes of others: that is to be the same too. */
function settled(work: Promise<unknown>): Promise<unknown> {
  return work.catch((error: Error) => error.message);
}

async function gather<T>(items: AsyncIterable<T>): Promise<T[]> {
  const gathered: T[] = [];
  for await (const item of items) gathered.push(item);
  return gathered;
}

function seen({ values, next, tasks, metadata, config, parentConfig }: StateSnapshot): unknown {
  const id = config.configurable?.["checkpoint_id"] as unknown;
  const parent = parentConfig?.configurable?.["checkpoint_id"] as unknown;
  return { id, parent, values, next, tasks, metadata };
}

/**
 * Ids are made anew by each thread: each is replaced by how many others were there before it. The result of a call has
 * none: LangGraph names it whenever it merges a saved write, and a saver that keeps the read object in memory merges the
 * named one the next time.
 */
function withoutIds(value: unknown): unknown {
  const ids = new Map<string, string>();
  const text = JSON.stringify(value, (key, item: unknown) => {
    // A task that a stop cut off is saved as failed only if that comes before the end of the run.
    if (key === "error" && (item as Partial<Error> | null)?.name === "AbortError") return undefined;
    if (item instanceof Error) return item.message;
    // The process remembers when it first saw a thread's first message, and both threads have the same one.
    if (key === "_filesSince") return undefined;
    const isResult = typeof item === "object" && item !== null && "tool_call_id" in item;
    return isResult ? { ...item, id: undefined } : item;
  }).replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{32}\b/g, (id) => {
    if (!ids.has(id)) ids.set(id, `id ${ids.size}`);
    return ids.get(id)!;
  });
  return JSON.parse(text);
}

function plainSubject(saver: BaseCheckpointSaver, calls: Calls): Subject {
  return {
    graph: plainGraph(saver, calls),
    nodes: [undefined, "tools", "model"],
    input: { left: 2, log: ["go"] },
    edit: (n) => ({ plan: [`edit ${n} ${TEXT}`] }),
  };
}

function plainGraph(checkpointer: BaseCheckpointSaver, calls: Calls) {
  const State = Annotation.Root({
    left: Annotation<number>,
    plan: Annotation<string[]>,
    log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
    files: Annotation<Record<string, string>>({ reducer: (a, b) => ({ ...a, ...b }), default: () => ({}) }),
  });
  return new StateGraph(State)
    .addNode("model", ({ left, log }) => {
      calls.asks();
      return { left: left - 1, log: [`turn ${log.length} ${TEXT}`] };
    })
    .addNode("tools", async ({ at, turn }: { at: number; turn: number }) => {
      const name = `${turn}/${at}`;
      await calls.pass(at, name);
      const answer = at === 1 && turn % 2 === 0 ? String(interrupt(`${name}?`)) : "done";
      return {
        log: [`${name} ${answer}`],
        files: { [name]: `${name} ${TEXT}` },
        ...(at === 2 && { plan: [name] }),
      };
    })
    .addEdge("__start__", "model")
    .addConditionalEdges("model", ({ left, log }) =>
      left < 0
        ? "__end__"
        : Array.from({ length: CALLS }, (_, at) => new Send("tools", { at, turn: log.length })),
    )
    .addEdge("tools", "model")
    .compile({ checkpointer });
}

function agentSubject(saver: BaseCheckpointSaver, calls: Calls): Subject {
  const asking = createMiddleware({
    name: "Asking",
    wrapModelCall: (request, handler) => {
      calls.asks();
      return handler(request);
    },
  });
  const gate = createMiddleware({
    name: "Gate",
    wrapToolCall: async (request, handler) => {
      const { id = "", name } = request.toolCall;
      await calls.pass(Number(id.at(-1)), `${name} ${id}`);
      return handler(request);
    },
  });
  const { graph } = createAgent({
    model: new ScriptedModel([answerTo], { loop: true }),
    middleware: [asking, planMiddleware({ reminders: false, now: () => 0 }), filesMiddleware(), gate],
    checkpointer: saver,
  });
  return {
    graph,
    nodes: [undefined, "tools", "model_request"],
    input: { messages: [{ role: "user", content: "go", id: "go" }] },
    edit: (n) => ({ todos: [{ content: "Read" }, { content: `Write ${n}` }] }),
  };
}

/** Two turns of three calls each, then an answer. */
function answerTo({ messages }: ModelRequestRecord): Step {
  const n = messages.filter((message) => message.getType() === "ai").length;
  const id = `ai-${messages.length}`;
  if (n % 3 === 2) return new AIMessage({ id, content: `the end, ${TEXT}` });
  const call = (at: number, name: string, args: object) => ({
    id: `call-${n}-${at}`,
    name,
    args: { ...args },
  });
  const tool_calls = [
    call(0, "write_file", { file_path: `/${n}-0`, content: TEXT }),
    n === 0
      ? call(1, "write_todos", { todos: ["Read", "Write", "Check"] })
      : call(1, "update_todos", { add: [{ content: `More ${n}` }] }),
    call(2, "write_file", { file_path: `/${n}-2`, content: TEXT }),
  ];
  return new AIMessage({ id, content: "", tool_calls });
}
