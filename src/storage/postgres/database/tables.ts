import { HarnessError } from "../../../errors.ts";
import { sealOf } from "../../store/index.ts";
import type { Database, Row } from "./database.ts";

/** What a list shows of a thread, and what its writer must know. */
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
  /** How many checkpoints and blobs it has: the numbers of the newest. */
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

/** A table whose rows have a checksum; what is not in it is compared with what is found. */
export class SealedTable<R extends Row> {
  readonly name: string;
  readonly columns: readonly (keyof R & string)[];

  constructor(name: string, columns: readonly (keyof R & string)[]) {
    this.name = name;
    this.columns = columns;
  }

  seal(row: R): Uint8Array {
    return sealOf(this.name, this.columns, row);
  }

  /** The same as hexadecimal digits, for arrays of them. */
  hexSeal(row: R): string {
    return sealOf(this.name, this.columns, row).toString("hex");
  }

  isWhole(row: Row): boolean {
    const { seal } = row;
    return seal instanceof Uint8Array && sealOf(this.name, this.columns, row).equals(seal);
  }

  /** A row that was read. Throws `storage-corrupt` when it is not as it was written. */
  open(row: Row, database: Database): R {
    if (this.isWhole(row)) return row as R;
    throw corrupt(database, `a row of its table ${this.name} does not match its checksum`);
  }
}

export const THREADS = new SealedTable<ThreadRow>("threads", [
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
export const HEADS = new SealedTable<HeadRow>("heads", ["thread", "ns", "seq", "id"]);
export const CHECKPOINTS = new SealedTable<CheckpointRow>("checkpoints", [
  "thread",
  "seq",
  "ns",
  "id",
  "parent",
  "head",
  "channels",
  "metadata",
]);
export const WRITES = new SealedTable<WriteRow>("writes", [
  "thread",
  "ns",
  "checkpoint",
  "task",
  "idx",
  "channel",
  "value",
]);
/** A blob is sealed by the name of its content, which is not stored. */
export const BLOBS = new SealedTable<{ thread: number; id: number; hash: Uint8Array }>("blobs", [
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
