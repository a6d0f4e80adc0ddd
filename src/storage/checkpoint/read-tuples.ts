import {
  maxChannelVersion,
  TASKS,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
} from "@langchain/langgraph-checkpoint";
import type { Decoder } from "../codec/index.ts";
import { onThread } from "../store/index.ts";
import { toConfig, type CheckpointRowKey } from "./key.ts";
import type { ReadCheckpoints } from "./read-checkpoints.ts";
import type { StoredCheckpoint, StoredWrite } from "./stored-checkpoint.ts";

/** The number of checkpoints that `list` reads at a time. */
const LIST_PAGE = 64;

/** A checkpoint with its writes from one snapshot, still encoded. */
export interface CheckpointRows {
  threadId: string;
  rowKey: CheckpointRowKey;
  stored: StoredCheckpoint;
  writes: readonly StoredWrite[];
  /** The sends of its parent's tasks, where they are in the writes there: in checkpoints older than LangGraph's format 4. */
  sends: readonly unknown[] | undefined;
}

export interface TupleOptions {
  decoder: Decoder;
  /** Whether a thread still has this number. */
  exists: (threadId: string, thread: number) => boolean | Promise<boolean>;
  firstVersion: () => number;
}

/** Reads LangGraph's tuple of a checkpoint. Returns undefined when its thread was deleted meanwhile. */
export async function readTuple(
  rows: CheckpointRows,
  { decoder, exists, firstVersion }: TupleOptions,
): Promise<CheckpointTuple | undefined> {
  const { threadId, rowKey, stored, writes, sends = [] } = rows;
  const values = writes.map(({ value }) => value);
  try {
    await decoder.load([stored.metadata, ...Object.values(stored.channels), ...values, ...sends]);
  } catch (error) {
    // A long thread is read in steps, and may be deleted between two of them.
    if (!(await exists(threadId, rowKey.thread))) return undefined;
    throw error;
  }
  return toTuple(rows, decoder, firstVersion);
}

function toTuple(
  { threadId, rowKey: { ns, id }, stored, writes, sends }: CheckpointRows,
  decoder: Decoder,
  firstVersion: () => number,
): CheckpointTuple {
  const { header, channels, metadata, parent } = stored;
  const checkpoint: Checkpoint = { ...header, id, channel_values: {} };
  for (const [name, tree] of Object.entries(channels)) decoder.set(checkpoint.channel_values, name, tree);
  if (sends) {
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_values[TASKS] = decoder.build(sends);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : firstVersion();
  }
  return {
    config: toConfig({ threadId, ns, id }),
    checkpoint,
    metadata: decoder.build(metadata) as CheckpointMetadata,
    pendingWrites: writes.map(({ task, channel, value }) => {
      const write: CheckpointPendingWrite = [task, channel, undefined];
      decoder.set(write, 2, value);
      return write;
    }),
    ...(parent !== null && { parentConfig: toConfig({ threadId, ns, id: parent }) }),
  };
}

/** Options of `list`. */
export interface HistoryOptions extends CheckpointListOptions {
  /** @internal Returns long lists of messages as a `PartialList`. */
  isBrief?: boolean;
}

/** The checkpoints of a store, newest first. */
export interface CheckpointPages<Rows extends CheckpointRows> extends Omit<TupleOptions, "decoder"> {
  /** The checkpoints after `last`, which is undefined for the first page. */
  page: (last: Rows | undefined, limit: number) => Promise<readonly Rows[]>;
  /** A decoder with lazy lists. */
  decoder: (thread: number) => Decoder;
  readCheckpoints: ReadCheckpoints;
}

/** Lists checkpoints. Those of a thread on the same page share message objects. */
export async function* listTuples<Rows extends CheckpointRows>(
  options: HistoryOptions,
  pages: CheckpointPages<Rows>,
): AsyncGenerator<CheckpointTuple> {
  const { limit = Infinity, filter = {}, isBrief } = options;
  let last: Rows | undefined;
  let decoder: Decoder | undefined;
  for (let left = limit; left > 0;) {
    const page = await pages.page(last, Math.min(left, LIST_PAGE));
    if (page.length === 0) return;
    last = page.at(-1)!;
    // A brief history holds each message once, and reads it once.
    if (!isBrief) decoder = undefined;
    for (const rows of page) {
      const { thread } = rows.rowKey;
      pages.readCheckpoints.delete(rows.rowKey);
      if (decoder?.thread !== thread) decoder = pages.decoder(thread);
      const reading = { ...pages, decoder };
      const tuple = await onThread(rows.threadId, () => readTuple(rows, reading));
      if (!tuple || !matches(tuple.metadata, filter)) continue;
      left -= 1;
      yield tuple;
    }
  }
}

function matches(metadata: object | undefined, filter: Record<string, unknown>): boolean {
  return Object.entries(filter).every(
    ([key, value]) => (metadata as Record<string, unknown> | undefined)?.[key] === value,
  );
}
