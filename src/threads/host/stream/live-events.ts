import type { RunEvent } from "../../events/index.ts";

/** A run event with the id of its run, and its number in the host's stream. */
export type StampedEvent = RunEvent & { run?: string; n?: number };

/** An event of a host, for readers of all threads. */
export type HostEvent =
  | { kind: "run"; thread: string; owner: string | undefined; event: StampedEvent }
  | { kind: "thread"; thread: string; owner: string | undefined }
  /** More of the thread is saved than its events tell. */
  | { kind: "moved"; thread: string; owner: string | undefined }
  | { kind: "removed"; thread: string; owner: string | undefined };

const MOST = 20_000;

/**
 * The events of a run so far, for readers that join later. Pieces of text and thoughts go when the answer is complete, and a
 * command's output when there is newer.
 */
export class LiveEvents {
  #events: StampedEvent[] = [];

  push(event: StampedEvent): void {
    if (event.type === "model-end") {
      const { owner } = event;
      const start = this.#events.findLastIndex((one) => one.type === "model-start" && one.owner === owner);
      this.#events = this.#events.filter(
        (one, at) => at < start || (one.type !== "text" && one.type !== "thought") || one.owner !== owner,
      );
    }
    if (event.type === "tool-output" || event.type === "tool-end") {
      const { owner, call } = event;
      const last = this.#events.findLastIndex(
        (one) => "call" in one && one.call === call && "owner" in one && one.owner === owner,
      );
      if (this.#events[last]?.type === "tool-output") this.#events.splice(last, 1);
    }
    this.#events.push(event);
    if (this.#events.length > MOST) this.#events = this.#events.slice(MOST / 4);
  }

  all(): readonly StampedEvent[] {
    return this.#events;
  }
}
