import type { Run } from "./hosted-run.ts";
import { risingNumber } from "./records.ts";
import { EventLog } from "./stream/event-log.ts";
import type { ThreadEvent } from "./stream/thread-protocol.ts";

/** A thread that is at work, or was a moment ago. */
export class ThreadQueue {
  active: Run | undefined;
  waiting: Run[] = [];
  /** The number of requests that are about to join the queue, and the last of them. */
  arriving = 0;
  arrival: Promise<unknown> = Promise.resolve();
  /** LangGraph's newer protocol, of all runs. */
  protocol: EventLog<ThreadEvent>;
  readonly #onUnread: () => void;
  /** When its thread was made: another may have the name later. */
  #madeAt: number | undefined;

  constructor(onUnread: () => void) {
    this.#onUnread = onUnread;
    this.protocol = this.#newProtocol();
  }

  get isBusy(): boolean {
    return this.isAtWork || this.arriving > 0;
  }

  /** Whether it has something to run, beside what is about to arrive. */
  get isAtWork(): boolean {
    return this.active !== undefined || this.waiting.length > 0;
  }

  noteMade(madeAt: number | undefined): void {
    // Another server may have deleted it: what was said in it is not for who has its name now.
    if (madeAt !== undefined && this.#madeAt !== undefined && madeAt !== this.#madeAt) {
      this.protocol.close();
      this.protocol = this.#newProtocol();
    }
    this.#madeAt = madeAt ?? this.#madeAt;
  }

  #newProtocol(): EventLog<ThreadEvent> {
    return new EventLog({ first: risingNumber(), onUnread: this.#onUnread, isKept: isWholeState });
  }
}

/** True for an event that has the whole state of its thread. */
export function isWholeState({ method, params }: ThreadEvent): boolean {
  return method === "values" && params.namespace.length === 0;
}
