import type { CallToolResult, ElicitResult } from "@modelcontextprotocol/client";
import type { FormQuestion } from "./form.ts";

/** The most times that progress may renew a call's time limit. */
const MOST_TIMES = 30;

/** Makes a call that ends with the signal and reports its progress. */
export type MakeCall = (options: { signal: AbortSignal; onprogress: () => void }) => Promise<CallToolResult>;

/** The next event of a call: its result, or its server's question to a person. */
export type NextOfCall = { result: CallToolResult } | { question: FormQuestion };

/** A call that is under way at a server. It can wait for a person while the run that made it is stopped. */
export class LiveCall {
  /** Answered questions of the call so far. */
  readonly asked: object[] = [];
  readonly #controller = new AbortController();
  readonly #silenceMs: number;
  readonly #result: Promise<NextOfCall>;
  readonly #questions: { question: FormQuestion; answer: (answer: ElicitResult) => void }[] = [];
  #onArrival = (): void => {};
  #timer: NodeJS.Timeout | undefined;
  #lastMs: number;
  #isOver = false;

  constructor(make: MakeCall, silenceMs: number) {
    this.#silenceMs = silenceMs;
    this.#lastMs = performance.now() + silenceMs * MOST_TIMES;
    this.#wind();
    this.#result = this.#run(make);
    // It may fail while nobody waits for it.
    this.#result.catch(() => {});
  }

  async #run(make: MakeCall): Promise<NextOfCall> {
    const { signal } = this.#controller;
    // A server that is still being started does not hear that nobody waits.
    const cancelled = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    });
    try {
      const result = await Promise.race([make({ signal, onprogress: () => this.#wind() }), cancelled]);
      return { result };
    } finally {
      this.#isOver = true;
      clearTimeout(this.#timer);
    }
  }

  /** The result, or the next open question. Throws what the call failed with. */
  async next(): Promise<NextOfCall> {
    if (this.#questions.length === 0) {
      const arrival = new Promise<void>((resolve) => (this.#onArrival = resolve));
      await Promise.race([this.#result, arrival]);
    }
    const [open] = this.#questions;
    return open ? { question: open.question } : this.#result;
  }

  /** Called by the server's connection. Time stands still until it is answered. */
  ask(question: FormQuestion): Promise<ElicitResult> {
    clearTimeout(this.#timer);
    return new Promise((answer) => {
      this.#questions.push({ question, answer });
      this.#onArrival();
    });
  }

  /** Answers the question that is open. */
  answer(answer: ElicitResult): void {
    this.#questions.shift()?.answer(answer);
    if (this.#questions.length > 0) return;
    this.#lastMs = performance.now() + this.#silenceMs * MOST_TIMES;
    this.#wind();
  }

  /** Tells the server that nobody waits any more. */
  cancel(reason: unknown): void {
    this.#controller.abort(reason);
    for (const { answer } of this.#questions.splice(0)) answer({ action: "cancel" });
  }

  #wind(): void {
    clearTimeout(this.#timer);
    if (this.#isOver || this.#questions.length > 0) return;
    const left = Math.min(this.#silenceMs, this.#lastMs - performance.now());
    const seconds = Math.round(this.#silenceMs / 100) / 10;
    this.#timer = setTimeout(
      () => this.cancel(new Error(`It did not answer within ${seconds} s, and the call was cancelled.`)),
      Math.max(left, 0),
    );
  }
}

/** The time for a person's answer; after it the call is made anew. */
const PATIENCE_MS = 15 * 60_000;

/** Calls that wait for a person while the run that made them is stopped. A run in another process makes them anew. */
export class WaitingCalls {
  readonly #calls = new Map<string, { live: LiveCall; timer: NodeJS.Timeout }>();

  keep(key: string, live: LiveCall): void {
    const timer = setTimeout(() => this.take(key)?.cancel(new Error("Nobody answered.")), PATIENCE_MS);
    this.#calls.set(key, { live, timer: timer.unref() });
  }

  /** The call, for whoever goes on with it. */
  take(key: string): LiveCall | undefined {
    const found = this.#calls.get(key);
    this.#calls.delete(key);
    clearTimeout(found?.timer);
    return found?.live;
  }
}
