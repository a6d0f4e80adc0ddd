import {
  maxChannelVersion,
  TASKS,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
} from "@langchain/langgraph-checkpoint";
import { asItIs, type Decoder, type Encoder } from "../codec/index.ts";
import type { CheckpointSummary } from "../store/index.ts";
import { toConfig, type Place } from "./key.ts";

/** The parts of a checkpoint that are the same size at every step, kept as plain JSON. */
export type Fixed = Pick<Checkpoint, "v" | "ts" | "channel_versions" | "versions_seen">;

/** A stored checkpoint; `channels` and `metadata` are still encoded. */
export interface StoredCheckpoint {
  seq: number;
  /** How many writes tasks have made to it. */
  writes: number;
  parent: string | null;
  fixed: Fixed;
  channels: Record<string, unknown>;
  metadata: unknown;
}

/** A stored write of a task; `value` is still encoded. */
export interface StoredWrite {
  task: string;
  channel: string;
  value: unknown;
}

export function fixedOf({ v, ts, channel_versions, versions_seen }: Checkpoint): Fixed {
  return { v, ts, channel_versions, versions_seen };
}

/** What a checkpoint stores of its channels: what is new, and for the rest where its parent has it. */
export function encodeChannels(
  { channel_values: values, channel_versions: versions }: Checkpoint,
  {
    newVersions,
    exact,
    before,
  }: {
    newVersions: ChannelVersions;
    exact: boolean;
    before: Pick<StoredCheckpoint, "fixed" | "channels"> | undefined;
  },
  encoder: Encoder,
): Record<string, unknown> {
  const channels: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    const version = versions[name];
    const isNew = exact || Object.hasOwn(newVersions, name);
    const kept = before?.fixed.channel_versions[name] === version ? before?.channels[name] : undefined;
    if (!isNew && kept !== undefined) channels[name] = kept;
    // A value whose version nobody knows is not part of the checkpoint; one that has none is a channel's default.
    else if (isNew || version === undefined) channels[name] = JSON.parse(encoder.encode(value));
  }
  return channels;
}

/**
 * Whether versions tell nothing about the values. `updateState` applies what the tasks of a step have finished, and
 * raises no version for it; a copy stands beside the original, with values that its parent does not have.
 */
export function isEdit({ source }: CheckpointMetadata): boolean {
  return source === "update" || source === "fork";
}

/** A checkpoint as it is now; what is the same as in its parent is stored from there. */
export function checkpointAsItIs(
  checkpoint: Checkpoint,
  metadata: CheckpointMetadata,
  newVersions: ChannelVersions,
): Checkpoint {
  const { channel_values: values, channel_versions: versions } = checkpoint;
  const isStored = (name: string): boolean =>
    isEdit(metadata) || Object.hasOwn(newVersions, name) || versions[name] === undefined;
  const copies = new Map<object, object>();
  const made = Object.entries(values).map(([name, value]) => [
    name,
    isStored(name) ? asItIs(value, copies) : value,
  ]);
  return { ...checkpoint, channel_values: Object.fromEntries(made) as Record<string, unknown> };
}

/** The rows of a checkpoint, still encoded. */
export interface TupleRows {
  threadId: string;
  place: Place;
  stored: StoredCheckpoint;
  writes: readonly StoredWrite[];
  /** What tasks of its parent have sent, where it is in the writes there. */
  sends: readonly unknown[] | undefined;
}

/** Builds a checkpoint as LangGraph wants it; all that it leads to has been loaded. */
export function toTuple(
  { threadId, place: { ns, id }, stored, writes, sends }: TupleRows,
  { decoder, firstVersion }: { decoder: Decoder; firstVersion: () => number },
): CheckpointTuple {
  const { fixed, channels, metadata, parent } = stored;
  const checkpoint: Checkpoint = { ...fixed, id, channel_values: {} };
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

/** The columns of a checkpoint's row that its summary needs. */
export interface SummaryRow extends Pick<CheckpointSummary, "id" | "ns" | "seq"> {
  parent: string | null;
  head: string;
  metadata: string;
}

/** Returns `metadata` still encoded. */
export function toSummary({
  id,
  parent,
  ns,
  seq,
  head,
  metadata,
}: SummaryRow): Omit<CheckpointSummary, "metadata"> & { metadata: unknown } {
  return {
    id,
    ...(parent !== null && { parentId: parent }),
    ns,
    seq,
    createdAt: new Date((JSON.parse(head) as Fixed).ts),
    metadata: JSON.parse(metadata),
  };
}
