import { randomUUID } from "node:crypto";
import type { CheckpointHeader } from "../../checkpoint/index.ts";
import { Encoder, Memo, MessageLists } from "../../codec/index.ts";
import {
  CHECKPOINTS,
  corrupt,
  HEADS,
  THREADS,
  type Database,
  type HeadRow,
  type ThreadRow,
} from "../database/index.ts";
import { ThreadBlobs, type SharedBlobCache } from "./blobs.ts";

/** The parts of a checkpoint that the next one inherits. */
export interface Parent {
  header: CheckpointHeader;
  channels: Record<string, unknown>;
}

const MAX_PARENTS = 64;

/**
 * The state of a thread that a saver needs to write to it. It is valid for one revision of the thread, and advances with
 * each write of this saver; after a write of another saver it is dropped.
 */
export class ThreadCache {
  /** Identifies the writes of this cache. */
  readonly writer: string = randomUUID();
  readonly blobs: ThreadBlobs;
  readonly memo = new Memo();
  readonly lists = new MessageLists();
  readonly heads: Map<string, HeadRow>;
  row: ThreadRow;
  revision: number;
  /** The checkpoints of the main graph that have an interrupt before LangGraph has saved them. */
  readonly interruptedIds = new Set<string>();
  readonly #parents = new Map<string, Parent | undefined>();

  constructor(
    { row, revision, heads }: { row: ThreadRow; revision: number; heads: readonly HeadRow[] },
    { database, blobCache }: { database: Database; blobCache: SharedBlobCache },
  ) {
    this.row = row;
    this.revision = revision;
    this.heads = new Map(heads.map((head) => [head.ns, head]));
    this.blobs = new ThreadBlobs(database, blobCache, row.blobs);
  }

  get isNew(): boolean {
    return this.revision === 0;
  }

  get key(): number {
    return this.row.key;
  }

  encoder(): Encoder {
    const { blobs, memo, lists, key } = this;
    return new Encoder({ blobs, memo, lists, thread: key });
  }

  /** Whether `parent` was loaded for this checkpoint. */
  hasParent(ns: string, id: string): boolean {
    return this.#parents.has(`${id} ${ns}`);
  }

  parent(ns: string, id: string): Parent | undefined {
    return this.#parents.get(`${id} ${ns}`);
  }

  setParent(ns: string, id: string, parent: Parent | undefined): void {
    this.#parents.set(`${id} ${ns}`, parent);
    if (this.#parents.size <= MAX_PARENTS) return;
    const [oldest] = this.#parents.keys();
    this.#parents.delete(oldest!);
  }
}

/** Loads the cache of a thread. A new thread gets its number, and a lease without a holder. */
export async function loadThreadCache(
  threadId: string,
  database: Database,
  blobCache: SharedBlobCache,
): Promise<ThreadCache> {
  const { schema } = database;
  const [existing] = await database.query({
    name: "holdfast-thread",
    text: `SELECT t.*, (SELECT coalesce(json_agg(json_build_array(h.ns, h.seq, h.id, encode(h.seal, 'hex'))), '[]')
      FROM ${schema}.heads h WHERE h.thread = t.key) AS heads FROM ${schema}.threads t WHERE t.id = $1`,
    values: [threadId],
  });
  if (existing) {
    const row = THREADS.open(existing, database);
    const heads = (existing["heads"] as [string, number, string, string][]).map(([ns, seq, id, seal]) =>
      HEADS.open({ thread: row.key, ns, seq, id, seal: Buffer.from(seal, "hex") }, database),
    );
    return new ThreadCache({ row, revision: existing["revision"] as number, heads }, { database, blobCache });
  }
  const [next] = await database.query(
    `WITH l AS (INSERT INTO ${schema}.leases (thread) VALUES ($2) ON CONFLICT DO NOTHING)
     SELECT nextval(pg_get_serial_sequence($1, 'key')) AS key`,
    [`${schema}.threads`, threadId],
  );
  const now = Date.now();
  const row: ThreadRow = {
    key: next!["key"] as number,
    id: threadId,
    created: now,
    updated: now,
    title: null,
    done: 0,
    total: 0,
    checkpoint: null,
    unfinished: 0,
    interrupted: 0,
    seqs: 0,
    blobs: 0,
  };
  return new ThreadCache({ row, revision: 0, heads: [] }, { database, blobCache });
}

export async function readParent(
  cache: ThreadCache,
  ns: string,
  id: string,
  database: Database,
): Promise<void> {
  const [row] = await database.query({
    name: "holdfast-parent",
    text: `SELECT * FROM ${database.schema}.checkpoints WHERE thread = $1 AND ns = $2 AND id = $3`,
    values: [cache.key, ns, id],
  });
  if (!row && cache.heads.get(ns)?.id === id) throw corrupt(database, `checkpoint ${id} is missing`);
  if (!row) return cache.setParent(ns, id, undefined);
  const { head, channels } = CHECKPOINTS.open(row, database);
  cache.setParent(ns, id, {
    header: JSON.parse(head) as CheckpointHeader,
    channels: JSON.parse(channels) as Parent["channels"],
  });
}
