import { randomUUID } from "node:crypto";
import type { Fixed } from "../../checkpoint/index.ts";
import { Encoder, Lists, Memo } from "../../codec/index.ts";
import {
  CHECKPOINTS,
  corrupt,
  HEADS,
  THREADS,
  type Database,
  type HeadRow,
  type Row,
  type ThreadRow,
} from "../database/index.ts";
import { ThreadBlobs, type RecentBlobs } from "./blobs.ts";

/** What the next checkpoint takes over from its parent. */
export interface Parent {
  fixed: Fixed;
  channels: Record<string, unknown>;
}

const MAX_PARENTS = 64;

/**
 * All that a saver must know of a thread to write to it. It holds for one revision of the thread, and goes on with each
 * write from here; when somebody else has written, it is thrown away.
 */
export class Desk {
  /** Tells the writes of this desk from those of others. */
  readonly writer: string = randomUUID();
  readonly blobs: ThreadBlobs;
  readonly memo = new Memo();
  readonly lists = new Lists();
  readonly heads: Map<string, HeadRow>;
  row: ThreadRow;
  revision: number;
  /** The checkpoints of the main graph that wait for an answer, and that LangGraph has not put yet. */
  readonly asking = new Set<string>();
  readonly #parents = new Map<string, Parent | undefined>();

  constructor(
    { row, revision, heads }: { row: ThreadRow; revision: number; heads: readonly HeadRow[] },
    { database, recent }: { database: Database; recent: RecentBlobs },
  ) {
    this.row = row;
    this.revision = revision;
    this.heads = new Map(heads.map((head) => [head.ns, head]));
    this.blobs = new ThreadBlobs(database, recent, row.blobs);
  }

  /** Whether the thread is still to be made. */
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

  /** Whether it is known what the next checkpoint takes over from this one. */
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

/** Reads what is to be known of a thread. One that is not there gets its number, and a lease that nobody has. */
export async function openDesk(threadId: string, database: Database, recent: RecentBlobs): Promise<Desk> {
  const { schema } = database;
  const [found] = await database.query({
    name: "holdfast-desk",
    text: `SELECT t.*, (SELECT coalesce(json_agg(json_build_array(h.ns, h.seq, h.id, encode(h.seal, 'hex'))), '[]')
      FROM ${schema}.heads h WHERE h.thread = t.key) AS heads FROM ${schema}.threads t WHERE t.id = $1`,
    values: [threadId],
  });
  if (found) {
    const row = THREADS.open(found, database);
    const heads = (found["heads"] as [string, number, string, string][]).map(([ns, seq, id, seal]) =>
      HEADS.open({ thread: row.key, ns, seq, id, seal: Buffer.from(seal, "hex") }, database),
    );
    return new Desk({ row, revision: found["revision"] as number, heads }, { database, recent });
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
  return new Desk({ row, revision: 0, heads: [] }, { database, recent });
}

/** Reads what the next checkpoint takes over from this one. */
export async function readParent(desk: Desk, ns: string, id: string, database: Database): Promise<void> {
  const [row] = await database.query({
    name: "holdfast-parent",
    text: `SELECT * FROM ${database.schema}.checkpoints WHERE thread = $1 AND ns = $2 AND id = $3`,
    values: [desk.key, ns, id],
  });
  if (!row && desk.heads.get(ns)?.id === id) throw corrupt(database, `checkpoint ${id} is missing`);
  desk.setParent(ns, id, row && parentOf(row, database));
}

function parentOf(row: Row, database: Database): Parent {
  const { head, channels } = CHECKPOINTS.open(row, database);
  return { fixed: JSON.parse(head) as Fixed, channels: JSON.parse(channels) as Parent["channels"] };
}
