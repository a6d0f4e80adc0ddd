import type { Run } from "./hosted-run.ts";
import { risingNumber } from "./records.ts";
import { EventLog } from "./stream/event-log.ts";
import type { ThreadEvent } from "./stream/thread-protocol.ts";

/** The runs of a thread in this process: the active one, and those that wait. */
export class ThreadQueue {
  active: Run | undefined;
  waiting: Run[] = [];
  /** Whether the thread has an open question. */
  isAsking = false;
  /** The number of requests that are about to join the queue, and the last of them. */
  arriving = 0;
  arrival: Promise<unknown> = Promise.resolve();
  /** The events of all its runs in LangGraph's newer protocol. */
  protocol: EventLog<ThreadEvent>;
  readonly #onUnread: () => void;
  /** When its thread was created: a later thread may have the same name. */
  #createdAt: number | undefined;

  constructor(onUnread: () => void) {
    this.#onUnread = onUnread;
    this.protocol = this.#newProtocol();
  }

  get isBusy(): boolean {
    return this.isAtWork || this.arriving > 0;
  }

  /** Whether it has a run, not counting requests that are about to join and runs that wait for an answer. */
  get isAtWork(): boolean {
    return this.active !== undefined || this.waiting.some((run) => !this.#isHeld(run));
  }

  /** Takes the next run that may start. */
  next(): Run | undefined {
    const at = this.waiting.findIndex((run) => !this.#isHeld(run));
    return at < 0 ? undefined : this.waiting.splice(at, 1)[0];
  }

  #isHeld({ request }: Run): boolean {
    return this.isAsking && request.waitsForAnswer === true;
  }

  noteCreation(createdAt: number | undefined): void {
    // Another server may have deleted the thread: a new thread of the same name must not get its events.
    if (createdAt !== undefined && this.#createdAt !== undefined && createdAt !== this.#createdAt) {
      this.protocol.close();
      this.protocol = this.#newProtocol();
    }
    this.#createdAt = createdAt ?? this.#createdAt;
  }

  #newProtocol(): EventLog<ThreadEvent> {
    return new EventLog({ first: risingNumber(), onUnread: this.#onUnread, isKept: isWholeState });
  }
}

/** True for an event that has the whole state of its thread. */
export function isWholeState({ method, params }: ThreadEvent): boolean {
  return method === "values" && params.namespace.length === 0;
}
