import { TASKS, type CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { toTuple, type CheckpointRowKey } from "../checkpoint/index.ts";
import { Decoder, type DecodeContext } from "../codec/index.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { Threads } from "./threads.ts";

export interface TuplesParts extends Omit<DecodeContext, "thread"> {
  checkpoints: Checkpoints;
  threads: Threads;
  /** Returns the first version of a channel. */
  firstVersion: () => number;
}

/** Reads checkpoints as LangGraph's tuples: with their values, their writes, and the config of their parent. */
export class Tuples {
  readonly #parts: TuplesParts;

  constructor(parts: TuplesParts) {
    this.#parts = parts;
  }

  /** Reads the rows from one snapshot, before the first `await`. */
  async read(
    threadId: string,
    rowKey: CheckpointRowKey,
    decoder = this.decoder(rowKey.thread),
  ): Promise<CheckpointTuple | undefined> {
    const stored = this.#parts.checkpoints.get(rowKey);
    if (!stored) return undefined;
    const { header, channels, metadata, parent } = stored;
    const writes = this.#parts.checkpoints.writes(rowKey, stored);
    const sends = header.v < 4 && parent !== null ? this.#sendsOf({ ...rowKey, id: parent }) : undefined;
    const values = writes.map(({ value }) => value);
    try {
      await decoder.load([metadata, ...Object.values(channels), ...values, ...(sends ?? [])]);
    } catch (error) {
      // A long thread is read in steps, and may be deleted between two of them.
      if (this.#parts.threads.key(threadId) !== rowKey.thread) return undefined;
      throw error;
    }
    return toTuple(
      { threadId, rowKey, stored, writes, sends },
      { decoder, firstVersion: this.#parts.firstVersion },
    );
  }

  /** Checkpoints older than format 4 have their sends in the writes of their parent. */
  #sendsOf(rowKey: CheckpointRowKey): unknown[] {
    const stored = this.#parts.checkpoints.get(rowKey);
    return (stored ? this.#parts.checkpoints.writes(rowKey, stored) : [])
      .filter(({ channel }) => channel === TASKS)
      .map(({ value }) => value);
  }

  /** Whether a checkpoint's metadata has all of `filter`. Returns true for one that is gone: `read` handles it. */
  async matches(rowKey: CheckpointRowKey, filter: Record<string, unknown>): Promise<boolean> {
    const entries = Object.entries(filter);
    if (entries.length === 0) return true;
    const stored = this.#parts.checkpoints.get(rowKey);
    if (!stored) return true;
    const decoder = this.decoder(rowKey.thread);
    await decoder.load([stored.metadata]);
    const metadata = decoder.build(stored.metadata) as Record<string, unknown>;
    return entries.every(([key, value]) => metadata[key] === value);
  }

  decoder(thread: number, options?: { isLazy: boolean }): Decoder {
    return new Decoder({ ...this.#parts, thread }, options);
  }
}
