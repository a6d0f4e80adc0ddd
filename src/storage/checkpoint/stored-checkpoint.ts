import {
  WRITES_IDX_MAP,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
} from "@langchain/langgraph-checkpoint";
import { frozenCopy, type Decoder, type Encoder } from "../codec/index.ts";
import type { CheckpointSummary } from "../store/index.ts";

/** The parts of a checkpoint that are the same size at every step, kept as plain JSON. */
export type CheckpointHeader = Pick<Checkpoint, "v" | "ts" | "channel_versions" | "versions_seen">;

/** A stored checkpoint; `channels` and `metadata` are still encoded. */
export interface StoredCheckpoint {
  seq: number;
  /** The number of writes that tasks have made to it. */
  writes: number;
  parent: string | null;
  header: CheckpointHeader;
  channels: Record<string, unknown>;
  metadata: unknown;
}

/** A stored write of a task; `value` is still encoded. */
export interface StoredWrite {
  task: string;
  channel: string;
  value: unknown;
}

/** Parses the row of a checkpoint with this number of writes. */
export function toStored(
  { seq, parent, head, channels, metadata }: SummaryRow & { channels: string },
  writes: number,
): StoredCheckpoint {
  return {
    seq,
    parent,
    writes,
    header: JSON.parse(head) as CheckpointHeader,
    channels: JSON.parse(channels) as Record<string, unknown>,
    metadata: JSON.parse(metadata),
  };
}

export function headerOf({ v, ts, channel_versions, versions_seen }: Checkpoint): CheckpointHeader {
  return { v, ts, channel_versions, versions_seen };
}

interface ChannelChange {
  newVersions: ChannelVersions;
  isEdited: boolean;
  parent: Pick<StoredCheckpoint, "header" | "channels"> | undefined;
}

/** Encodes the channels of a checkpoint: new values, and for the rest the references of its parent. */
export function encodeChannels(
  { channel_values: values, channel_versions: versions }: Checkpoint,
  { newVersions, isEdited, parent }: ChannelChange,
  encoder: Encoder,
): Record<string, unknown> {
  const channels: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    const version = versions[name];
    const isNew = isEdited || Object.hasOwn(newVersions, name);
    const inherited = parent?.header.channel_versions[name] === version ? parent?.channels[name] : undefined;
    if (!isNew && inherited !== undefined) channels[name] = inherited;
    // A value whose version is unchanged, and that the parent lacks, is not part of the checkpoint; one without a version is a default.
    else if (isNew || version === undefined) channels[name] = JSON.parse(encoder.encode(value));
  }
  return channels;
}

/**
 * Whether values may have changed without a new version. `updateState` applies finished writes of a step and raises no
 * version for them; a fork has values that its parent does not have.
 */
export function isEdit({ source }: CheckpointMetadata): boolean {
  return source === "update" || source === "fork";
}

/** Copies the values of a checkpoint that will be stored; the others are taken from its parent. */
export function freezeCheckpoint(
  checkpoint: Checkpoint,
  metadata: CheckpointMetadata,
  newVersions: ChannelVersions,
): Checkpoint {
  const { channel_values: values, channel_versions: versions } = checkpoint;
  const isStored = (name: string): boolean =>
    isEdit(metadata) || Object.hasOwn(newVersions, name) || versions[name] === undefined;
  const copies = new Map<object, object>();
  const entries = Object.entries(values).map(([name, value]) => [
    name,
    isStored(name) ? frozenCopy(value, copies) : value,
  ]);
  return { ...checkpoint, channel_values: Object.fromEntries(entries) as Record<string, unknown> };
}

/** The columns of a checkpoint's row that its summary needs. */
export interface SummaryRow extends Pick<CheckpointSummary, "id" | "ns" | "seq"> {
  parent: string | null;
  head: string;
  metadata: string;
}

export async function readSummaries(
  rows: readonly SummaryRow[],
  decoder: Decoder,
): Promise<CheckpointSummary[]> {
  const trees = rows.map(({ metadata }) => JSON.parse(metadata) as unknown);
  await decoder.load(trees);
  return rows.map(({ id, parent, ns, seq, head }, at) => ({
    id,
    ...(parent !== null && { parentId: parent }),
    ns,
    seq,
    createdAt: new Date((JSON.parse(head) as CheckpointHeader).ts),
    metadata: decoder.build(trees[at]) as CheckpointMetadata,
  }));
}

/** Reads some channels; leaves out those that do not exist. */
export async function readChannels(
  channels: StoredCheckpoint["channels"],
  names: readonly string[],
  decoder: Decoder,
): Promise<Record<string, unknown>> {
  const existing = names.filter((name) => Object.hasOwn(channels, name));
  await decoder.load(existing.map((name) => channels[name]));
  const values = {};
  for (const name of existing) decoder.set(values, name, channels[name]);
  return values;
}

/** The index of a write: errors, interrupts and answers to them have fixed, negative ones. */
export function writeIndex(channel: string, at: number): number {
  return Object.hasOwn(WRITES_IDX_MAP, channel) ? WRITES_IDX_MAP[channel]! : at;
}
