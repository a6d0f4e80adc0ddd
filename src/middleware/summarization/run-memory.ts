import type { SystemMessage } from "@langchain/core/messages";
import type { Summary } from "../context-memory/index.ts";
import type { Send } from "../plan/index.ts";
import { setBounded } from "../state/index.ts";
import { threadIdOf, type RunContext } from "../thread-data/index.ts";

/** The last request of an agent, after all middleware. */
interface Outgoing {
  system: SystemMessage | undefined;
  tools: readonly unknown[];
  model: object;
  /** Calls the same model with the same tools. */
  send: Send;
}

const MOST_THREADS = 32;

/** Summaries that were written and may not be saved yet, by thread and agent. */
const summaries = new Map<string, Summary>();
/** The last requests, by thread and agent. Kept across runs: a session builds a new agent for each. */
const requests = new Map<string, Outgoing>();

/** The memory of one agent in one run, in this process only. */
export class RunMemory {
  readonly #thread: string;
  #failures = 0;
  /** The number of messages before which no summary is tried again. */
  #retryAt = 0;

  /** `thread`: the thread's id and the agent's owner. */
  constructor(thread: string) {
    this.#thread = thread;
  }

  /** The last request, if it went to this model. */
  outgoingTo(model: object): Outgoing | undefined {
    const last = requests.get(this.#thread);
    return last?.model === model ? last : undefined;
  }

  noteOutgoing(request: Outgoing): void {
    setBounded(requests, this.#thread, request, MOST_THREADS);
  }

  /** A summary of the same messages that was not saved, as the model call after it failed. */
  unsavedSummary(upTo: string): Summary | undefined {
    const summary = summaries.get(this.#thread);
    return summary?.upTo === upTo ? summary : undefined;
  }

  keep(summary: Summary): void {
    setBounded(summaries, this.#thread, summary, MOST_THREADS);
  }

  isBackingOff(length: number): boolean {
    return length < this.#retryAt;
  }

  /** Delays the next try, longer with each failure. Returns whether this is the first failure. */
  noteFailure(length: number): boolean {
    this.#failures += 1;
    this.#retryAt = length + 2 ** Math.min(this.#failures, MOST_DOUBLINGS);
    return this.#failures === 1;
  }

  noteSuccess(): void {
    this.#failures = 0;
    this.#retryAt = 0;
  }
}

const MOST_DOUBLINGS = 6;

/** The memories of the runs of one agent. */
export class RunMemories {
  readonly #runs = new WeakMap<object, Map<string, RunMemory>>();

  of(runtime: RunContext, owner: string): RunMemory {
    const { writer } = runtime;
    const thread = `${threadIdOf(runtime)} ${owner}`;
    // LangGraph creates one writer per run, and runs within the run share it.
    if (typeof writer !== "function") return new RunMemory(thread);
    const run = this.#runs.get(writer) ?? new Map<string, RunMemory>();
    this.#runs.set(writer, run);
    const memory = run.get(owner) ?? new RunMemory(thread);
    run.set(owner, memory);
    return memory;
  }
}
