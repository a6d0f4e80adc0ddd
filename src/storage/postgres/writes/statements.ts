import { SCHEDULED } from "@langchain/langgraph-checkpoint";
import {
  BLOBS,
  CHECKPOINTS,
  HEADS,
  THREADS,
  WRITES,
  type Statement,
  type WriteRow,
} from "../database/index.ts";
import { leaseAllows } from "../leases.ts";
import { endedBy, type Batch, type PutCheckpoint } from "./batch.ts";
import type { NewBlob } from "./blobs.ts";

/** The properties of a batch that determine the text of its statement. */
interface Shape {
  isNew: boolean;
  /** Whether the thread becomes the most recently used one. */
  isUsed: boolean;
  hasWrites: boolean;
  /** Whether some writes replace existing ones. */
  hasReplacements: boolean;
  isLate: boolean;
  isAppended: boolean;
  isRepeat: boolean;
}

/** Builds the statements that save batches. Each text is built once, and prepared under its name. */
export class Statements {
  readonly #schema: string;
  readonly #texts = new Map<string, string>();

  constructor(schema: string) {
    this.#schema = schema;
  }

  of(batch: Batch): Statement {
    const { writes, checkpoint } = batch;
    const shape: Shape = {
      isNew: batch.revision === 0,
      isUsed: batch.revision === 0 || checkpoint?.row.ns === "",
      hasWrites: writes.length > 0,
      hasReplacements: writes.some(({ idx }) => idx < 0),
      isLate: writes.length > 0 && batch.isLate,
      isAppended: checkpoint?.isRepeat === false,
      isRepeat: checkpoint?.isRepeat === true,
    };
    const values = {
      ...threadValues(batch),
      ...blobValues(batch.cache.key, batch.newBlobs),
      ...(shape.hasWrites && writeValues(writes)),
      ...(checkpoint && checkpointValues(checkpoint)),
    };
    const name = `holdfast-save-${Object.values(shape).map(Number).join("")}`;
    let text = this.#texts.get(name);
    if (text === undefined) this.#texts.set(name, (text = textOf(this.#schema, shape, Object.keys(values))));
    return { name, text, values: Object.values(values) };
  }
}

type Param = keyof typeof TYPES;

const TYPES = {
  thread: "text",
  token: "bigint",
  key: "bigint",
  revision: "bigint",
  created: "bigint",
  updated: "bigint",
  title: "text",
  done: "int",
  total: "int",
  checkpoint: "text",
  unfinished: "int",
  interrupted: "int",
  seqs: "int",
  blobs: "int",
  threadSeal: "bytea",
  writer: "text",
  blobIds: "int[]",
  blobKinds: "text[]",
  blobBodies: "text[]",
  blobSeals: "text[]",
  writeNs: "text[]",
  writeCheckpoints: "text[]",
  writeTasks: "text[]",
  writeIdx: "int[]",
  writeChannels: "text[]",
  writeValues: "text[]",
  writeSeals: "text[]",
  seq: "int",
  ns: "text",
  id: "text",
  ended: "text",
  parent: "text",
  head: "text",
  channels: "text",
  metadata: "text",
  checkpointSeal: "bytea",
  headSeal: "bytea",
} as const;

type Values = Partial<Record<Param, unknown>>;

/** The columns of a thread's row that a write may change. */
const THREAD_COLUMNS = [
  "updated",
  "title",
  "done",
  "total",
  "checkpoint",
  "unfinished",
  "interrupted",
  "seqs",
  "blobs",
] as const;

function threadValues({ cache, row, token, revision }: Batch): Values {
  return {
    thread: row.id,
    token: token ?? null,
    key: row.key,
    revision,
    ...(revision === 0 && { created: row.created }),
    ...Object.fromEntries(THREAD_COLUMNS.map((column) => [column, row[column]])),
    threadSeal: THREADS.checksum(row),
    writer: cache.writer,
  };
}

function blobValues(thread: number, newBlobs: readonly NewBlob[]): Values {
  return {
    blobIds: newBlobs.map(({ id }) => id),
    blobKinds: newBlobs.map(({ kind }) => kind),
    blobBodies: newBlobs.map(({ body }) =>
      typeof body === "string" ? body : Buffer.from(body).toString("base64"),
    ),
    blobSeals: newBlobs.map(({ id, hash }) =>
      BLOBS.checksum({ thread, id, hash: Buffer.from(hash, "latin1") }).toString("hex"),
    ),
  };
}

function writeValues(rows: readonly WriteRow[]): Values {
  return {
    writeNs: rows.map(({ ns }) => ns),
    writeCheckpoints: rows.map(({ checkpoint }) => checkpoint),
    writeTasks: rows.map(({ task }) => task),
    writeIdx: rows.map(({ idx }) => idx),
    writeChannels: rows.map(({ channel }) => channel),
    writeValues: rows.map(({ value }) => value),
    writeSeals: rows.map((row) => WRITES.checksum(row).toString("hex")),
  };
}

function checkpointValues(checkpoint: PutCheckpoint): Values {
  const { thread, seq, ns, id, parent, head, channels, metadata } = checkpoint.row;
  return {
    seq,
    ...(!checkpoint.isRepeat && {
      ns,
      id,
      ended: endedBy(checkpoint)?.id ?? null,
      headSeal: HEADS.checksum({ thread, ns, seq, id }),
    }),
    parent,
    head,
    channels,
    metadata,
    checkpointSeal: CHECKPOINTS.checksum(checkpoint.row),
  };
}

type At = (param: Param) => string;

function textOf(schema: string, shape: Shape, params: readonly string[]): string {
  const at: At = (param) => `$${params.indexOf(param) + 1}::${TYPES[param]}`;
  const parts = [
    opening(schema, shape, at),
    ...(shape.hasWrites ? [addWrites(schema, shape, at)] : []),
    ...(shape.isAppended ? [append(schema, shape, at)] : []),
    ...(shape.isRepeat ? [putAgain(schema, at)] : []),
  ];
  const existing = shape.isAppended ? `(${existingSeq(schema, at)})` : "NULL";
  return `WITH ${parts.join(",\n  ")}
  SELECT (SELECT count(*) FROM f) AS leases, (SELECT count(*) FROM t) AS saves, ${existing} AS existing_seq`;
}

/** Selects the number of the new checkpoint, if it exists already. */
function existingSeq(schema: string, at: At): string {
  return `SELECT seq FROM ${schema}.checkpoints WHERE thread = ${at("key")} AND ns = ${at("ns")} AND id = ${at("id")}`;
}

/**
 * The start of every statement. `f` locks the lease until the statement ends, so that a takeover waits for it. `t` has a row
 * if nothing was written since the cache was loaded and the new checkpoint does not exist; everything else depends on it.
 * `b` adds the new blobs.
 */
function opening(schema: string, { isNew, isUsed, isAppended }: Shape, at: At): string {
  const lease = `f AS (SELECT FROM ${schema}.leases WHERE thread = ${at("thread")}
    AND ${leaseAllows(at("token"))} FOR SHARE)`;
  const values: [column: string, value: string][] = [
    ...THREAD_COLUMNS.map((column): [string, string] => [column, at(column)]),
    ["seal", at("threadSeal")],
    ["writer", at("writer")],
    ["revision", `${at("revision")} + 1`],
  ];
  if (isUsed) values.push(["used", `nextval('${schema}.uses')`]);
  const unless = isAppended ? ` AND NOT EXISTS (${existingSeq(schema, at)})` : "";
  const thread = isNew
    ? `t AS (INSERT INTO ${schema}.threads (key, id, created, ${values.map(([column]) => column).join(", ")})
        SELECT ${at("key")}, ${at("thread")}, ${at("created")}, ${values.map(([, value]) => value).join(", ")} FROM f
        ON CONFLICT (id) DO NOTHING RETURNING 1)`
    : `t AS (UPDATE ${schema}.threads SET ${values.map(([column, value]) => `${column} = ${value}`).join(", ")}
        FROM f WHERE key = ${at("key")} AND revision = ${at("revision")}${unless} RETURNING 1)`;
  const blobs = `b AS (INSERT INTO ${schema}.blobs (thread, id, kind, body, seal)
    SELECT ${at("key")}, u.id, u.kind, u.body, decode(u.seal, 'hex') FROM t,
      unnest(${at("blobIds")}, ${at("blobKinds")}, ${at("blobBodies")}, ${at("blobSeals")}) AS u (id, kind, body, seal))`;
  return [lease, thread, blobs].join(",\n  ");
}

/**
 * Adds the writes. Existing ones stay, but errors, interrupts and answers to them are replaced. `a` is the number of
 * added writes by checkpoint: `heads` counts those of the newest, and the next checkpoint counts those of others.
 */
function addWrites(schema: string, { hasReplacements, isLate, isAppended }: Shape, at: At): string {
  const key = at("key");
  // The list of checkpoints here, and the bounds below, make the planner use the index, whatever its statistics say.
  const same = `w.thread = ${key} AND w.checkpoint = ANY (${at("writeCheckpoints")}) AND w.checkpoint = u.checkpoint
      AND w.ns = u.ns AND w.task = u.task AND w.idx = u.idx`;
  const parts = [
    `u AS (SELECT u.ns, u.checkpoint, u.task, u.idx, u.channel, u.value, decode(u.seal, 'hex') AS seal FROM t,
      unnest(${at("writeNs")}, ${at("writeCheckpoints")}, ${at("writeTasks")}, ${at("writeIdx")}, ${at("writeChannels")},
        ${at("writeValues")}, ${at("writeSeals")}) AS u (ns, checkpoint, task, idx, channel, value, seal))`,
    `w AS (INSERT INTO ${schema}.writes (thread, ns, checkpoint, task, idx, channel, value, seal)
      SELECT ${key}, u.ns, u.checkpoint, u.task, u.idx, u.channel, u.value, u.seal FROM u
      WHERE NOT EXISTS (SELECT FROM ${schema}.writes w WHERE ${same}) RETURNING ns, checkpoint)`,
    "a AS (SELECT ns, checkpoint, count(*)::int AS added FROM w GROUP BY ns, checkpoint)",
    `n AS (UPDATE ${schema}.heads h SET pending = pending + a.added FROM a
      WHERE h.thread = ${key} AND h.ns = a.ns AND h.id = a.checkpoint${isAppended ? ` AND h.ns <> ${at("ns")}` : ""})`,
  ];
  if (hasReplacements) {
    parts.push(`r AS (UPDATE ${schema}.writes w SET channel = u.channel, value = u.value, seal = u.seal FROM u
      WHERE ${same} AND w.idx < 0)`);
  }
  if (isLate) {
    const own = `SELECT o.seq FROM ${schema}.checkpoints o WHERE o.thread = ${key} AND o.ns = a.ns AND o.id = a.checkpoint`;
    parts.push(
      `s AS (SELECT a.added, (SELECT min(c.seq) FROM ${schema}.checkpoints c
        WHERE c.thread = ${key} AND c.ns = a.ns AND c.seq > (${own})) AS seq FROM a)`,
      `l AS (UPDATE ${schema}.checkpoints c SET before = before + s.added FROM s
        WHERE c.thread = ${key} AND c.seq = s.seq
          AND c.seq BETWEEN (SELECT min(seq) FROM s) AND (SELECT max(seq) FROM s))`,
    );
  }
  return parts.join(",\n  ");
}

/** Adds a new checkpoint as the newest of its namespace. */
function append(schema: string, { hasWrites }: Shape, at: At): string {
  const [key, ns, id, seq] = [at("key"), at("ns"), at("id"), at("seq")];
  const head = `FROM ${schema}.heads WHERE thread = ${key} AND ns = ${ns}`;
  const added = (checkpoint: string): string =>
    hasWrites
      ? ` + coalesce((SELECT added FROM a WHERE a.ns = ${ns} AND a.checkpoint = ${checkpoint}), 0)`
      : "";
  return `d AS (DELETE FROM ${schema}.writes w USING t WHERE w.thread = ${key} AND w.ns = ${ns}
      AND w.checkpoint = ${at("ended")} AND w.channel = '${SCHEDULED}' RETURNING 1),
  c AS (INSERT INTO ${schema}.checkpoints (thread, seq, before, ns, id, parent, head, channels, metadata, seal)
    SELECT ${key}, ${seq}, coalesce((SELECT pending ${head}), 0)${added(`(SELECT id ${head})`)}
        - (SELECT count(*) FROM d), ${ns}, ${id}, ${at("parent")}, ${at("head")},
      ${at("channels")}, ${at("metadata")}, ${at("checkpointSeal")} FROM t),
  h AS (INSERT INTO ${schema}.heads AS h (thread, ns, seq, count, pending, id, seal)
    SELECT ${key}, ${ns}, ${seq}, 1,
      (SELECT count(*) FROM ${schema}.writes WHERE thread = ${key} AND checkpoint = ${id} AND ns = ${ns})${added(id)},
      ${id}, ${at("headSeal")} FROM t
    ON CONFLICT (thread, ns) DO UPDATE SET seq = excluded.seq, count = h.count + 1, pending = excluded.pending,
      id = excluded.id, seal = excluded.seal)`;
}

function putAgain(schema: string, at: At): string {
  return `c AS (UPDATE ${schema}.checkpoints SET parent = ${at("parent")}, head = ${at("head")},
      channels = ${at("channels")}, metadata = ${at("metadata")}, seal = ${at("checkpointSeal")}
    FROM t WHERE thread = ${at("key")} AND seq = ${at("seq")})`;
}
