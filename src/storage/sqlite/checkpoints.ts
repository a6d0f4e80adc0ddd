import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { SCHEDULED, TASKS } from "@langchain/langgraph-checkpoint";
import {
  encodeChannels,
  headerOf,
  isEdit,
  toStored,
  writeIndex,
  type CheckpointRows,
  type CheckpointRowKey,
  type StoredCheckpoint,
  type StoredWrite,
} from "../checkpoint/index.ts";
import type { Encoder } from "../codec/index.ts";
import {
  CHECKPOINTS,
  corrupt,
  THREADS,
  WRITES,
  type Connection,
  type HeadRow,
  type SqlValue,
  type TableRow,
} from "./database/index.ts";
import type { LatestCheckpoints } from "./latest-checkpoints.ts";

/** A filter for checkpoints. A property that is undefined matches all. */
export interface CheckpointFilter {
  thread?: number;
  ns?: string;
  id?: string;
  /** Matches only smaller values of `seq`. */
  before?: number;
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
  readonly #latest: LatestCheckpoints;

  constructor(connection: Connection, latest: LatestCheckpoints) {
    this.#connection = connection;
    this.#latest = latest;
  }

  put(
    rowKey: CheckpointRowKey,
    { parent, checkpoint, metadata, newVersions }: NewCheckpoint,
    encoder: Encoder,
  ): number {
    const top = this.#latest.get(rowKey.thread, rowKey.ns);
    const isEdited = isEdit(metadata);
    const base = isEdited || parent === "" ? undefined : this.#find({ ...rowKey, id: parent }, top);
    const channels = encodeChannels(checkpoint, { newVersions, isEdited, parent: base }, encoder);
    const { exists, pending } = top?.id === rowKey.id ? { exists: true, pending: 0 } : this.#status(rowKey);
    const existing = exists ? this.#find(rowKey, top) : undefined;
    const seq = existing?.seq ?? this.#append(rowKey, { top, isEdited, pending });
    const row = {
      ...rowKey,
      seq,
      parent: parent === "" ? null : parent,
      writes: existing?.writes ?? 0,
      head: JSON.stringify(headerOf(checkpoint)),
      channels: JSON.stringify(channels),
      metadata: encoder.encode(metadata),
    };
    CHECKPOINTS.put(this.#connection, row);
    return seq;
  }

  /** Whether a checkpoint exists, and its number of writes: LangGraph may save these before the checkpoint. */
  #status(rowKey: CheckpointRowKey): { exists: boolean; pending: number } {
    const { pending, seq } = this.#connection.get(STATUS, [...toParams(rowKey), ...toParams(rowKey)]) as {
      pending: number;
      seq: number | null;
    };
    return { exists: seq !== null, pending };
  }

  /** Makes a new checkpoint the newest of its namespace, and returns its `seq`. */
  #append(
    { thread, ns, id }: CheckpointRowKey,
    { top, isEdited, pending }: { top: HeadRow | undefined; isEdited: boolean; pending: number },
  ): number {
    if (top) {
      const writes = top.pending - (isEdited ? 0 : this.#deleteBegun(top));
      this.#setWrites(this.#newest(top), writes);
    }
    const { last } = this.#connection.get("SELECT max(seq) AS last FROM checkpoints") as {
      last: number | null;
    };
    const seq = (last ?? 0) + 1;
    this.#latest.put({ thread, ns, seq, id, count: (top?.count ?? 0) + 1, pending });
    return seq;
  }

  #newest(head: HeadRow): TableRow<typeof CHECKPOINTS> | undefined {
    return CHECKPOINTS.get(this.#connection, "WHERE seq = ?", [head.seq]);
  }

  /** Deletes the marks of calls running, as their step is over. The user's edit does not end a step. */
  #deleteBegun({ thread, ns, id }: HeadRow): number {
    const sql = "DELETE FROM writes WHERE thread = ? AND ns = ? AND checkpoint = ? AND channel = ?";
    return this.#connection.run(sql, [thread, ns, id, SCHEDULED]).changes;
  }

  #setWrites(row: TableRow<typeof CHECKPOINTS> | undefined, writes: number): void {
    if (!row || row.writes === writes) return;
    this.#connection.run("UPDATE checkpoints SET writes = ?, seal = ? WHERE seq = ?", [
      writes,
      CHECKPOINTS.checksum({ ...row, writes }),
      row.seq,
    ]);
  }

  /** Adds the writes of a task. Existing writes stay, but errors, interrupts and answers to them are replaced. */
  putWrites(rowKey: CheckpointRowKey, task: string, writes: readonly PendingWrite[], encoder: Encoder): void {
    const { thread, ns, id: checkpoint } = rowKey;
    const head = this.#latest.get(thread, ns);
    let added = 0;
    for (const [at, [channel, value]] of writes.entries()) {
      const idx = writeIndex(channel, at);
      const row = { thread, ns, checkpoint, task, idx, channel, value: encoder.encode(value) };
      if (WRITES.add(this.#connection, row)) added += 1;
      else if (idx < 0) WRITES.put(this.#connection, row);
    }
    if (added === 0) return;
    if (head?.id === checkpoint) return this.#latest.put({ ...head, pending: head.pending + added });
    const row = CHECKPOINTS.get(this.#connection, `WHERE ${BY_KEY}`, toParams(rowKey));
    this.#setWrites(row, (row?.writes ?? 0) + added);
  }

  get(rowKey: CheckpointRowKey): StoredCheckpoint | undefined {
    return this.#find(rowKey, this.#latest.get(rowKey.thread, rowKey.ns));
  }

  /** Finds the newest checkpoint by its row in `heads`, without an index. */
  #find(rowKey: CheckpointRowKey, top: HeadRow | undefined): StoredCheckpoint | undefined {
    const isNewest = top?.id === rowKey.id;
    const row = isNewest
      ? this.#newest(top)
      : CHECKPOINTS.get(this.#connection, `WHERE ${BY_KEY}`, toParams(rowKey));
    if (!row && !isNewest) return undefined;
    if (!row || row.thread !== rowKey.thread || row.ns !== rowKey.ns || row.id !== rowKey.id) {
      throw corrupt(this.#connection.path, `checkpoint ${rowKey.id} is missing`);
    }
    return toStored(row, isNewest ? top.pending : row.writes);
  }

  latest(thread: number, ns: string): string | undefined {
    return this.#latest.get(thread, ns)?.id;
  }

  read(threadId: string, rowKey: CheckpointRowKey): CheckpointRows | undefined {
    const stored = this.get(rowKey);
    if (!stored) return undefined;
    return {
      threadId,
      rowKey,
      stored,
      writes: this.#writes(rowKey, stored),
      sends: this.#sendsTo(rowKey, stored),
    };
  }

  #sendsTo(rowKey: CheckpointRowKey, { header, parent }: StoredCheckpoint): unknown[] | undefined {
    return header.v < 4 && parent !== null ? this.#sends({ ...rowKey, id: parent }) : undefined;
  }

  #sends(rowKey: CheckpointRowKey): unknown[] {
    const stored = this.get(rowKey);
    const writes = stored ? this.#writes(rowKey, stored) : [];
    return writes.filter(({ channel }) => channel === TASKS).map(({ value }) => value);
  }

  #writes(rowKey: CheckpointRowKey, { writes: expected }: StoredCheckpoint): StoredWrite[] {
    const rows = WRITES.all(
      this.#connection,
      "WHERE thread = ? AND ns = ? AND checkpoint = ? ORDER BY writes.task, writes.idx",
      toParams(rowKey),
    );
    if (expected !== rows.length) {
      const what = `of ${expected} writes to checkpoint ${rowKey.id} there are ${rows.length}`;
      throw corrupt(this.#connection.path, what);
    }
    return rows.map(({ task, channel, value }) => ({ task, channel, value: JSON.parse(value) as unknown }));
  }

  /** The checkpoints that match, newest first. Their writes are left out on request. */
  page(filter: CheckpointFilter, limit: number, { omitsWrites = false } = {}): CheckpointRows[] {
    const threadIds = new Map<number, string | undefined>();
    const tops = new Map<string, HeadRow | undefined>();
    return this.rows(filter, limit).flatMap((row): CheckpointRows[] => {
      const { thread, ns, id } = row;
      const rowKey = { thread, ns, id };
      if (!threadIds.has(thread)) {
        threadIds.set(thread, THREADS.get(this.#connection, "WHERE key = ?", [thread])?.id);
      }
      const threadId = threadIds.get(thread);
      if (threadId === undefined) return [];
      const place = `${thread} ${ns}`;
      if (!tops.has(place)) tops.set(place, this.#latest.get(thread, ns));
      const top = tops.get(place);
      const stored = toStored(row, top?.id === id ? top.pending : row.writes);
      const writes = omitsWrites ? [] : this.#writes(rowKey, stored);
      return [{ threadId, rowKey, stored, writes, sends: this.#sendsTo(rowKey, stored) }];
    });
  }

  /** The rows of the checkpoints that match, newest first. */
  rows(filter: CheckpointFilter, limit: number): TableRow<typeof CHECKPOINTS>[] {
    const seqs = this.#seqs(filter, limit);
    const rows = CHECKPOINTS.all(
      this.#connection,
      "WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY checkpoints.seq DESC",
      [JSON.stringify(seqs)],
    );
    if (rows.length === seqs.length) return rows;
    throw corrupt(this.#connection.path, `of ${seqs.length} checkpoints ${rows.length} can be found`);
  }

  #seqs(filter: CheckpointFilter, limit: number): number[] {
    const conditions: [string, SqlValue | undefined][] = [
      ["thread = ?", filter.thread],
      ["ns = ?", filter.ns],
      ["id = ?", filter.id],
      ["seq < ?", filter.before],
    ];
    const used = conditions.filter(
      (condition): condition is [string, SqlValue] => condition[1] !== undefined,
    );
    const where = used.map(([sql]) => sql).join(" AND ") || "TRUE";
    const rows = this.#connection.all(
      `SELECT seq FROM checkpoints WHERE ${where} ORDER BY seq DESC LIMIT ?`,
      [...used.map(([, value]) => value), limit],
    );
    const seqs = rows.map(({ seq }) => seq as number);
    // The order comes from an index; a damaged one returns a checkpoint twice, and misses another.
    const isOrdered = seqs.every((seq, at) => at === 0 || seq < seqs[at - 1]!);
    if (!isOrdered) throw corrupt(this.#connection.path, "the order of its checkpoints is damaged");
    return seqs;
  }

  checkCount(thread: number, ns: string | undefined): void {
    const [sql, params] = ns === undefined ? ["", [thread]] : [" AND ns = ?", [thread, ns]];
    const { count } = this.#connection.get(
      `SELECT count(*) AS count FROM checkpoints WHERE thread = ?${sql}`,
      params,
    ) as { count: number };
    const expected = this.#latest.count(thread, ns);
    if (count === expected) return;
    throw corrupt(this.#connection.path, `of ${expected} checkpoints of a thread there are ${count}`);
  }
}

const BY_KEY = "thread = ? AND ns = ? AND id = ?";

const STATUS = `SELECT count(*) AS pending, (SELECT seq FROM checkpoints WHERE ${BY_KEY}) AS seq
  FROM writes WHERE thread = ? AND ns = ? AND checkpoint = ?`;

function toParams({ thread, ns, id }: CheckpointRowKey): [number, string, string] {
  return [thread, ns, id];
}
