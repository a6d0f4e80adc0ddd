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
/** The number of checkpoints on the first page of a brief history: often only the newest are needed. */
const FIRST_BRIEF_PAGE = 4;

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
  const isLoaded = await loadAll([rows], { decoder, exists });
  return isLoaded ? toTuple(rows, decoder, { firstVersion }) : undefined;
}

/** Fetches the blobs of checkpoints of a thread. Returns false when the thread was deleted meanwhile. */
async function loadAll(
  all: readonly CheckpointRows[],
  { decoder, exists }: Pick<TupleOptions, "decoder" | "exists">,
): Promise<boolean> {
  const trees = all.flatMap(({ stored, writes, sends = [] }) => {
    const values = writes.map(({ value }) => value);
    return [stored.metadata, ...Object.values(stored.channels), ...values, ...sends];
  });
  try {
    await decoder.load(trees);
    return true;
  } catch (error) {
    const { threadId, rowKey } = all[0]!;
    // A long thread is read in steps, and may be deleted between two of them.
    if (!(await exists(threadId, rowKey.thread))) return false;
    throw error;
  }
}

function toTuple(
  { threadId, rowKey: { ns, id }, stored, writes, sends }: CheckpointRows,
  decoder: Decoder,
  {
    firstVersion,
    channels: wanted = {},
  }: Pick<TupleOptions, "firstVersion"> & Pick<HistoryOptions, "channels">,
): CheckpointTuple {
  const { header, channels, metadata, parent } = stored;
  const checkpoint: Checkpoint = { ...header, id, channel_values: {} };
  for (const [name, tree] of Object.entries(channels)) {
    decoder.setChannel(checkpoint.channel_values, name, { tree, keys: wanted[name]?.keys });
  }
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

/** The properties of a value to read. Default: all. A store may return others, too. */
export interface Wanted {
  keys?: readonly string[];
}

/** Options of `list`. */
export interface HistoryOptions extends CheckpointListOptions {
  /** @internal Returns long lists of messages as a `PartialList`. */
  isBrief?: boolean;
  /** @internal The channels to read, each with the properties of its value to read. Default: all. */
  channels?: Readonly<Record<string, Wanted>>;
  /** @internal Leaves out the writes of tasks. A store may return them nevertheless. */
  omitsWrites?: boolean;
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
  const { limit = Infinity, filter = {}, isBrief, channels } = options;
  let last: Rows | undefined;
  let decoder: Decoder | undefined;
  let size = isBrief ? FIRST_BRIEF_PAGE : LIST_PAGE;
  for (let left = limit; left > 0; size = Math.min(2 * size, LIST_PAGE)) {
    const rowsOnPage = await pages.page(last, Math.min(left, size));
    if (rowsOnPage.length === 0) return;
    last = rowsOnPage.at(-1)!;
    const page = channels ? rowsOnPage.map((rows) => withChannels(rows, channels)) : rowsOnPage;
    // A brief history holds each message once, and reads it once.
    if (!isBrief) decoder = undefined;
    let loaded: Decoder | undefined;
    for (const [at, rows] of page.entries()) {
      const { thread } = rows.rowKey;
      pages.readCheckpoints.delete(rows.rowKey);
      if (decoder?.thread !== thread) decoder = pages.decoder(thread);
      const reading = { ...pages, decoder };
      if (isBrief && loaded !== decoder) {
        const rest = page.slice(at).filter(({ rowKey }) => rowKey.thread === thread);
        if (!(await onThread(rows.threadId, () => loadAll(rest, reading)))) continue;
        loaded = decoder;
      }
      const tuple = isBrief
        ? toTuple(rows, decoder, { ...pages, channels })
        : await onThread(rows.threadId, () => readTuple(rows, reading));
      if (!tuple || !matches(tuple.metadata, filter)) continue;
      left -= 1;
      yield tuple;
    }
  }
}

function withChannels(rows: CheckpointRows, wanted: Readonly<Record<string, Wanted>>): CheckpointRows {
  const { stored } = rows;
  const existing = Object.keys(wanted).filter((name) => Object.hasOwn(stored.channels, name));
  const channels = Object.fromEntries(existing.map((name) => [name, stored.channels[name]]));
  return { ...rows, stored: { ...stored, channels } };
}

function matches(metadata: object | undefined, filter: Record<string, unknown>): boolean {
  return Object.entries(filter).every(
    ([key, value]) => (metadata as Record<string, unknown> | undefined)?.[key] === value,
  );
}
