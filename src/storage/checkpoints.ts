import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { WRITES_IDX_MAP } from "@langchain/langgraph-checkpoint";
import type { Connection, Row, SqlValue } from "./connection.ts";
import type { Encoder } from "./encode.ts";

/** A place in the tables: the thread's number, the namespace, and a checkpoint's id. */
export interface Place {
  thread: number;
  ns: string;
  id: string;
}

export interface FoundPlace extends Place {
  threadId: string;
  /** Grows with every checkpoint that is put, whatever the clock says. */
  seq: number;
}

/** The parts of a checkpoint that are the same size at every step, kept as plain JSON. */
export type Head = Pick<Checkpoint, "v" | "ts" | "channel_versions" | "versions_seen">;

/** A stored checkpoint; `channels` and `metadata` are still encoded. */
export interface StoredCheckpoint {
  parent: string | null;
  head: Head;
  channels: Record<string, unknown>;
  metadata: unknown;
}

/** A stored write of a task; `value` is still encoded. */
export interface StoredWrite {
  task: string;
  channel: string;
  value: unknown;
}

export interface NewCheckpoint {
  parent: string;
  checkpoint: Checkpoint;
  metadata: CheckpointMetadata;
  newVersions: ChannelVersions;
}

/** The tables of checkpoints and of the writes that tasks have made since. */
export class Checkpoints {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  put(place: Place, { parent, checkpoint, metadata, newVersions }: NewCheckpoint, encoder: Encoder): void {
    const { v, ts, channel_versions, versions_seen } = checkpoint;
    const head: Head = { v, ts, channel_versions, versions_seen };
    const exact = isEdit(metadata);
    const before = exact || parent === "" ? undefined : this.get({ ...place, id: parent });
    const channels: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(checkpoint.channel_values)) {
      const version = channel_versions[name];
      const isNew = exact || Object.hasOwn(newVersions, name);
      const kept = before?.head.channel_versions[name] === version ? before?.channels[name] : undefined;
      if (!isNew && kept !== undefined) channels[name] = kept;
      // A value whose version nobody knows is not part of the checkpoint; one that has none is a channel's default.
      else if (isNew || version === undefined) channels[name] = JSON.parse(encoder.encode(value));
    }
    this.#connection.run(
      `INSERT INTO checkpoints (thread, ns, id, parent, head, channels, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (thread, ns, id) DO UPDATE SET
         parent = excluded.parent, head = excluded.head, channels = excluded.channels, metadata = excluded.metadata`,
      [
        ...toParams(place),
        parent === "" ? null : parent,
        JSON.stringify(head),
        JSON.stringify(channels),
        encoder.encode(metadata),
      ],
    );
  }

  /** A write of a task is kept as it was first made; errors, interrupts and answers to them replace the last ones. */
  putWrites(place: Place, task: string, writes: readonly PendingWrite[], encoder: Encoder): void {
    for (const [at, [channel, value]] of writes.entries()) {
      const index = Object.hasOwn(WRITES_IDX_MAP, channel) ? WRITES_IDX_MAP[channel]! : at;
      this.#connection.run(
        `INSERT OR ${index < 0 ? "REPLACE" : "IGNORE"} INTO writes (thread, ns, checkpoint, task, idx, channel, value) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        [...toParams(place), task, index, channel, encoder.encode(value)],
      );
    }
  }

  get(place: Place): StoredCheckpoint | undefined {
    const row = this.#connection.get(
      "SELECT parent, head, channels, metadata FROM checkpoints WHERE thread = ? AND ns = ? AND id = ?",
      toParams(place),
    );
    return row && toStored(row);
  }

  latest(thread: number, ns: string): string | undefined {
    const row = this.#connection.get(
      "SELECT id FROM checkpoints WHERE thread = ? AND ns = ? ORDER BY seq DESC LIMIT 1",
      [thread, ns],
    );
    return row?.["id"] as string | undefined;
  }

  writes(place: Place): StoredWrite[] {
    return this.#connection
      .all(
        "SELECT task, channel, value FROM writes WHERE thread = ? AND ns = ? AND checkpoint = ? ORDER BY task, idx",
        toParams(place),
      )
      .map(({ task, channel, value }) => ({
        task: task as string,
        channel: channel as string,
        value: JSON.parse(value as string) as unknown,
      }));
  }

  /** The checkpoints that match, newest first. Whatever is undefined matches all. */
  places(match: {
    thread?: number | undefined;
    ns?: string | undefined;
    id?: string | undefined;
    /** The `seq` that those found come before. */
    before?: number | undefined;
  }): FoundPlace[] {
    const conditions: [string, SqlValue | undefined][] = [
      ["c.thread = ?", match.thread],
      ["c.ns = ?", match.ns],
      ["c.id = ?", match.id],
      ["c.seq < ?", match.before],
    ];
    const used = conditions.filter(
      (condition): condition is [string, SqlValue] => condition[1] !== undefined,
    );
    const where = used.map(([sql]) => sql).join(" AND ") || "TRUE";
    const rows = this.#connection.all(
      `SELECT c.seq, c.thread, c.ns, c.id, t.id AS threadId FROM checkpoints c JOIN threads t ON t.key = c.thread WHERE ${where} ORDER BY c.seq DESC`,
      used.map(([, value]) => value),
    );
    return rows as unknown as FoundPlace[];
  }
}

/**
 * Whether versions tell nothing about the values. `updateState` applies what the tasks of a step have finished, and
 * raises no version for it; a copy stands beside the original, with values that its parent does not have.
 */
function isEdit({ source }: CheckpointMetadata): boolean {
  return source === "update" || source === "fork";
}

function toParams({ thread, ns, id }: Place): [number, string, string] {
  return [thread, ns, id];
}

function toStored({ parent, head, channels, metadata }: Row): StoredCheckpoint {
  return {
    parent: parent as string | null,
    head: JSON.parse(head as string) as Head,
    channels: JSON.parse(channels as string) as Record<string, unknown>,
    metadata: JSON.parse(metadata as string),
  };
}
