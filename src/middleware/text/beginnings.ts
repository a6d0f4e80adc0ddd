import type { BaseMessage } from "@langchain/core/messages";

interface Beginning<Found> {
  messages: readonly BaseMessage[];
  length: number;
  found: Found;
}

/**
 * A cache of findings about the beginnings of conversations. A thread passes every middleware in every model call,
 * and all but its last messages did so before.
 */
export class Beginnings<Found> {
  /** Beginnings by their first message, which is released with its thread. */
  readonly #known = new WeakMap<BaseMessage, Beginning<Found>>();

  /** The beginning of these messages that is known, if any. */
  of(messages: readonly BaseMessage[]): Pick<Beginning<Found>, "length" | "found"> | undefined {
    const known = messages[0] && this.#known.get(messages[0]);
    if (!known || known.length > messages.length) return undefined;
    for (let at = 0; at < known.length; at += 1) {
      if (known.messages[at] !== messages[at]) return undefined;
    }
    return known;
  }

  /** Caches a finding; the list must not change any more. */
  keep(messages: readonly BaseMessage[], length: number, found: Found): void {
    if (messages[0]) this.#known.set(messages[0], { messages, length, found });
  }
}
