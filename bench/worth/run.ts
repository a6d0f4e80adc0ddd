import { HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { GraphRecursionError } from "@langchain/langgraph";
import { Counter } from "../count.ts";
import { draw } from "./draw.ts";
import type { Faults } from "./faults.ts";
import { jobOf, requestOf, stepIn } from "./job.ts";
import { SimulatedModel, Summarizer } from "./simulated-model.ts";
import type { Agent, System } from "./systems.ts";
import { workIn, workTool, World, type Scene } from "./world.ts";

/** What became of one task under one system. */
export interface Outcome {
  steps: number;
  /** Every step is truly done. */
  finished: boolean;
  /** Steps that were open when they vanished from the plan, and that were never done. */
  lost: number;
  /** Items that the plan called completed when it last showed them, and that are not. */
  falselyCompleted: number;
  workCalls: number;
  /** Work calls during which the plan showed something else, or nothing, in progress. */
  misshown: number;
  end: "answered" | "crashed" | "looped";
  error?: string;
  tokens: number;
  modelCalls: number;
}

/** Graph steps after which a run counts as endless; the longest run without faults takes about 90. */
const RECURSION_LIMIT = 160;

/** Runs tasks under a system. Agents are built once per window and used again: their state belongs to a run. */
export class Rig {
  readonly #system: System;
  readonly #scene: Scene = { world: new World(jobOf("")) };
  readonly #model: SimulatedModel;
  readonly #summarizer: Summarizer;
  readonly #agents = new Map<boolean, Agent>();

  constructor(system: System) {
    const counter = new Counter("o200k", "text");
    this.#system = system;
    this.#model = new SimulatedModel(counter);
    this.#summarizer = new Summarizer(counter);
  }

  /** Runs the task of a seed. Runs of one rig must not overlap. */
  async run(seed: string, faults: Faults, moreLines = 0): Promise<Outcome> {
    const world = new World(jobOf(seed), moreLines);
    this.#scene.world = world;
    this.#model.seed = seed;
    this.#model.faults = faults;
    this.#model.spent = { calls: 0, tokens: 0 };
    this.#summarizer.spent = { calls: 0, tokens: 0 };
    const agent = this.#agent(draw(seed, "context-limit") < faults["context-limit"]);
    const watch = new Watch(world);
    const { end, error } = await play(agent, watch);
    return {
      steps: world.job.steps.length,
      finished: world.isFinished,
      ...watch.figures(),
      end,
      ...(error !== undefined && { error }),
      tokens: this.#model.spent.tokens + this.#summarizer.spent.tokens,
      modelCalls: this.#model.spent.calls,
    };
  }

  #agent(isSmall: boolean): Agent {
    const known = this.#agents.get(isSmall);
    if (known) return known;
    const agent = this.#system.create({
      model: this.#model,
      tools: [workTool(this.#scene)],
      ...(isSmall && { summarizer: this.#summarizer }),
    });
    this.#agents.set(isSmall, agent);
    return agent;
  }
}

async function play(agent: Agent, watch: Watch): Promise<Pick<Outcome, "end" | "error">> {
  const input = { messages: [new HumanMessage({ content: requestOf(watch.world.job), id: "request" })] };
  try {
    const states = await agent.stream(input, { streamMode: "values", recursionLimit: RECURSION_LIMIT });
    for await (const state of states) watch.see(state as ShownState);
    return { end: "answered" };
  } catch (error) {
    if (error instanceof GraphRecursionError) return { end: "looped" };
    return { end: "crashed", error: (error as Error).message.split("\n")[0]! };
  }
}

interface ShownState {
  messages: BaseMessage[];
  todos?: { content: string; status: string }[];
}

/** Looks at the plan as a user does, after every step of the graph, and compares it with the world. */
class Watch {
  readonly world: World;
  /** The state in which each item was last shown. */
  readonly #last = new Map<string, string>();
  #shown: { name: string; status: string }[] = [];
  readonly #seen = new Set<string>();
  #misshown = 0;

  constructor(world: World) {
    this.world = world;
  }

  see({ messages, todos = [] }: ShownState): void {
    this.#shown = todos.flatMap(({ content, status }) => {
      const name = stepIn(content)?.name;
      return name === undefined ? [] : [{ name, status }];
    });
    for (const { name, status } of this.#shown) this.#last.set(name, status);
    const current = this.#shown.filter(({ status }) => status === "in_progress").map(({ name }) => name);
    // Plan calls of the same turn count as seen: a real work call takes longer than they do.
    this.#misshown += this.#newWork(messages).filter((name) => !current.includes(name)).length;
  }

  /** The work whose results are new in this state. The graph runs ahead of its stream, so the log is no help. */
  #newWork(messages: readonly BaseMessage[]): string[] {
    return messages.flatMap((message) => {
      if (!ToolMessage.isInstance(message) || this.#seen.has(message.tool_call_id)) return [];
      this.#seen.add(message.tool_call_id);
      return workIn(message.text)?.name ?? [];
    });
  }

  figures(): Pick<Outcome, "lost" | "falselyCompleted" | "workCalls" | "misshown"> {
    const names = new Set(this.#shown.map(({ name }) => name));
    const wrong = [...this.#last].filter(([name]) => !this.world.isTrulyDone(name));
    return {
      lost: wrong.filter(([name, status]) => status !== "completed" && !names.has(name)).length,
      falselyCompleted: wrong.filter(([, status]) => status === "completed").length,
      workCalls: this.world.log.length,
      misshown: this.#misshown,
    };
  }
}
