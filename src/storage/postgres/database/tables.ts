import { HarnessError } from "../../../errors.ts";
import { checksumOf } from "../../store/index.ts";
import type { Database, Row } from "./database.ts";

/** The summary of a thread, and the counters that its writer needs. */
export type ThreadRow = {
  key: number;
  id: string;
  created: number;
  updated: number;
  title: string | null;
  done: number;
  total: number;
  checkpoint: string | null;
  unfinished: number;
  interrupted: number;
  /** The numbers of its newest checkpoint and blob. */
  seqs: number;
  blobs: number;
};

export type HeadRow = { thread: number; ns: string; seq: number; id: string };

export type CheckpointRow = {
  thread: number;
  seq: number;
  ns: string;
  id: string;
  parent: string | null;
  head: string;
  channels: string;
  metadata: string;
};

export type WriteRow = {
  thread: number;
  ns: string;
  checkpoint: string;
  task: string;
  idx: number;
  channel: string;
  value: string;
};

/** A table whose rows have a checksum over these columns. */
export class CheckedTable<R extends Row> {
  readonly name: string;
  readonly columns: readonly (keyof R & string)[];

  constructor(name: string, columns: readonly (keyof R & string)[]) {
    this.name = name;
    this.columns = columns;
  }

  checksum(row: R): Uint8Array {
    return checksumOf(this.name, this.columns, row);
  }

  /** The checksum as hexadecimal digits, for arrays. */
  hexChecksum(row: R): string {
    return checksumOf(this.name, this.columns, row).toString("hex");
  }

  isIntact(row: Row): boolean {
    const { seal } = row;
    return seal instanceof Uint8Array && checksumOf(this.name, this.columns, row).equals(seal);
  }

  /** Returns a row that was read. Throws `storage-corrupt` when it does not match its checksum. */
  open(row: Row, database: Database): R {
    if (this.isIntact(row)) return row as R;
    throw corrupt(database, `a row of its table ${this.name} does not match its checksum`);
  }
}

export const THREADS = new CheckedTable<ThreadRow>("threads", [
  "key",
  "id",
  "created",
  "updated",
  "title",
  "done",
  "total",
  "checkpoint",
  "unfinished",
  "interrupted",
  "seqs",
  "blobs",
]);
export const HEADS = new CheckedTable<HeadRow>("heads", ["thread", "ns", "seq", "id"]);
export const CHECKPOINTS = new CheckedTable<CheckpointRow>("checkpoints", [
  "thread",
  "seq",
  "ns",
  "id",
  "parent",
  "head",
  "channels",
  "metadata",
]);
export const WRITES = new CheckedTable<WriteRow>("writes", [
  "thread",
  "ns",
  "checkpoint",
  "task",
  "idx",
  "channel",
  "value",
]);
/** The checksum of a blob includes the hash of its content, which is not stored. */
export const BLOBS = new CheckedTable<{ thread: number; id: number; hash: Uint8Array }>("blobs", [
  "thread",
  "id",
  "hash",
]);

export function corrupt({ address }: Database, what: string, options?: ErrorOptions): HarnessError {
  return new HarnessError(
    "storage-corrupt",
    `${address.shown} is damaged: ${what}. It was left as it is. holdfast check says all that is wrong; what is lost comes from a backup of the database.`,
    options,
  );
}
