import type { SystemMessage } from "@langchain/core/messages";
import type { Summary } from "../context-memory/index.ts";
import type { Send } from "../plan/index.ts";
import { setBounded } from "../state/index.ts";
import { threadIdOf, type RunContext } from "../thread-data/index.ts";

/** The last request of an agent as it went out, behind all middleware. */
export interface Outgoing {
  system: SystemMessage | undefined;
  tools: readonly unknown[];
  model: object;
  /** Makes another call of the same model with the same tools. */
  send: Send;
}

const MOST_THREADS = 32;

/** Summaries that were written and may not have been saved yet. */
const written = new Map<string, Summary>();
/** The last requests, also of an earlier run of the same thread: a session builds an agent for each. */
const requests = new Map<string, Outgoing>();

/** The memory of one agent in one run, in this process alone. */
export class RunMemory {
  readonly #thread: string;
  #failures = 0;
  /** No other try before the conversation has so many messages. */
  #restUntil = 0;

  /** `thread`: its id, and the agent in it. */
  constructor(thread: string) {
    this.#thread = thread;
  }

  /** The last request that went to a model. */
  outgoingTo(model: object): Outgoing | undefined {
    const last = requests.get(this.#thread);
    return last?.model === model ? last : undefined;
  }

  noteOutgoing(request: Outgoing): void {
    setBounded(requests, this.#thread, request, MOST_THREADS);
  }

  /** A summary of the same messages whose model call failed: it is not paid for again. */
  written(upTo: string): Summary | undefined {
    const summary = written.get(this.#thread);
    return summary?.upTo === upTo ? summary : undefined;
  }

  keep(summary: Summary): void {
    setBounded(written, this.#thread, summary, MOST_THREADS);
  }

  isResting(length: number): boolean {
    return length < this.#restUntil;
  }

  /** Puts off the next try, longer with each failure. Returns whether it is the first. */
  failed(length: number): boolean {
    this.#failures += 1;
    this.#restUntil = length + 2 ** Math.min(this.#failures, MOST_DOUBLINGS);
    return this.#failures === 1;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#restUntil = 0;
  }
}

const MOST_DOUBLINGS = 6;

/** The memories of the runs of one agent. */
export class RunMemories {
  readonly #runs = new WeakMap<object, Map<string, RunMemory>>();

  of(runtime: RunContext, owner: string): RunMemory {
    const { writer } = runtime;
    const thread = `${threadIdOf(runtime)} ${owner}`;
    // LangGraph makes one for each run, and the runs within that run have it too.
    if (typeof writer !== "function") return new RunMemory(thread);
    const run = this.#runs.get(writer) ?? new Map<string, RunMemory>();
    this.#runs.set(writer, run);
    const memory = run.get(owner) ?? new RunMemory(thread);
    run.set(owner, memory);
    return memory;
  }
}
