import type { RunnableConfig } from "@langchain/core/runnables";
import { TASKS, type CheckpointTuple, type SerializerProtocol } from "@langchain/langgraph-checkpoint";
import {
  type HistoryOptions,
  listTuples,
  readChannels,
  readSummaries,
  readTuple,
  toStored,
  type CheckpointKey,
  type CheckpointRows,
  type ReadCheckpoints,
  type StoredWrite,
} from "../checkpoint/index.ts";
import { type DecodeOptions, Decoder, Memo, MessageLists } from "../codec/index.ts";
import { onThread, type CheckpointSummary, type ListCheckpointsOptions } from "../store/index.ts";
import { CHECKPOINTS, corrupt, WRITES, type Database, type Row } from "./database/index.ts";
import { ThreadBlobs, type WriteQueues } from "./writes/index.ts";

export interface ReaderParts {
  database: Database;
  queues: WriteQueues;
  readCheckpoints: ReadCheckpoints;
  serde: SerializerProtocol;
  firstVersion: () => number;
}

const DEFAULT_PAGE = 20;

/** A checkpoint and its position in the order across threads. */
interface PagedRows extends CheckpointRows {
  at: number;
}

interface Position {
  at: number;
  seq: number;
}

/** A filter for checkpoints. A property that is undefined matches all. */
interface CheckpointFilter extends Record<"ns" | "id", string | undefined> {
  thread: number | undefined;
  before: Position | undefined;
}

/** Reads checkpoints, each with one statement for its rows; blobs never change, so they may be read later. */
export class Reader {
  readonly #parts: ReaderParts;
  readonly #database: Database;
  /** The select list for a checkpoint `c` of a thread `t`. */
  readonly #columns: string;
  readonly #tupleOptions;

  constructor(parts: ReaderParts) {
    this.#parts = parts;
    this.#database = parts.database;
    this.#tupleOptions = {
      exists: (threadId: string, thread: number) => this.#exists(threadId, thread),
      firstVersion: parts.firstVersion,
    };
    const { schema } = this.#database;
    this.#columns = `c.*, t.id AS owner, t.revision,
      (SELECT coalesce(json_agg(json_build_array(w.task, w.idx, w.channel, w.value, encode(w.seal, 'hex'))
          ORDER BY w.task, w.idx), '[]')
        FROM ${schema}.writes w WHERE w.thread = c.thread AND w.checkpoint = c.id AND w.ns = c.ns) AS writes,
      coalesce((SELECT h.pending FROM ${schema}.heads h WHERE h.thread = c.thread AND h.ns = c.ns AND h.seq = c.seq),
        (SELECT n.before FROM ${schema}.checkpoints n WHERE n.thread = c.thread AND n.ns = c.ns AND n.seq > c.seq
          ORDER BY n.seq LIMIT 1)) AS written`;
  }

  async tuple({ threadId, ns, id }: CheckpointKey): Promise<CheckpointTuple | undefined> {
    const { queues, readCheckpoints } = this.#parts;
    await queues.settled(threadId);
    const { schema } = this.#database;
    const [row] = await this.#database.query(
      id === ""
        ? {
            name: "holdfast-newest",
            text: `SELECT ${this.#columns}, h.id AS newest FROM ${schema}.threads t
              JOIN ${schema}.heads h ON h.thread = t.key AND h.ns = $2
              LEFT JOIN ${schema}.checkpoints c ON c.thread = t.key AND c.seq = h.seq WHERE t.id = $1`,
            values: [threadId, ns],
          }
        : {
            name: "holdfast-checkpoint",
            text: `SELECT ${this.#columns}, c.id AS newest FROM ${schema}.threads t
              JOIN ${schema}.checkpoints c ON c.thread = t.key AND c.ns = $2 AND c.id = $3 WHERE t.id = $1`,
            values: [threadId, ns, id],
          },
    );
    if (!row) {
      if (id === "") await this.#expectNone(threadId, ns);
      return undefined;
    }
    if (row["id"] !== row["newest"])
      throw corrupt(this.#database, `checkpoint ${String(row["newest"])} is missing`);
    const rows = await this.#verify(row);
    const { rowKey, stored } = rows;
    if (id !== "") readCheckpoints.delete(rowKey);
    else readCheckpoints.add(rowKey);
    const cache = await queues.cacheAt(threadId, row["revision"] as number);
    const { blobs, memo, lists } = cache;
    const decoder = new Decoder({ blobs, memo, lists, thread: rowKey.thread, serde: this.#parts.serde });
    if (cache.key === rowKey.thread) cache.setParent(ns, rowKey.id, stored);
    return readTuple(rows, { ...this.#tupleOptions, decoder });
  }

  async *list(
    { configurable = {} }: RunnableConfig,
    options: HistoryOptions,
  ): AsyncGenerator<CheckpointTuple> {
    const {
      thread_id: threadId,
      checkpoint_ns: ns,
      checkpoint_id: id,
    } = configurable as Partial<Record<string, string>>;
    if (threadId !== undefined) await this.#parts.queues.settled(threadId);
    const thread =
      threadId === undefined ? undefined : await onThread(threadId, () => this.#checkedKey(threadId, ns));
    if (threadId !== undefined && thread === undefined) return;
    const before = options.before && (await this.#positionOf(options.before, threadId));
    yield* listTuples<PagedRows>(options, {
      ...this.#tupleOptions,
      page: (last, limit) => {
        const match = { thread, ns, id, before: last ? { at: last.at, seq: last.stored.seq } : before };
        return onThread(threadId, () => this.#page(match, limit));
      },
      decoder: (key) => this.#decoder(key, { isLazy: true, isPrefetched: true, isBrief: options.isBrief }),
      readCheckpoints: this.#parts.readCheckpoints,
    });
  }

  async values(threadId: string, channels: readonly string[]): Promise<Record<string, unknown>> {
    await this.#parts.queues.settled(threadId);
    const { schema } = this.#database;
    const [row] = await this.#database.query({
      name: "holdfast-channels",
      text: `SELECT c.* FROM ${schema}.threads t JOIN ${schema}.heads h ON h.thread = t.key AND h.ns = ''
        JOIN ${schema}.checkpoints c ON c.thread = t.key AND c.seq = h.seq WHERE t.id = $1`,
      values: [threadId],
    });
    if (!row) return {};
    const newest = CHECKPOINTS.open(row, this.#database);
    const stored = JSON.parse(newest.channels) as Record<string, unknown>;
    return readChannels(stored, channels, this.#decoder(newest.thread));
  }

  async summaries(
    threadId: string,
    { ns = "", before, limit = DEFAULT_PAGE }: ListCheckpointsOptions,
  ): Promise<CheckpointSummary[]> {
    await this.#parts.queues.settled(threadId);
    const { schema } = this.#database;
    const rows = await this.#database.query(
      `SELECT c.* FROM ${schema}.checkpoints c JOIN ${schema}.threads t ON t.key = c.thread
       WHERE t.id = $1 AND c.ns = $2 AND ($3::int IS NULL OR c.seq < $3) ORDER BY c.seq DESC LIMIT $4`,
      [threadId, ns, before ?? null, limit],
    );
    const checkpoints = rows.map((row) => CHECKPOINTS.open(row, this.#database));
    if (checkpoints.length === 0) return [];
    return readSummaries(checkpoints, this.#decoder(checkpoints[0]!.thread));
  }

  /** Reads the sends of a checkpoint older than format 4, which are in the writes to its parent. */
  async #sendsOf(thread: number, ns: string, parent: string): Promise<unknown[]> {
    const rows = await this.#database.query(
      `SELECT * FROM ${this.#database.schema}.writes
       WHERE thread = $1 AND checkpoint = $2 AND ns = $3 AND channel = $4 ORDER BY task, idx`,
      [thread, parent, ns, TASKS],
    );
    return rows.map((row) => JSON.parse(WRITES.open(row, this.#database).value) as unknown);
  }

  async #exists(threadId: string, key: number): Promise<boolean> {
    const sql = `SELECT 1 FROM ${this.#database.schema}.threads WHERE id = $1 AND key = $2`;
    return (await this.#database.query(sql, [threadId, key])).length > 0;
  }

  async #verify(row: Row): Promise<PagedRows> {
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
    const stored = toStored(checkpoint, writes.length);
    const isOld = stored.header.v < 4 && stored.parent !== null;
    return {
      threadId: row["owner"] as string,
      rowKey: { thread, ns, id },
      stored,
      writes,
      sends: isOld ? await this.#sendsOf(thread, ns, stored.parent!) : undefined,
      at: row["at"] as number,
    };
  }

  /** A page of checkpoints: those of one thread in the order of `seq`, as in its key; otherwise in the order across threads. */
  async #page({ thread, ns, id, before }: CheckpointFilter, limit: number): Promise<PagedRows[]> {
    const { schema } = this.#database;
    const order = thread === undefined ? "at" : "seq";
    const rows = await this.#database.query(
      `SELECT ${this.#columns} FROM ${schema}.checkpoints c JOIN ${schema}.threads t ON t.key = c.thread
       WHERE ($1::text IS NULL OR c.ns = $1) AND ($2::text IS NULL OR c.id = $2)
         AND ($3::bigint IS NULL OR c.${order} < $3) ${thread === undefined ? "" : "AND c.thread = $5"}
       ORDER BY c.${order} DESC LIMIT $4`,
      [ns ?? null, id ?? null, before?.[order] ?? null, limit, ...(thread === undefined ? [] : [thread])],
    );
    return Promise.all(rows.map((row) => this.#verify(row)));
  }

  /** The position of the checkpoint in a `before` config; undefined for one that is not stored: all come before it. */
  async #positionOf(
    { configurable = {} }: RunnableConfig,
    thread: string | undefined,
  ): Promise<Position | undefined> {
    const { thread_id: owner = thread, checkpoint_id: id } = configurable as Partial<Record<string, string>>;
    if (id === undefined) return undefined;
    const { schema } = this.#database;
    const [row] = await this.#database.query(
      `SELECT c.at, c.seq FROM ${schema}.checkpoints c JOIN ${schema}.threads t ON t.key = c.thread
       WHERE c.id = $1 AND ($2::text IS NULL OR t.id = $2) ORDER BY c.at DESC LIMIT 1`,
      [id, owner ?? null],
    );
    return row as Position | undefined;
  }

  /** The number of a thread. Throws when a checkpoint is missing. */
  async #checkedKey(threadId: string, ns: string | undefined): Promise<number | undefined> {
    const { schema } = this.#database;
    const [row] = await this.#database.query(
      `SELECT t.key, (SELECT coalesce(sum(h.count), 0)::int FROM ${schema}.heads h
          WHERE h.thread = t.key AND ($2::text IS NULL OR h.ns = $2)) AS expected,
        (SELECT count(*) FROM ${schema}.checkpoints c
          WHERE c.thread = t.key AND ($2::text IS NULL OR c.ns = $2)) AS count
       FROM ${schema}.threads t WHERE t.id = $1`,
      [threadId, ns ?? null],
    );
    if (!row) return undefined;
    const { key, expected, count } = row as { key: number; expected: number; count: number };
    if (expected === count) return key;
    throw corrupt(this.#database, `of ${expected} checkpoints of a thread there are ${count}`);
  }

  /** Throws when a namespace has checkpoints, but no row in `heads`. */
  async #expectNone(threadId: string, ns: string): Promise<void> {
    const { schema } = this.#database;
    const rows = await this.#database.query(
      `SELECT 1 FROM ${schema}.threads t JOIN ${schema}.checkpoints c ON c.thread = t.key
       WHERE t.id = $1 AND c.ns = $2 LIMIT 1`,
      [threadId, ns],
    );
    if (rows.length > 0) throw corrupt(this.#database, "the record of its newest checkpoint is missing");
  }

  /** A decoder without a writer's caches. */
  #decoder(thread: number, options?: DecodeOptions): Decoder {
    const blobs = new ThreadBlobs(this.#database, this.#parts.queues.blobCache, 0);
    const { serde } = this.#parts;
    return new Decoder({ blobs, memo: new Memo(), lists: new MessageLists(), thread, serde }, options);
  }
}
