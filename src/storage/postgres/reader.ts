import type { RunnableConfig } from "@langchain/core/runnables";
import {
  TASKS,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import {
  toSummary,
  toTuple,
  type CheckpointKey,
  type Fixed,
  type Seen,
  type StoredCheckpoint,
  type StoredWrite,
} from "../checkpoint/index.ts";
import { Decoder, Lists, Memo } from "../codec/index.ts";
import { naming, type CheckpointSummary, type ListCheckpointsOptions } from "../store/index.ts";
import {
  CHECKPOINTS,
  corrupt,
  WRITES,
  type CheckpointRow,
  type Database,
  type Row,
} from "./database/index.ts";
import { ThreadBlobs, type Lines } from "./writes/index.ts";

export interface ReaderParts {
  database: Database;
  lines: Lines;
  seen: Seen;
  serde: SerializerProtocol;
  /** The version of a channel that has had none. */
  firstVersion: () => number;
}

/** What is read of a list at a time. */
const LIST_PAGE = 64;
const DEFAULT_PAGE = 20;

/** A checkpoint with its writes, as of one moment. */
interface Found {
  threadId: string;
  row: CheckpointRow;
  writes: StoredWrite[];
  /** Its place in the order across threads. */
  at: number;
  seq: number;
}

type OrderPlace = Pick<Found, "at" | "seq">;

/** Which checkpoints are meant. Whatever is undefined matches all. */
interface Match extends Record<"ns" | "id", string | undefined> {
  thread: number | undefined;
  before: OrderPlace | undefined;
}

/** Reads checkpoints. The rows of each are read with one statement, and what they lead to never changes. */
export class Reader {
  readonly #parts: ReaderParts;
  readonly #database: Database;
  /** What to select of a checkpoint `c` of a thread `t`. */
  readonly #selected: string;

  constructor(parts: ReaderParts) {
    this.#parts = parts;
    this.#database = parts.database;
    const { schema } = this.#database;
    this.#selected = `c.*, t.id AS owner, t.revision,
      (SELECT coalesce(json_agg(json_build_array(w.task, w.idx, w.channel, w.value, encode(w.seal, 'hex'))
          ORDER BY w.task, w.idx), '[]')
        FROM ${schema}.writes w WHERE w.thread = c.thread AND w.checkpoint = c.id AND w.ns = c.ns) AS writes,
      coalesce((SELECT h.pending FROM ${schema}.heads h WHERE h.thread = c.thread AND h.ns = c.ns AND h.seq = c.seq),
        (SELECT n.before FROM ${schema}.checkpoints n WHERE n.thread = c.thread AND n.ns = c.ns AND n.seq > c.seq
          ORDER BY n.seq LIMIT 1)) AS written`;
  }

  async tuple({ threadId, ns, id }: CheckpointKey): Promise<CheckpointTuple | undefined> {
    const { lines, seen } = this.#parts;
    await lines.settled(threadId);
    const { schema } = this.#database;
    const [row] = await this.#database.query(
      id === ""
        ? {
            name: "holdfast-newest",
            text: `SELECT ${this.#selected}, h.id AS newest FROM ${schema}.threads t
              JOIN ${schema}.heads h ON h.thread = t.key AND h.ns = $2
              LEFT JOIN ${schema}.checkpoints c ON c.thread = t.key AND c.seq = h.seq WHERE t.id = $1`,
            values: [threadId, ns],
          }
        : {
            name: "holdfast-place",
            text: `SELECT ${this.#selected}, c.id AS newest FROM ${schema}.threads t
              JOIN ${schema}.checkpoints c ON c.thread = t.key AND c.ns = $2 AND c.id = $3 WHERE t.id = $1`,
            values: [threadId, ns, id],
          },
    );
    if (!row) {
      if (id === "") await this.#expectNothing(threadId, ns);
      return undefined;
    }
    if (row["id"] !== row["newest"])
      throw corrupt(this.#database, `checkpoint ${String(row["newest"])} is missing`);
    const found = this.#found(row);
    const place = { thread: found.row.thread, ns, id: found.row.id };
    if (id !== "") seen.delete(place);
    else seen.add(place);
    const desk = await lines.deskAt(threadId, row["revision"] as number);
    const { blobs, memo, lists } = desk;
    const decoder = new Decoder({ blobs, memo, lists, thread: place.thread, serde: this.#parts.serde });
    const stored = toStored(found.row);
    if (desk.key === place.thread) desk.setParent(ns, place.id, stored);
    return this.#built(found, stored, decoder);
  }

  async *list(
    { configurable = {} }: RunnableConfig,
    { limit = Infinity, before, filter = {} }: CheckpointListOptions,
  ): AsyncGenerator<CheckpointTuple> {
    const {
      thread_id: threadId,
      checkpoint_ns: ns,
      checkpoint_id: id,
    } = configurable as Partial<Record<string, string>>;
    if (threadId !== undefined) await this.#parts.lines.settled(threadId);
    const thread =
      threadId === undefined ? undefined : await naming(threadId, () => this.#counted(threadId, ns));
    if (threadId !== undefined && thread === undefined) return;
    let left = limit;
    let last = before && (await this.#placeOf(before, threadId));
    while (left > 0) {
      const match = { thread, ns, id, before: last };
      const page = await naming(threadId, () => this.#page(match, Math.min(left, LIST_PAGE)));
      if (page.length === 0) return;
      last = page.at(-1)!;
      for await (const tuple of this.#listed(page, filter)) {
        left -= 1;
        yield tuple;
      }
    }
  }

  /** A page of checkpoints has its messages in common; what is built of them is built when it is looked at. */
  async *#listed(page: readonly Found[], filter: Record<string, unknown>): AsyncGenerator<CheckpointTuple> {
    let decoder: Decoder | undefined;
    for (const found of page) {
      const { thread, ns, id } = found.row;
      this.#parts.seen.delete({ thread, ns, id });
      if (decoder?.thread !== thread) decoder = this.#decoder(thread, { isLazy: true, isFetched: true });
      const tuple = await naming(found.threadId, () => this.#built(found, toStored(found.row), decoder!));
      const isWanted = Object.entries(filter).every(
        ([key, value]) => (tuple?.metadata as Record<string, unknown> | undefined)?.[key] === value,
      );
      if (tuple && isWanted) yield tuple;
    }
  }

  async values(threadId: string, channels: readonly string[]): Promise<Record<string, unknown>> {
    const newest = await this.#newest(threadId);
    if (!newest) return {};
    const found = channels.filter((name) => Object.hasOwn(newest.channels, name));
    const decoder = this.#decoder(newest.thread);
    await decoder.load(found.map((name) => newest.channels[name]));
    const values = {};
    for (const name of found) decoder.set(values, name, newest.channels[name]);
    return values;
  }

  async last(threadId: string, channel: string, count: number): Promise<unknown[]> {
    const newest = await this.#newest(threadId);
    if (!newest || !Object.hasOwn(newest.channels, channel)) return [];
    const decoder = this.#decoder(newest.thread);
    const trees = await decoder.lastOf(newest.channels[channel], count);
    await decoder.load(trees);
    return trees.map((tree) => decoder.build(tree));
  }

  async summaries(
    threadId: string,
    { ns = "", before, limit = DEFAULT_PAGE }: ListCheckpointsOptions,
  ): Promise<CheckpointSummary[]> {
    await this.#parts.lines.settled(threadId);
    const { schema } = this.#database;
    const rows = await this.#database.query(
      `SELECT c.* FROM ${schema}.checkpoints c JOIN ${schema}.threads t ON t.key = c.thread
       WHERE t.id = $1 AND c.ns = $2 AND ($3::int IS NULL OR c.seq < $3) ORDER BY c.seq DESC LIMIT $4`,
      [threadId, ns, before ?? null, limit],
    );
    const found = rows.map((row) => CHECKPOINTS.open(row, this.#database));
    if (found.length === 0) return [];
    const decoder = this.#decoder(found[0]!.thread);
    const summaries = found.map((row) => toSummary(row));
    await decoder.load(summaries.map(({ metadata }) => metadata));
    return summaries.map((summary) => ({
      ...summary,
      metadata: decoder.build(summary.metadata) as CheckpointMetadata,
    }));
  }

  async #newest(
    threadId: string,
  ): Promise<{ thread: number; channels: Record<string, unknown> } | undefined> {
    await this.#parts.lines.settled(threadId);
    const { schema } = this.#database;
    const [row] = await this.#database.query({
      name: "holdfast-channels",
      text: `SELECT c.* FROM ${schema}.threads t JOIN ${schema}.heads h ON h.thread = t.key AND h.ns = ''
        JOIN ${schema}.checkpoints c ON c.thread = t.key AND c.seq = h.seq WHERE t.id = $1`,
      values: [threadId],
    });
    if (!row) return undefined;
    const { thread, channels } = CHECKPOINTS.open(row, this.#database);
    return { thread, channels: JSON.parse(channels) as Record<string, unknown> };
  }

  async #built(
    found: Found,
    stored: StoredCheckpoint,
    decoder: Decoder,
  ): Promise<CheckpointTuple | undefined> {
    const { threadId, row, writes } = found;
    const { thread, ns, id, parent } = row;
    const sends = stored.fixed.v < 4 && parent !== null ? await this.#sendsOf(thread, ns, parent) : undefined;
    const values = writes.map(({ value }) => value);
    try {
      await decoder.load([stored.metadata, ...Object.values(stored.channels), ...values, ...(sends ?? [])]);
    } catch (error) {
      // A thread may be deleted while it is read.
      if (!(await this.#isThere(threadId, thread))) return undefined;
      throw error;
    }
    const { firstVersion } = this.#parts;
    return toTuple({ threadId, place: { thread, ns, id }, stored, writes, sends }, { decoder, firstVersion });
  }

  /** Checkpoints older than format 4 have their sends in the writes of their parent. */
  async #sendsOf(thread: number, ns: string, parent: string): Promise<unknown[]> {
    const rows = await this.#database.query(
      `SELECT * FROM ${this.#database.schema}.writes
       WHERE thread = $1 AND checkpoint = $2 AND ns = $3 AND channel = $4 ORDER BY task, idx`,
      [thread, parent, ns, TASKS],
    );
    return rows.map((row) => JSON.parse(WRITES.open(row, this.#database).value) as unknown);
  }

  async #isThere(threadId: string, key: number): Promise<boolean> {
    const sql = `SELECT 1 FROM ${this.#database.schema}.threads WHERE id = $1 AND key = $2`;
    return (await this.#database.query(sql, [threadId, key])).length > 0;
  }

  #found(row: Row): Found {
    const checkpoint = CHECKPOINTS.open(row, this.#database);
    const { thread, ns, id } = checkpoint;
    const writes = (row["writes"] as [string, number, string, string, string][]).map(
      ([task, idx, channel, value, seal]): StoredWrite => {
        const write = {
          thread,
          ns,
          checkpoint: id,
          task,
          idx,
          channel,
          value,
          seal: Buffer.from(seal, "hex"),
        };
        return { task, channel, value: JSON.parse(WRITES.open(write, this.#database).value) as unknown };
      },
    );
    const written = row["written"] as number | null;
    if (written !== writes.length) {
      const what = `of ${written ?? "an unknown number of"} writes to checkpoint ${id} there are ${writes.length}`;
      throw corrupt(this.#database, what);
    }
    return {
      threadId: row["owner"] as string,
      row: checkpoint,
      writes,
      at: row["at"] as number,
      seq: checkpoint.seq,
    };
  }

  /** Of one thread by their own numbers, which its key is ordered by; else by the order across threads. */
  async #page({ thread, ns, id, before }: Match, limit: number): Promise<Found[]> {
    const { schema } = this.#database;
    const order = thread === undefined ? "at" : "seq";
    const rows = await this.#database.query(
      `SELECT ${this.#selected} FROM ${schema}.checkpoints c JOIN ${schema}.threads t ON t.key = c.thread
       WHERE ($1::text IS NULL OR c.ns = $1) AND ($2::text IS NULL OR c.id = $2)
         AND ($3::bigint IS NULL OR c.${order} < $3) ${thread === undefined ? "" : "AND c.thread = $5"}
       ORDER BY c.${order} DESC LIMIT $4`,
      [ns ?? null, id ?? null, before?.[order] ?? null, limit, ...(thread === undefined ? [] : [thread])],
    );
    return rows.map((row) => this.#found(row));
  }

  /** A checkpoint that is not stored has no place in the order: it is still to come. */
  async #placeOf(
    { configurable = {} }: RunnableConfig,
    thread: string | undefined,
  ): Promise<OrderPlace | undefined> {
    const { thread_id: owner = thread, checkpoint_id: id } = configurable as Partial<Record<string, string>>;
    if (id === undefined) return undefined;
    const { schema } = this.#database;
    const [row] = await this.#database.query(
      `SELECT c.at, c.seq FROM ${schema}.checkpoints c JOIN ${schema}.threads t ON t.key = c.thread
       WHERE c.id = $1 AND ($2::text IS NULL OR t.id = $2) ORDER BY c.at DESC LIMIT 1`,
      [id, owner ?? null],
    );
    return row as OrderPlace | undefined;
  }

  /** The number of a thread. Throws when it does not have all its checkpoints. */
  async #counted(threadId: string, ns: string | undefined): Promise<number | undefined> {
    const { schema } = this.#database;
    const [row] = await this.#database.query(
      `SELECT t.key, (SELECT coalesce(sum(h.count), 0)::int FROM ${schema}.heads h
          WHERE h.thread = t.key AND ($2::text IS NULL OR h.ns = $2)) AS expected,
        (SELECT count(*) FROM ${schema}.checkpoints c
          WHERE c.thread = t.key AND ($2::text IS NULL OR c.ns = $2)) AS found
       FROM ${schema}.threads t WHERE t.id = $1`,
      [threadId, ns ?? null],
    );
    if (!row) return undefined;
    const { key, expected, found } = row as { key: number; expected: number; found: number };
    if (expected === found) return key;
    throw corrupt(this.#database, `of ${expected} checkpoints of a thread there are ${found}`);
  }

  /** Throws when a namespace has checkpoints, and the record of what is newest is gone. */
  async #expectNothing(threadId: string, ns: string): Promise<void> {
    const { schema } = this.#database;
    const rows = await this.#database.query(
      `SELECT 1 FROM ${schema}.threads t JOIN ${schema}.checkpoints c ON c.thread = t.key
       WHERE t.id = $1 AND c.ns = $2 LIMIT 1`,
      [threadId, ns],
    );
    if (rows.length > 0) throw corrupt(this.#database, "the record of what is newest is missing");
  }

  /** For who only reads. */
  #decoder(thread: number, options?: { isLazy: boolean; isFetched: boolean }): Decoder {
    const blobs = new ThreadBlobs(this.#database, this.#parts.lines.recent, 0);
    const { serde } = this.#parts;
    return new Decoder({ blobs, memo: new Memo(), lists: new Lists(), thread, serde }, options);
  }
}

function toStored({ seq, parent, head, channels, metadata }: CheckpointRow): StoredCheckpoint {
  return {
    seq,
    parent,
    writes: 0,
    fixed: JSON.parse(head) as Fixed,
    channels: JSON.parse(channels) as Record<string, unknown>,
    metadata: JSON.parse(metadata),
  };
}
