import type { CallToolResult, ElicitResult } from "@modelcontextprotocol/client";
import type { FormQuestion } from "./form.ts";

/** The number of times that progress may renew a call's time limit. */
const MAX_RENEWALS = 30;

/** Makes a call that ends with the signal and reports its progress. */
type MakeCall = (options: { signal: AbortSignal; onprogress: () => void }) => Promise<CallToolResult>;

/** The next event of a call: its result, or its server's question to the user. */
type CallEvent = { result: CallToolResult } | { question: FormQuestion };

/** A call running at a server. It can wait for the user while its run is stopped. */
export class LiveCall {
  /** The requests for the answers so far. */
  readonly requests: object[] = [];
  readonly #controller = new AbortController();
  readonly #silenceMs: number;
  readonly #result: Promise<CallEvent>;
  readonly #questions: { question: FormQuestion; answer: (answer: ElicitResult) => void }[] = [];
  #onArrival = (): void => {};
  #timer: NodeJS.Timeout | undefined;
  /** The end of the time that progress may extend. */
  #deadline: number;
  #isOver = false;

  constructor(make: MakeCall, silenceMs: number) {
    this.#silenceMs = silenceMs;
    this.#deadline = performance.now() + silenceMs * MAX_RENEWALS;
    this.#restartTimer();
    this.#result = this.#run(make);
    // The call may fail before `next` awaits it.
    this.#result.catch(() => {});
  }

  async #run(make: MakeCall): Promise<CallEvent> {
    const { signal } = this.#controller;
    // A server that is still starting does not react to the signal.
    const cancellation = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    });
    try {
      const result = await Promise.race([
        make({ signal, onprogress: () => this.#restartTimer() }),
        cancellation,
      ]);
      return { result };
    } finally {
      this.#isOver = true;
      clearTimeout(this.#timer);
    }
  }

  /** Waits for the result or an open question. Throws the error of the call. */
  async next(): Promise<CallEvent> {
    if (this.#questions.length === 0) {
      const arrival = new Promise<void>((resolve) => (this.#onArrival = resolve));
      await Promise.race([this.#result, arrival]);
    }
    const [open] = this.#questions;
    return open ? { question: open.question } : this.#result;
  }

  /** Adds a question of the server, and resolves to its answer. The time limit is suspended until then. */
  ask(question: FormQuestion): Promise<ElicitResult> {
    clearTimeout(this.#timer);
    return new Promise((answer) => {
      this.#questions.push({ question, answer });
      this.#onArrival();
    });
  }

  /** Answers the oldest open question. */
  answer(answer: ElicitResult): void {
    this.#questions.shift()?.answer(answer);
    if (this.#questions.length > 0) return;
    this.#deadline = performance.now() + this.#silenceMs * MAX_RENEWALS;
    this.#restartTimer();
  }

  /** Cancels the call and its open questions. */
  cancel(reason: unknown): void {
    this.#controller.abort(reason);
    for (const { answer } of this.#questions.splice(0)) answer({ action: "cancel" });
  }

  #restartTimer(): void {
    clearTimeout(this.#timer);
    if (this.#isOver || this.#questions.length > 0) return;
    const left = Math.min(this.#silenceMs, this.#deadline - performance.now());
    const seconds = Math.round(this.#silenceMs / 100) / 10;
    this.#timer = setTimeout(
      () => this.cancel(new Error(`It did not answer within ${seconds} s, and the call was cancelled.`)),
      Math.max(left, 0),
    );
  }
}

/** The time for the user's answer; after that the call is made again. */
const PATIENCE_MS = 15 * 60_000;

/** Calls that wait for the user while their run is stopped. A run in another process makes them again. */
export class WaitingCalls {
  readonly #calls = new Map<string, { live: LiveCall; timer: NodeJS.Timeout }>();

  keep(key: string, live: LiveCall): void {
    const timer = setTimeout(
      () => this.take(key)?.cancel(new Error("The user did not answer.")),
      PATIENCE_MS,
    );
    this.#calls.set(key, { live, timer: timer.unref() });
  }

  take(key: string): LiveCall | undefined {
    const entry = this.#calls.get(key);
    this.#calls.delete(key);
    clearTimeout(entry?.timer);
    return entry?.live;
  }
}
