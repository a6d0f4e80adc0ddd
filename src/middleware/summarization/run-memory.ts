import type { SystemMessage } from "@langchain/core/messages";
import { checkpointerOf } from "../../langgraph/index.ts";
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

/** The unsaved summaries and the last requests of threads, by thread and agent. */
class Threads {
  /** Summaries that were written and may not be saved yet. */
  readonly summaries = new Map<string, Summary>();
  /** The last requests. */
  readonly requests = new Map<string, Outgoing>();
}

/**
 * The threads of each checkpointer, as another one may have threads with the same ids. Kept across runs: a session builds
 * a new agent for each.
 */
const threadsOf = new WeakMap<object, Threads>();

/** The memory of one agent in one run, in this process only. */
export class RunMemory {
  readonly #threads: Threads;
  readonly #thread: string;
  #failures = 0;
  /** The number of messages before which no summary is tried again. */
  #retryAt = 0;

  /** `thread`: the thread's id and the agent's owner. */
  constructor(threads: Threads, thread: string) {
    this.#threads = threads;
    this.#thread = thread;
  }

  /** The last request, if it went to this model. */
  outgoingTo(model: object): Outgoing | undefined {
    const last = this.#threads.requests.get(this.#thread);
    return last?.model === model ? last : undefined;
  }

  noteOutgoing(request: Outgoing): void {
    setBounded(this.#threads.requests, this.#thread, request, MOST_THREADS);
  }

  /** A summary of the same messages that was not saved, as the model call after it failed. */
  unsavedSummary(upTo: string): Summary | undefined {
    const summary = this.#threads.summaries.get(this.#thread);
    return summary?.upTo === upTo ? summary : undefined;
  }

  keep(summary: Summary): void {
    setBounded(this.#threads.summaries, this.#thread, summary, MOST_THREADS);
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
    const { configurable, writer } = runtime;
    // Without a checkpointer, agents have nothing in common but ids.
    const scope = checkpointerOf(configurable) ?? this;
    const threads = threadsOf.get(scope) ?? new Threads();
    threadsOf.set(scope, threads);
    const thread = `${threadIdOf(runtime)} ${owner}`;
    // LangGraph creates one writer per run, and runs within the run share it.
    if (typeof writer !== "function") return new RunMemory(threads, thread);
    const run = this.#runs.get(writer) ?? new Map<string, RunMemory>();
    this.#runs.set(writer, run);
    const memory = run.get(owner) ?? new RunMemory(threads, thread);
    run.set(owner, memory);
    return memory;
  }
}
