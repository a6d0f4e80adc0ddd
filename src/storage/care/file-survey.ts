import { attempt } from "../../errors.ts";
import { blobReferences } from "../codec/index.ts";
import {
  BLOBS,
  CHECKPOINTS,
  HEADS,
  ITEMS,
  RECORDS,
  THREADS,
  toText,
  WRITES,
  type Connection,
  type Row,
  type TableRow,
  type ThreadRow,
} from "../sqlite/database/index.ts";
import { contentHash, itemDamage } from "../store/index.ts";
import { headDamage, ledgerDamage, writesDamage, type Problem, type Progress } from "./problem.ts";

type CheckpointRow = TableRow<typeof CHECKPOINTS>;
type WriteRow = TableRow<typeof WRITES>;

/** Receives all intact rows that refer to intact rows only: blobs first, then checkpoints with their writes. */
interface Sink {
  thread?: (row: ThreadRow, isIntact: boolean) => void;
  blob?: (row: TableRow<typeof BLOBS>) => void;
  checkpoint?: (row: CheckpointRow, writes: readonly WriteRow[]) => void;
  /** Receives a function that adds a row of the ledger to another file. */
  ledger?: (copy: (to: Connection) => void) => void;
  edit?: (row: TableRow<typeof RECORDS.edits>) => void;
  item?: (row: TableRow<typeof ITEMS>) => void;
}

const BATCH = 200;
const NUMBERED = {
  threads: THREADS,
  blobs: BLOBS,
  checkpoints: CHECKPOINTS,
  edits: RECORDS.edits,
  items: ITEMS,
};

/** Reads a whole thread store, row by row, and skips rows that cannot be read. */
export class FileSurvey {
  readonly problems: Problem[] = [];
  readonly #connection: Connection;
  readonly #sink: Sink;
  readonly #onProgress: (progress: Progress) => void;
  readonly #names = new Map<number, string>();
  /** The thread of each intact blob. */
  readonly #blobs = new Map<number, number>();
  #progress: Progress = { done: 0, total: 0 };

  constructor(connection: Connection, sink: Sink = {}, onProgress: (progress: Progress) => void = () => {}) {
    this.#connection = connection;
    this.#sink = sink;
    this.#onProgress = onProgress;
  }

  run(): Problem[] {
    const pages = attempt(() => this.#connection.all("PRAGMA store.integrity_check(20)"));
    for (const row of pages ?? [{ integrity_check: "its pages cannot be checked" }]) {
      const what = String(row["integrity_check"]);
      if (what !== "ok") this.problems.push({ what });
    }
    this.#progress.total = this.#last("blobs", "id") + this.#last("checkpoints", "seq");
    this.#readThreads();
    this.#readBlobs();
    this.#readCheckpoints();
    this.#readLedger();
    this.#readEdits();
    this.#readItems();
    return this.problems;
  }

  #readThreads(): void {
    let count = 0;
    for (const row of this.#rows("threads", "key")) {
      const thread = THREADS.decode(row);
      const isIntact = THREADS.isIntact(row);
      // The index also has the id: if both agree, it is right.
      const isNamed = isIntact || attempt(() => this.#indexedKey(thread.id)) === thread.key;
      const id = isNamed ? thread.id : `recovered-${thread.key}`;
      count += 1;
      this.#names.set(thread.key, id);
      if (!isIntact) this.#addProblem(thread.key, "its entry in the list of threads is damaged");
      this.#sink.thread?.({ ...thread, id }, isIntact);
    }
    const roster = this.#head(0, "");
    if (count !== (roster?.count ?? 0)) {
      this.problems.push({
        what: `of ${roster?.count ?? "an unknown number of"} threads there are ${count}`,
      });
    }
  }

  /** Reads blobs; each comes after those that it refers to. */
  #readBlobs(): void {
    for (const row of this.#rows("blobs", "id")) {
      const blob = BLOBS.decode(row);
      const isIntact = BLOBS.isIntact(row) && contentHash(blob.kind, blob.body).equals(blob.hash);
      const isComplete = isIntact && this.#refersToIntact(blob.thread, blob.kind, blob.body);
      if (!isIntact) this.#addProblem(blob.thread, `blob ${blob.id} is damaged`);
      if (!isComplete) continue;
      this.#blobs.set(blob.id, blob.thread);
      this.#sink.blob?.(blob);
    }
  }

  #readCheckpoints(): void {
    const namespaces = new Map<string, { thread: number; ns: string; count: number; newest: string }>();
    for (const row of this.#rows("checkpoints", "seq")) {
      const checkpoint = CHECKPOINTS.decode(row);
      const { thread, ns, id } = checkpoint;
      if (!CHECKPOINTS.isIntact(row)) {
        this.#addProblem(thread, `checkpoint ${id} is damaged`);
        continue;
      }
      const before = namespaces.get(`${thread} ${ns}`);
      namespaces.set(`${thread} ${ns}`, { thread, ns, count: (before?.count ?? 0) + 1, newest: id });
      const isComplete = [checkpoint.channels, checkpoint.metadata].every((text) =>
        this.#refersToIntact(thread, "tree", text),
      );
      const writes = this.#readWrites(checkpoint);
      if (isComplete) this.#sink.checkpoint?.(checkpoint, writes);
      else this.#addProblem(thread, `checkpoint ${id} refers to damaged data`);
    }
    for (const { thread, ns, count, newest } of namespaces.values()) {
      const damage = headDamage(ns, this.#head(thread, ns), { count, newest });
      if (damage !== undefined) this.#addProblem(thread, damage);
    }
    // The loop above does not see a thread without any intact checkpoint.
    for (const [thread] of this.#names) {
      const head = this.#head(thread, "");
      if (head && head.count > 0 && !namespaces.has(`${thread} `)) {
        this.#addProblem(thread, `of ${head.count} checkpoints none is whole`);
      }
    }
  }

  #readWrites({ thread, ns, id, writes: counted }: CheckpointRow): WriteRow[] {
    const rows = attempt(() =>
      WRITES.intact(
        this.#connection,
        "WHERE thread = ? AND ns = ? AND checkpoint = ? ORDER BY writes.task, writes.idx",
        [thread, ns, id],
      ),
    );
    const head = this.#head(thread, ns);
    const expected = head?.id === id ? head.pending : counted;
    const intact = (rows ?? []).filter(({ value }) => this.#refersToIntact(thread, "tree", value));
    if (intact.length !== expected) {
      this.#addProblem(thread, writesDamage(id, { expected, intact: intact.length }));
    }
    return intact;
  }

  #readLedger(): void {
    for (const table of [RECORDS.hosted, RECORDS.runs, RECORDS.schedules]) {
      const rows = attempt(() =>
        this.#connection.all(`SELECT ${table.columns} FROM ${table.name} NOT INDEXED`),
      );
      if (!rows) this.problems.push({ what: `table ${table.name} cannot be read` });
      for (const row of rows ?? []) {
        if (table.isIntact(row)) this.#sink.ledger?.((to) => table.copy(row, to));
        else
          this.problems.push(ledgerDamage(row["thread"] === undefined ? undefined : toText(row["thread"])));
      }
    }
  }

  #readEdits(): void {
    for (const row of this.#rows("edits", "id")) {
      const edit = RECORDS.edits.decode(row);
      if (RECORDS.edits.isIntact(row)) this.#sink.edit?.(edit);
      else this.#addProblem(edit.thread, "an edit of its plan that waits is damaged");
    }
  }

  #readItems(): void {
    for (const row of this.#rows("items", "id")) {
      const item = ITEMS.decode(row);
      if (ITEMS.isIntact(row)) this.#sink.item?.(item);
      else this.problems.push({ what: itemDamage(item) });
    }
  }

  #refersToIntact(thread: number, kind: string, text: string | Uint8Array): boolean {
    return blobReferences(kind, text).every((id) => this.#blobs.get(id) === thread);
  }

  #head(thread: number, ns: string): TableRow<typeof HEADS> | undefined {
    return attempt(() => HEADS.get(this.#connection, "WHERE thread = ? AND ns = ?", [thread, ns]));
  }

  #indexedKey(id: string): unknown {
    return this.#connection.get("SELECT key FROM threads WHERE id = ?", [id])?.["key"];
  }

  #addProblem(thread: number, what: string): void {
    this.problems.push({ thread: this.#names.get(thread) ?? `number ${thread}`, what });
  }

  /** The rows of a table by their number. Where a batch cannot be read, its rows are read one by one. */
  *#rows(table: keyof typeof NUMBERED, key: string): Generator<Row> {
    const { columns } = NUMBERED[table];
    const select = `SELECT ${columns} FROM ${table} WHERE ${table}.${key}`;
    const end = this.#last(table, key);
    for (let last = 0; last < end;) {
      const start = last;
      const rows = attempt(() =>
        this.#connection.all(`${select} > ? ORDER BY ${table}.${key} LIMIT ${BATCH}`, [start]),
      );
      const upTo = rows ? ((rows.at(-1)?.[key] as number | undefined) ?? end) : start + BATCH;
      yield* rows ?? this.#oneByOne(`${select} = ?`, start + 1, upTo);
      if (!rows)
        this.problems.push({ what: `table ${table} cannot be read in one go from row ${start + 1}` });
      if (table === "blobs" || table === "checkpoints") this.#progress.done += Math.min(upTo, end) - start;
      this.#onProgress(this.#progress);
      last = upTo;
    }
  }

  *#oneByOne(sql: string, from: number, upTo: number): Generator<Row> {
    for (let at = from; at <= upTo; at++) {
      const row = attempt(() => this.#connection.get(sql, [at]));
      if (row) yield row;
    }
  }

  #last(table: string, key: string): number {
    const row = attempt(() => this.#connection.get(`SELECT max(${key}) AS last FROM ${table}`));
    return (row?.["last"] as number | null | undefined) ?? 0;
  }
}
