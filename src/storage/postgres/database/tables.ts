import { HarnessError } from "../../../errors.ts";
import { checksumOf, RECORD_SHAPES, type RecordTable, type RowOf, type Shape } from "../../store/index.ts";
import type { Database, Row } from "./database.ts";

/** A table whose rows have a checksum over its columns; the first `key` columns are its key. */
export class CheckedTable<R extends Row> {
  readonly name: string;
  readonly #columns: readonly string[];
  readonly #key: number;

  constructor(name: string, shape: Shape, key = 1) {
    this.name = name;
    this.#columns = Object.keys(shape);
    this.#key = key;
  }

  checksum(row: R): Buffer {
    return checksumOf(this.name, this.#columns, row);
  }

  isIntact(row: Row): boolean {
    const { seal } = row;
    return seal instanceof Uint8Array && checksumOf(this.name, this.#columns, row).equals(seal);
  }

  /** Returns a row that was read. Throws `storage-corrupt` when it does not match its checksum. */
  open(row: Row, database: Database): R {
    if (this.isIntact(row)) return row as R;
    throw corrupt(database, `a row of its table ${this.name} does not match its checksum`);
  }

  /** The statement that adds a row, or replaces the one with the same key; `values` are its parameters. */
  upsert(schema: string): string {
    const columns = [...this.#columns, "seal"];
    const places = columns.map((_, at) => `$${at + 1}`).join(", ");
    const changes = columns.map((column) => `${column} = excluded.${column}`).join(", ");
    const key = columns.slice(0, this.#key).join(", ");
    return `INSERT INTO ${schema}.${this.name} (${columns.join(", ")}) VALUES (${places})
      ON CONFLICT (${key}) DO UPDATE SET ${changes}`;
  }

  values(row: R): unknown[] {
    return [...this.#columns.map((column) => row[column]), this.checksum(row)];
  }
}

function checkedTable<S extends Shape>(name: string, shape: S, key?: number): CheckedTable<RowOf<S>> {
  return new CheckedTable(name, shape, key);
}

export type TableRow<T> = T extends CheckedTable<infer R> ? R : never;

/** The summary of a thread, and the counters that its writer needs. */
export const THREADS = checkedTable("threads", {
  key: "number",
  id: "text",
  created: "number",
  updated: "number",
  title: "text?",
  done: "number",
  total: "number",
  checkpoint: "text?",
  unfinished: "number",
  interrupted: "number",
  /** The numbers of its newest checkpoint and blob. */
  seqs: "number",
  blobs: "number",
});
export type ThreadRow = TableRow<typeof THREADS>;

export const HEADS = checkedTable("heads", { thread: "number", ns: "text", seq: "number", id: "text" });
export type HeadRow = TableRow<typeof HEADS>;

export const CHECKPOINTS = checkedTable("checkpoints", {
  thread: "number",
  seq: "number",
  ns: "text",
  id: "text",
  parent: "text?",
  head: "text",
  channels: "text",
  metadata: "text",
});
export type CheckpointRow = TableRow<typeof CHECKPOINTS>;

export const WRITES = checkedTable("writes", {
  thread: "number",
  ns: "text",
  checkpoint: "text",
  task: "text",
  idx: "number",
  channel: "text",
  value: "text",
});
export type WriteRow = TableRow<typeof WRITES>;

/** The checksum of a blob includes the hash of its content, which is not stored. */
export const BLOBS = checkedTable("blobs", { thread: "number", id: "number", hash: "bytes" });

export const ITEMS = checkedTable(
  "items",
  { namespace: "text", key: "text", value: "text", created: "number", updated: "number" },
  2,
);

/** The tables that are the same in SQLite. */
export const RECORDS: Record<RecordTable, CheckedTable<Row>> = {
  hosted: new CheckedTable("hosted", RECORD_SHAPES.hosted),
  runs: new CheckedTable("runs", RECORD_SHAPES.runs),
  schedules: new CheckedTable("schedules", RECORD_SHAPES.schedules),
  edits: new CheckedTable("edits", RECORD_SHAPES.edits),
};

export function corrupt({ address }: Database, what: string): HarnessError {
  return new HarnessError(
    "storage-corrupt",
    `${address.shown} is damaged: ${what}. It was left as it is. holdfast check says all that is wrong; what is lost comes from a backup of the database.`,
  );
}
