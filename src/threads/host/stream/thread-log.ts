import { EventLog, type EventLogOptions } from "./event-log.ts";
import type { Said, ThreadEvent, ThreadSink, ThreadWriter } from "./thread-protocol.ts";

/** The most unwritten events: with more they are written, as the log knows which to drop. */
const MOST_UNWRITTEN = 10_000;

/**
 * The log of a thread in LangGraph's newer protocol. Most threads are followed in the older one: until somebody asks for
 * it, it is a list of what was said, most of which is in the logs of the runs too, and nothing is made of it.
 */
export class ThreadLog implements ThreadSink {
  readonly #log: EventLog<ThreadEvent>;
  #isAsked = false;
  // A list for each part: an object for each of what was said takes four times as much.
  #writers: ThreadWriter[] = [];
  #said: Said[] = [];
  #times: number[] = [];

  constructor(options: EventLogOptions<ThreadEvent>) {
    this.#log = new EventLog({ ...options, isKept: isWholeState });
  }

  get isRead(): boolean {
    return this.#log.isRead;
  }

  /** The log with all that there is. What is said from now on is written at once. */
  ask(): EventLog<ThreadEvent> {
    const [writers, said, times] = [this.#writers, this.#said, this.#times];
    [this.#writers, this.#said, this.#times, this.#isAsked] = [[], [], [], true];
    for (const [at, writer] of writers.entries()) writer.write(said[at]!, times[at]!);
    return this.#log;
  }

  say(writer: ThreadWriter, said: Said): void {
    const now = Date.now();
    if (this.#isAsked) {
      writer.write(said, now);
      return;
    }
    this.#writers.push(writer);
    this.#said.push(said);
    this.#times.push(now);
    if (this.#said.length > MOST_UNWRITTEN) this.ask();
  }

  push(event: ThreadEvent): void {
    this.#log.push(event);
  }

  close(): void {
    this.#log.close();
  }
}

/** Whether an event has the whole state of its thread. */
export function isWholeState({ method, params }: ThreadEvent): boolean {
  return method === "values" && params.namespace.length === 0;
}
