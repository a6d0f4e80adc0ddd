import type { SystemMessage } from "@langchain/core/messages";
import type { Send } from "../plan/model-call/watched-model.ts";
import type { Summary } from "./state.ts";

/** The last request of an agent as it went out, behind all middleware. */
export interface Outgoing {
  system: SystemMessage | undefined;
  tools: readonly unknown[];
  /** Makes another call of the same model with the same tools. */
  send: Send;
}

/** Summaries that were written and may not have been saved yet, by thread. */
class Written {
  readonly #summaries = new Map<string, Summary>();

  get(thread: string, upTo: string): Summary | undefined {
    const summary = this.#summaries.get(thread);
    return summary?.upTo === upTo ? summary : undefined;
  }

  set(thread: string, summary: Summary): void {
    this.#summaries.delete(thread);
    this.#summaries.set(thread, summary);
    const [oldest] = this.#summaries.keys();
    if (this.#summaries.size > MOST_WRITTEN) this.#summaries.delete(oldest!);
  }
}

const MOST_WRITTEN = 64;

/** What is remembered of one agent in one run, in this process alone. */
export class RunMemory {
  outgoing: Outgoing | undefined;
  readonly #written: Written;
  #failures = 0;
  /** No other try before the conversation has so many messages. */
  #restUntil = 0;

  constructor(written: Written) {
    this.#written = written;
  }

  /** A summary of the same messages whose model call failed: it is not paid for again. */
  written(thread: string, upTo: string): Summary | undefined {
    return this.#written.get(thread, upTo);
  }

  keep(thread: string, summary: Summary): void {
    this.#written.set(thread, summary);
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
  readonly #written = new Written();
  readonly #runs = new WeakMap<object, Map<string, RunMemory>>();

  /** `writer`: LangGraph makes one for each run, and the runs within that run have it too. */
  of(writer: unknown, owner: string): RunMemory {
    if (typeof writer !== "function") return new RunMemory(this.#written);
    const run = this.#runs.get(writer) ?? new Map<string, RunMemory>();
    this.#runs.set(writer, run);
    const memory = run.get(owner) ?? new RunMemory(this.#written);
    run.set(owner, memory);
    return memory;
  }
}
