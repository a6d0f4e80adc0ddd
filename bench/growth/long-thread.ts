import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { createAgent } from "langchain";
import { callTool, type Step } from "../../src/testing/scripted-model.ts";
import { collectYoung } from "../garbage.ts";
import type { Product } from "../time/product.ts";
import { kilobyteTool } from "../time/script.ts";

export const CONFIG = { configurable: { thread_id: "t" }, recursionLimit: 10_000 };
/** Turns that are really run on top of a history, after one that is not counted. */
const RUN = 12;

type Saver = Awaited<ReturnType<Product["storage"]["sqliteSaver"]>>;

/** An agent with a plan, its model played, on a store or on none; with LangChain's own loop, or with ours. */
export function agentOn(
  { main, testing }: Product,
  saver: Saver | undefined,
  { steps, isLight }: { steps: readonly Step[]; isLight: boolean },
) {
  const agent = createAgent({
    model: new testing.ScriptedModel(steps),
    tools: [kilobyteTool],
    middleware: [main.planMiddleware()],
    ...(saver && { checkpointer: saver }),
  });
  return isLight ? main.lightLoop(agent) : agent;
}

/** Turns of one call with a result of 1 kB each. */
export function historyOf(turns: number): BaseMessage[] {
  const messages: BaseMessage[] = [new HumanMessage({ id: "request", content: "Go." })];
  for (let n = 0; n < turns; n++) {
    const call = { id: `call-${n}`, name: "work", args: { n }, type: "tool_call" as const };
    messages.push(new AIMessage({ id: `ai-${n}`, content: "", tool_calls: [call] }));
    const content = `result ${n} `.padEnd(1024, `${n} `);
    messages.push(new ToolMessage({ id: `result-${n}`, name: "work", tool_call_id: call.id, content }));
  }
  return messages;
}

const CLASSES = { AIMessage, HumanMessage, ToolMessage };

/** A message out of its JSON. */
export function messageOf(text: string): BaseMessage {
  const { id, kwargs } = JSON.parse(text) as { id: (keyof typeof CLASSES)[]; kwargs: never };
  return new CLASSES[id.at(-1)!](kwargs);
}

/** A thread with a history, in a file of its own. */
export class LongThread {
  readonly turns: number;
  readonly #product: Product;
  readonly #folder = mkdtempSync(join(tmpdir(), "holdfast-growth-"));

  constructor(product: Product, turns: number) {
    this.#product = product;
    this.turns = turns;
  }

  /** A saver that has just been opened, for as long as the work takes; on a copy, as the thread is to stay this long. */
  async on<T>(work: (saver: Saver) => Promise<T>): Promise<T> {
    const copy = join(this.#folder, "copy.db");
    copyFileSync(this.#file, copy);
    return this.#open(copy, work);
  }

  get #file(): string {
    return join(this.#folder, "threads.db");
  }

  async #open<T>(file: string, work: (saver: Saver) => Promise<T>): Promise<T> {
    const saver = await this.#product.storage.sqliteSaver(file);
    try {
      return await work(saver);
    } finally {
      saver.close();
    }
  }

  async build(): Promise<void> {
    await this.#open(this.#file, async (saver) => {
      const { graph } = agentOn(this.#product, saver, { steps: [], isLight: false });
      await graph.updateState(CONFIG, { messages: historyOf(this.turns) }, "tools");
      await this.#run(saver, true);
    });
  }

  /** Processor time per turn of a run on top of the history. */
  async turn(isLight: boolean): Promise<number> {
    return this.on((saver) => this.#run(saver, isLight));
  }

  async turnWithoutStore(isLight: boolean): Promise<number> {
    const { steps, perTurn } = turnsOf();
    const agent = agentOn(this.#product, undefined, { steps, isLight });
    const messages = [...historyOf(this.turns), new HumanMessage("And on.")];
    await agent.invoke({ messages }, CONFIG);
    return perTurn();
  }

  /** An agent without a store that is to be asked once more, and all that it has to be given for that. */
  inMemory(): { agent: ReturnType<typeof agentOn>; messages: BaseMessage[] } {
    const agent = agentOn(this.#product, undefined, { steps: ["Well."], isLight: true });
    const question = new HumanMessage({ id: "question", content: "How far are you?" });
    return { agent, messages: [...historyOf(this.turns), question] };
  }

  async #run(saver: Saver, isLight: boolean): Promise<number> {
    const { steps, perTurn } = turnsOf();
    const agent = agentOn(this.#product, saver, { steps, isLight });
    await agent.invoke({ messages: [new HumanMessage("And on.")] }, CONFIG);
    return perTurn();
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Milliseconds of processor time that something takes. */
export async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  collectYoung();
  const start = process.cpuUsage();
  await work();
  return millisecondsSince(start);
}

function millisecondsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** A script that looks at the clock of the processor when the model is asked: what is before and after does not count. */
function turnsOf(): { steps: Step[]; perTurn: () => number } {
  let start: NodeJS.CpuUsage | undefined;
  let total = 0;
  const begin: Step = () => {
    collectYoung();
    start = process.cpuUsage();
    return callTool("work", { n: 0 });
  };
  const end: Step = () => {
    total = millisecondsSince(start!);
    return "Finished.";
  };
  const work = Array.from({ length: RUN - 1 }, (_, n): Step => callTool("work", { n }));
  return { steps: [callTool("work", { n: 0 }), begin, ...work, end], perTurn: () => total / RUN };
}
