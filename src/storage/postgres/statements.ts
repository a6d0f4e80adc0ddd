import { SCHEDULED } from "@langchain/langgraph-checkpoint";
import type { FreshBlob } from "./blobs.ts";
import type { Statement } from "./database.ts";
import type { Desk } from "./desk.ts";
import {
  BLOBS,
  CHECKPOINTS,
  HEADS,
  THREADS,
  WRITES,
  type CheckpointRow,
  type HeadRow,
  type ThreadRow,
  type WriteRow,
} from "./rows.ts";

/** A holder that has not been heard of for this long may be dead. */
export const STALE = "interval '30 seconds'";

/** A write to a thread: what its row becomes, and what is new. */
export interface Change {
  desk: Desk;
  row: ThreadRow;
  fresh: readonly FreshBlob[];
  /** The lease that it is made by; without one, nobody may hold the thread. */
  token: string | undefined;
}

/** Numbers the parameters of a statement. */
class Params {
  readonly values: unknown[] = [];

  add(value: unknown, type: string): string {
    return `$${this.values.push(value)}::${type}`;
  }
}

/** Whether the lease of a thread lets somebody write: theirs, or nobody's. */
export function leaseAllows(token: string): string {
  return `CASE WHEN ${token} IS NULL THEN holder IS NULL OR beat < now() - ${STALE}
    ELSE fence = ${token} AND holder IS NOT NULL END`;
}

/** Stores a checkpoint that is not there, as the newest of its namespace. */
export function append(
  schema: string,
  change: Change,
  { checkpoint, top, isEdit }: { checkpoint: CheckpointRow; top: HeadRow | undefined; isEdit: boolean },
): Statement {
  const params = new Params();
  const { seq, ns, id, parent, head, channels, metadata } = checkpoint;
  const begin = opening(schema, change, params, { isUsed: ns === "", unless: "EXISTS (SELECT FROM x)" });
  const key = params.add(checkpoint.thread, "bigint");
  const [seqAt, nsAt, idAt] = [params.add(seq, "int"), params.add(ns, "text"), params.add(id, "text")];
  const topHead = HEADS.seal({ thread: checkpoint.thread, ns, seq, id });
  const text = `WITH x AS (SELECT seq FROM ${schema}.checkpoints WHERE thread = ${key} AND ns = ${nsAt} AND id = ${idAt}),
  ${begin},
  d AS (DELETE FROM ${schema}.writes w USING t WHERE w.thread = ${key} AND w.ns = ${nsAt}
    AND w.checkpoint = ${params.add(isEdit ? null : (top?.id ?? null), "text")}
    AND w.channel = '${SCHEDULED}' RETURNING 1),
  c AS (INSERT INTO ${schema}.checkpoints (thread, seq, before, ns, id, parent, head, channels, metadata, seal)
    SELECT ${key}, ${seqAt}, coalesce((SELECT pending FROM ${schema}.heads WHERE thread = ${key} AND ns = ${nsAt}), 0)
        - (SELECT count(*) FROM d), ${nsAt}, ${idAt}, ${params.add(parent, "text")}, ${params.add(head, "text")},
      ${params.add(channels, "text")}, ${params.add(metadata, "text")},
      ${params.add(CHECKPOINTS.seal(checkpoint), "bytea")} FROM t),
  h AS (INSERT INTO ${schema}.heads AS h (thread, ns, seq, count, pending, id, seal)
    SELECT ${key}, ${nsAt}, ${seqAt}, 1,
      (SELECT count(*) FROM ${schema}.writes WHERE thread = ${key} AND checkpoint = ${idAt} AND ns = ${nsAt}),
      ${idAt}, ${params.add(topHead, "bytea")} FROM t
    ON CONFLICT (thread, ns) DO UPDATE SET seq = excluded.seq, count = h.count + 1, pending = excluded.pending,
      id = excluded.id, seal = excluded.seal)
  ${outcome("(SELECT seq FROM x)")}`;
  return { name: nameOf("append", change, [ns === ""]), text, values: params.values };
}

/** Stores a checkpoint once more, in its place. */
export function again(schema: string, change: Change, checkpoint: CheckpointRow): Statement {
  const params = new Params();
  const { thread, seq, ns, parent, head, channels, metadata } = checkpoint;
  const begin = opening(schema, change, params, { isUsed: ns === "" });
  const text = `WITH ${begin},
  c AS (UPDATE ${schema}.checkpoints SET parent = ${params.add(parent, "text")}, head = ${params.add(head, "text")},
      channels = ${params.add(channels, "text")}, metadata = ${params.add(metadata, "text")},
      seal = ${params.add(CHECKPOINTS.seal(checkpoint), "bytea")}
    FROM t WHERE thread = ${params.add(thread, "bigint")} AND seq = ${params.add(seq, "int")})
  ${outcome("NULL")}`;
  return { name: nameOf("again", change, [ns === ""]), text, values: params.values };
}

export interface NewWrites {
  ns: string;
  checkpoint: string;
  task: string;
  rows: readonly WriteRow[];
  isNewest: boolean;
}

/** A write of a task is kept as it was first made; errors, interrupts and answers to them replace the last ones. */
export function addWrites(
  schema: string,
  change: Change,
  { ns, checkpoint, task, rows, isNewest }: NewWrites,
): Statement {
  const params = new Params();
  const begin = opening(schema, change, params, {});
  const key = params.add(change.desk.key, "bigint");
  const [nsAt, idAt] = [params.add(ns, "text"), params.add(checkpoint, "text")];
  const taskAt = params.add(task, "text");
  const added = "(SELECT count(*) FROM w)";
  const rowAt = `SELECT seq FROM ${schema}.checkpoints WHERE thread = ${key} AND ns = ${nsAt} AND id = ${idAt}`;
  const counted = isNewest
    ? `UPDATE ${schema}.heads SET pending = pending + ${added} FROM t WHERE thread = ${key} AND ns = ${nsAt}`
    : `UPDATE ${schema}.checkpoints SET before = before + ${added} FROM t WHERE thread = ${key} AND seq =
        (SELECT min(seq) FROM ${schema}.checkpoints WHERE thread = ${key} AND ns = ${nsAt} AND seq > (${rowAt}))`;
  const same = `w.thread = ${key} AND w.checkpoint = ${idAt} AND w.ns = ${nsAt} AND w.task = ${taskAt} AND w.idx = u.idx`;
  const text = `WITH ${begin},
  u AS (SELECT u.idx, u.channel, u.value, decode(u.seal, 'hex') AS seal FROM t, unnest(${params.add(
    rows.map(({ idx }) => idx),
    "int[]",
  )}, ${params.add(
    rows.map(({ channel }) => channel),
    "text[]",
  )}, ${params.add(
    rows.map(({ value }) => value),
    "text[]",
  )}, ${params.add(
    rows.map((row) => WRITES.hexSeal(row)),
    "text[]",
  )}) AS u (idx, channel, value, seal)),
  r AS (UPDATE ${schema}.writes w SET channel = u.channel, value = u.value, seal = u.seal FROM u
    WHERE ${same} AND w.idx < 0),
  w AS (INSERT INTO ${schema}.writes (thread, ns, checkpoint, task, idx, channel, value, seal)
    SELECT ${key}, ${nsAt}, ${idAt}, ${taskAt}, u.idx, u.channel, u.value, u.seal FROM u
    WHERE NOT EXISTS (SELECT FROM ${schema}.writes w WHERE ${same}) RETURNING 1),
  n AS (${counted})
  ${outcome("NULL")}`;
  return { name: nameOf("writes", change, [isNewest]), text, values: params.values };
}

/** Changes nothing but what the list of threads says. */
export function touch(schema: string, change: Change): Statement {
  const params = new Params();
  const text = `WITH ${opening(schema, change, params, {})} ${outcome("NULL")}`;
  return { name: nameOf("touch", change, []), text, values: params.values };
}

/**
 * What every write begins with. `f` locks the lease for as long as the statement takes: whoever takes the thread over
 * waits for it, and then it is no more. `t` is there when nobody has written since the desk was made; all else hangs on
 * it. `b` are the new blobs.
 */
function opening(
  schema: string,
  { desk, row, fresh, token }: Change,
  params: Params,
  { isUsed = false, unless = "FALSE" }: { isUsed?: boolean; unless?: string },
): string {
  const lease = `f AS (SELECT FROM ${schema}.leases WHERE thread = ${params.add(row.id, "text")}
    AND ${leaseAllows(params.add(token ?? null, "bigint"))} FOR SHARE)`;
  const values: [column: string, value: string][] = [
    ["updated", params.add(row.updated, "bigint")],
    ["title", params.add(row.title, "text")],
    ["done", params.add(row.done, "int")],
    ["total", params.add(row.total, "int")],
    ["checkpoint", params.add(row.checkpoint, "text")],
    ["unfinished", params.add(row.unfinished, "int")],
    ["interrupted", params.add(row.interrupted, "int")],
    ["seqs", params.add(row.seqs, "int")],
    ["blobs", params.add(row.blobs, "int")],
    ["seal", params.add(THREADS.seal(row), "bytea")],
    ["writer", params.add(desk.writer, "text")],
    ["revision", `${params.add(desk.revision, "bigint")} + 1`],
  ];
  const key = params.add(row.key, "bigint");
  if (desk.isNew || isUsed) values.push(["used", `nextval('${schema}.uses')`]);
  const thread = desk.isNew
    ? `t AS (INSERT INTO ${schema}.threads (key, id, created, ${values.map(([column]) => column).join(", ")})
        SELECT ${key}, ${params.add(row.id, "text")}, ${params.add(row.created, "bigint")},
          ${values.map(([, value]) => value).join(", ")} FROM f ON CONFLICT (id) DO NOTHING RETURNING 1)`
    : `t AS (UPDATE ${schema}.threads SET ${values.map(([column, value]) => `${column} = ${value}`).join(", ")}
        FROM f WHERE key = ${key} AND revision = ${params.add(desk.revision, "bigint")} AND NOT ${unless} RETURNING 1)`;
  const blobs = `b AS (INSERT INTO ${schema}.blobs (thread, id, kind, body, seal)
    SELECT ${key}, u.id, u.kind, u.body, decode(u.seal, 'hex') FROM t, unnest(${params.add(
      fresh.map(({ id }) => id),
      "int[]",
    )}, ${params.add(
      fresh.map(({ kind }) => kind),
      "text[]",
    )}, ${params.add(
      fresh.map(({ body }) => (typeof body === "string" ? body : Buffer.from(body).toString("base64"))),
      "text[]",
    )}, ${params.add(
      fresh.map(({ id, name }) => BLOBS.hexSeal({ thread: row.key, id, hash: Buffer.from(name, "latin1") })),
      "text[]",
    )}) AS u (id, kind, body, seal))`;
  return `${lease}, ${thread}, ${blobs}`;
}

function outcome(known: string): string {
  return `SELECT (SELECT count(*) FROM f) AS held, (SELECT count(*) FROM t) AS done, ${known} AS known`;
}

function nameOf(kind: string, { desk }: Change, flags: readonly boolean[]): string {
  return `holdfast-${kind}-${[desk.isNew, ...flags].map(Number).join("")}`;
}
