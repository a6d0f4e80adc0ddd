import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { SCHEDULED, WRITES_IDX_MAP } from "@langchain/langgraph-checkpoint";
import {
  encodeChannels,
  fixedOf,
  isEdit,
  type Fixed,
  type Place,
  type StoredCheckpoint,
  type StoredWrite,
} from "../checkpoint/index.ts";
import type { Encoder } from "../codec/index.ts";
import {
  CHECKPOINTS,
  corrupt,
  toText,
  WRITES,
  type Connection,
  type SqlValue,
  type Stored,
  type StoredHead,
} from "./database/index.ts";
import type { Heads } from "./latest-checkpoints.ts";

export interface FoundPlace extends Place {
  threadId: string;
  /** Grows with every checkpoint that is put, whatever the clock says. */
  seq: number;
}

/** Which checkpoints are meant. Whatever is undefined matches all. */
export interface Match {
  thread?: number | undefined;
  ns?: string | undefined;
  id?: string | undefined;
  /** The `seq` that those found come before. */
  before?: number | undefined;
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
  readonly #heads: Heads;

  constructor(connection: Connection, heads: Heads) {
    this.#connection = connection;
    this.#heads = heads;
  }

  /** Stores a checkpoint and returns its `seq`. */
  put(place: Place, { parent, checkpoint, metadata, newVersions }: NewCheckpoint, encoder: Encoder): number {
    const top = this.#heads.get(place.thread, place.ns);
    const exact = isEdit(metadata);
    const before = exact || parent === "" ? undefined : this.#find({ ...place, id: parent }, top);
    const channels = encodeChannels(checkpoint, { newVersions, exact, before }, encoder);
    const { isThere, pending } = top?.id === place.id ? { isThere: true, pending: 0 } : this.#look(place);
    const known = isThere ? this.#find(place, top) : undefined;
    const seq = known?.seq ?? this.#append(place, { top, isEdited: exact, pending });
    const row = {
      ...place,
      seq,
      parent: parent === "" ? null : parent,
      writes: known?.writes ?? 0,
      head: JSON.stringify(fixedOf(checkpoint)),
      channels: JSON.stringify(channels),
      metadata: encoder.encode(metadata),
    };
    CHECKPOINTS.put(this.#connection, row);
    if (!known || top?.id === place.id) this.#connection.known.set(nameOf(place), row);
    return seq;
  }

  /** Whether a checkpoint is there. LangGraph may save what tasks have written before the one that they started from. */
  #look(place: Place): { isThere: boolean; pending: number } {
    const { pending, seq } = this.#connection.get(LOOK, [...toParams(place), ...toParams(place)]) as {
      pending: number;
      seq: number | null;
    };
    return { isThere: seq !== null, pending };
  }

  /** Makes a checkpoint the newest. One that is put again keeps its place in the order instead. */
  #append(
    { thread, ns, id }: Place,
    { top, isEdited, pending }: { top: StoredHead | undefined; isEdited: boolean; pending: number },
  ): number {
    const { known } = this.#connection;
    if (top) {
      const writes = top.pending - (isEdited ? 0 : this.#forgetBegun(top));
      this.#setWrites(this.#newest(top), writes);
      known.delete(nameOf(top));
    }
    const seq = known.get(LAST, () => this.#last()) + 1;
    known.set(LAST, seq);
    known.set(begunIn({ thread, ns }), pending > 0);
    this.#heads.put({ thread, ns, seq, id, count: (top?.count ?? 0) + 1, pending });
    return seq;
  }

  #last(): number {
    const { last } = this.#connection.get("SELECT max(seq) AS last FROM checkpoints") as {
      last: number | null;
    };
    return last ?? 0;
  }

  #newest(head: StoredHead): Stored<typeof CHECKPOINTS> | undefined {
    return this.#connection.known.get(nameOf(head), () =>
      CHECKPOINTS.get(this.#connection, "WHERE seq = ?", [head.seq]),
    );
  }

  /** That calls have begun is of use until their step is over, and a person's edit does not end it. */
  #forgetBegun({ thread, ns, id }: StoredHead): number {
    if (!this.#connection.known.get(begunIn({ thread, ns }), () => true)) return 0;
    const sql = "DELETE FROM writes WHERE thread = ? AND ns = ? AND checkpoint = ? AND channel = ?";
    return this.#connection.run(sql, [thread, ns, id, SCHEDULED]).changes;
  }

  #setWrites(row: Stored<typeof CHECKPOINTS> | undefined, writes: number): void {
    if (!row || row.writes === writes) return;
    this.#connection.run("UPDATE checkpoints SET writes = ?, seal = ? WHERE seq = ?", [
      writes,
      CHECKPOINTS.seal({ ...row, writes }),
      row.seq,
    ]);
  }

  /** A write of a task is kept as it was first made; errors, interrupts and answers to them replace the last ones. */
  putWrites(place: Place, task: string, writes: readonly PendingWrite[], encoder: Encoder): void {
    const { thread, ns, id: checkpoint } = place;
    const head = this.#heads.get(thread, ns);
    let added = 0;
    for (const [at, [channel, value]] of writes.entries()) {
      const idx = Object.hasOwn(WRITES_IDX_MAP, channel) ? WRITES_IDX_MAP[channel]! : at;
      const row = { thread, ns, checkpoint, task, idx, channel, value: encoder.encode(value) };
      if (WRITES.add(this.#connection, row)) added += 1;
      else if (idx < 0) WRITES.put(this.#connection, row);
      if (channel === SCHEDULED) this.#connection.known.set(begunIn(place), true);
    }
    if (added === 0) return;
    if (head?.id === checkpoint) return this.#heads.put({ ...head, pending: head.pending + added });
    const row = CHECKPOINTS.get(this.#connection, `WHERE ${PLACE}`, toParams(place));
    this.#setWrites(row, (row?.writes ?? 0) + added);
  }

  get(place: Place): StoredCheckpoint | undefined {
    return this.#find(place, this.#heads.get(place.thread, place.ns));
  }

  /** The newest is found without an index, by what is noted about it. */
  #find(place: Place, top: StoredHead | undefined): StoredCheckpoint | undefined {
    const isNewest = top?.id === place.id;
    const row = isNewest
      ? this.#newest(top)
      : CHECKPOINTS.get(this.#connection, `WHERE ${PLACE}`, toParams(place));
    if (!row && !isNewest) return undefined;
    if (!row || row.thread !== place.thread || row.ns !== place.ns || row.id !== place.id) {
      throw corrupt(this.#connection.path, `checkpoint ${place.id} is missing`);
    }
    return {
      seq: row.seq,
      parent: row.parent,
      writes: isNewest ? top.pending : row.writes,
      fixed: JSON.parse(row.head) as Fixed,
      channels: JSON.parse(row.channels) as Record<string, unknown>,
      metadata: JSON.parse(row.metadata),
    };
  }

  latest(thread: number, ns: string): string | undefined {
    return this.#heads.get(thread, ns)?.id;
  }

  writes(place: Place, { writes: expected }: Pick<StoredCheckpoint, "writes">): StoredWrite[] {
    const rows = WRITES.all(
      this.#connection,
      "WHERE thread = ? AND ns = ? AND checkpoint = ? ORDER BY writes.task, writes.idx",
      toParams(place),
    );
    if (expected !== rows.length) {
      const what = `of ${expected} writes to checkpoint ${place.id} there are ${rows.length}`;
      throw corrupt(this.#connection.path, what);
    }
    return rows.map(({ task, channel, value }) => ({ task, channel, value: JSON.parse(value) as unknown }));
  }

  /** The checkpoints that match, newest first, at most `limit` of them. */
  places(match: Match, limit: number): FoundPlace[] {
    const rows = this.#connection.all(
      `SELECT c.seq AS seq, CAST(c.thread AS INTEGER) AS thread, CAST(c.ns AS BLOB) AS ns, CAST(c.id AS BLOB) AS id,
         CAST(t.id AS BLOB) AS threadId
       FROM checkpoints c JOIN threads t ON t.key = c.thread
       WHERE c.seq IN (SELECT value FROM json_each(?)) ORDER BY c.seq DESC`,
      [JSON.stringify(this.#seqs(match, limit))],
    );
    return rows.map(({ seq, thread, ns, id, threadId }) => ({
      seq: seq as number,
      thread: thread as number,
      ns: toText(ns),
      id: toText(id),
      threadId: toText(threadId),
    }));
  }

  /** The same as rows, without anything that they lead to. */
  rows(match: Match, limit: number): Stored<typeof CHECKPOINTS>[] {
    return CHECKPOINTS.all(
      this.#connection,
      "WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY checkpoints.seq DESC",
      [JSON.stringify(this.#seqs(match, limit))],
    );
  }

  #seqs(match: Match, limit: number): number[] {
    const conditions: [string, SqlValue | undefined][] = [
      ["thread = ?", match.thread],
      ["ns = ?", match.ns],
      ["id = ?", match.id],
      ["seq < ?", match.before],
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
    // The index gives the order. One that is damaged gives a checkpoint twice, and another one not at all.
    const isOrdered = seqs.every((seq, at) => at === 0 || seq < seqs[at - 1]!);
    if (!isOrdered) throw corrupt(this.#connection.path, "the order of its checkpoints is damaged");
    return seqs;
  }

  /** Throws when a thread does not have all its checkpoints. */
  checkCount(thread: number, ns: string | undefined): void {
    const [sql, params] = ns === undefined ? ["", [thread]] : [" AND ns = ?", [thread, ns]];
    const { found } = this.#connection.get(
      `SELECT count(*) AS found FROM checkpoints WHERE thread = ?${sql}`,
      params,
    ) as { found: number };
    const expected = this.#heads.count(thread, ns);
    if (found === expected) return;
    throw corrupt(this.#connection.path, `of ${expected} checkpoints of a thread there are ${found}`);
  }
}

/** The name of the newest checkpoint's number among what is known. */
const LAST = "last checkpoint";

/** The name of a namespace's newest checkpoint among what is known. */
function nameOf({ thread, ns }: Pick<Place, "thread" | "ns">): string {
  return `checkpoint ${thread} ${ns}`;
}

/** The name of whether calls have begun since a namespace's newest checkpoint, among what is known. */
function begunIn({ thread, ns }: Pick<Place, "thread" | "ns">): string {
  return `begun ${thread} ${ns}`;
}

const PLACE = "thread = ? AND ns = ? AND id = ?";

const LOOK = `SELECT count(*) AS pending, (SELECT seq FROM checkpoints WHERE ${PLACE}) AS seq
  FROM writes WHERE thread = ? AND ns = ? AND checkpoint = ?`;

function toParams({ thread, ns, id }: Place): [number, string, string] {
  return [thread, ns, id];
}
