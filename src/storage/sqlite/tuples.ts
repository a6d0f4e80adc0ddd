import { TASKS, type CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { toTuple, type Place } from "../checkpoint/index.ts";
import { Decoder, type DecodeContext } from "../codec/index.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { Threads } from "./threads.ts";

export interface TuplesParts extends Omit<DecodeContext, "thread"> {
  checkpoints: Checkpoints;
  threads: Threads;
  /** The version of a channel that has had none. */
  firstVersion: () => number;
}

/** Reads stored checkpoints as LangGraph wants them: with their values, their writes, and where they came from. */
export class Tuples {
  readonly #parts: TuplesParts;

  constructor(parts: TuplesParts) {
    this.#parts = parts;
  }

  /** The rows are read before the first `await`, as of one moment. */
  async read(
    threadId: string,
    place: Place,
    decoder = this.decoder(place.thread),
  ): Promise<CheckpointTuple | undefined> {
    const stored = this.#parts.checkpoints.get(place);
    if (!stored) return undefined;
    const { fixed, channels, metadata, parent } = stored;
    const writes = this.#parts.checkpoints.writes(place, stored);
    const sends = fixed.v < 4 && parent !== null ? this.#sendsOf({ ...place, id: parent }) : undefined;
    const values = writes.map(({ value }) => value);
    try {
      await decoder.load([metadata, ...Object.values(channels), ...values, ...(sends ?? [])]);
    } catch (error) {
      // A long thread is read in steps, and may be deleted between two of them.
      if (this.#parts.threads.key(threadId) !== place.thread) return undefined;
      throw error;
    }
    return toTuple(
      { threadId, place, stored, writes, sends },
      { decoder, firstVersion: this.#parts.firstVersion },
    );
  }

  /** Checkpoints older than format 4 have their sends in the writes of their parent. */
  #sendsOf(place: Place): unknown[] {
    const stored = this.#parts.checkpoints.get(place);
    return (stored ? this.#parts.checkpoints.writes(place, stored) : [])
      .filter(({ channel }) => channel === TASKS)
      .map(({ value }) => value);
  }

  /** Whether a checkpoint's metadata has all of `filter`. One that is gone is left to `read`. */
  async matches(place: Place, filter: Record<string, unknown>): Promise<boolean> {
    const entries = Object.entries(filter);
    if (entries.length === 0) return true;
    const stored = this.#parts.checkpoints.get(place);
    if (!stored) return true;
    const decoder = this.decoder(place.thread);
    await decoder.load([stored.metadata]);
    const metadata = decoder.build(stored.metadata) as Record<string, unknown>;
    return entries.every(([key, value]) => metadata[key] === value);
  }

  decoder(thread: number, options?: { isLazy: boolean }): Decoder {
    return new Decoder({ ...this.#parts, thread }, options);
  }
}
