import { HarnessError } from "../../errors.ts";
import { blobReferences } from "../codec/index.ts";
import {
  CHECKPOINTS,
  HEADS,
  ITEMS,
  RECORDS,
  THREADS,
  WRITES,
  type Database,
  type Row,
} from "../postgres/database/index.ts";
import { blobOf } from "../postgres/writes/index.ts";
import { itemDamage, type StoredItem } from "../store/index.ts";
import { headDamage, ledgerDamage, writesDamage, type Problem, type Progress } from "./problem.ts";

const BATCH = 500;

/** The columns of `heads` that a check compares; `pending` is the number of writes to the newest checkpoint. */
type Head = { id: string; count: number; pending: number };

/** Reads a whole database, thread by thread, and collects its problems, without any change. */
export class DatabaseSurvey {
  readonly problems: Problem[] = [];
  readonly #database: Database;
  readonly #onProgress: (progress: Progress) => void;

  constructor(database: Database, onProgress: (progress: Progress) => void = () => {}) {
    this.#database = database;
    this.#onProgress = onProgress;
  }

  async run(): Promise<Problem[]> {
    const { schema, address } = this.#database;
    if (!(await this.#hasTable("threads")))
      throw new HarnessError("storage-failed", `There are no threads in ${address.shown}.`);
    const [{ total } = {}] = await this.#database.query(`SELECT count(*) AS total FROM ${schema}.threads`);
    let count = 0;
    for await (const row of this.#rows("threads", ["key"])) {
      await this.#readThread(row);
      count += 1;
      this.#onProgress({ done: count, total: Math.max(count, total as number) });
    }
    await this.#findOrphans();
    await this.#readLedger("hosted", "thread");
    await this.#readLedger("runs", "id");
    // A database of an earlier format has no schedules.
    if (await this.#hasTable("schedules")) await this.#readLedger("schedules", "id");
    for await (const row of this.#rows("items", ["namespace", "key"])) {
      if (!ITEMS.isIntact(row)) this.problems.push({ what: itemDamage(row as StoredItem) });
    }
    return this.problems;
  }

  async #hasTable(name: string): Promise<boolean> {
    const table = `${this.#database.schema}.${name}`;
    const [row] = await this.#database.query("SELECT to_regclass($1) IS NOT NULL AS there", [table]);
    return row?.["there"] === true;
  }

  async #readThread(row: Row): Promise<void> {
    const { key: thread, id } = row as { key: number; id: string };
    const addProblem = (what: string): void => void this.problems.push({ thread: id, what });
    if (!THREADS.isIntact(row)) addProblem("its entry in the list of threads is damaged");
    const blobs = await this.#readBlobs(thread, addProblem);
    const heads = await this.#readHeads(thread, addProblem);
    const refersToIntact = (kind: string, text: string): boolean =>
      blobReferences(kind, text).every((each) => blobs.has(each));
    const counts = new Map<string, number>();
    /** The last checkpoint of each namespace, with its number of writes, which the next one records. */
    const last = new Map<string, { id: string; writes: number }>();
    for await (const checkpointRow of this.#rows("checkpoints", ["seq"], thread)) {
      const checkpoint = checkpointRow as ReturnType<typeof CHECKPOINTS.open>;
      const before = last.get(checkpoint.ns);
      const expected = checkpointRow["before"];
      if (before && before.writes !== expected) {
        addProblem(writesDamage(before.id, { expected, intact: before.writes }));
      }
      last.set(checkpoint.ns, {
        id: checkpoint.id,
        writes: await this.#countWrites(checkpoint, refersToIntact),
      });
      if (!CHECKPOINTS.isIntact(checkpointRow)) {
        addProblem(`checkpoint ${checkpoint.id} is damaged`);
        continue;
      }
      counts.set(checkpoint.ns, (counts.get(checkpoint.ns) ?? 0) + 1);
      const isComplete = [checkpoint.channels, checkpoint.metadata].every((text) =>
        refersToIntact("tree", text),
      );
      if (!isComplete) addProblem(`checkpoint ${checkpoint.id} refers to damaged data`);
    }
    for (const ns of new Set([...counts.keys(), ...heads.keys()])) {
      const head = heads.get(ns);
      const newest = last.get(ns);
      const damage = headDamage(ns, head, { count: counts.get(ns) ?? 0, newest: newest?.id });
      if (damage !== undefined) addProblem(damage);
      else if (head && newest && head.pending !== newest.writes) {
        addProblem(writesDamage(newest.id, { expected: head.pending, intact: newest.writes }));
      }
    }
    for await (const edit of this.#rows("edits", ["id"], thread)) {
      if (!RECORDS.edits.isIntact(edit)) addProblem("an edit of its plan that waits is damaged");
    }
  }

  /** The numbers of the intact blobs that refer to intact ones only; a blob comes after those that it refers to. */
  async #readBlobs(thread: number, addProblem: (what: string) => void): Promise<Set<number>> {
    const intact = new Set<number>();
    for await (const row of this.#rows("blobs", ["id"], thread)) {
      const { id, kind, body } = row as { id: number; kind: string; body: string };
      if (!blobOf(thread, row)) addProblem(`blob ${id} is damaged`);
      else if (blobReferences(kind, body).every((target) => intact.has(target))) intact.add(id);
    }
    return intact;
  }

  async #readHeads(thread: number, addProblem: (what: string) => void): Promise<Map<string, Head>> {
    const heads = new Map<string, Head>();
    for await (const row of this.#rows("heads", ["ns"], thread)) {
      if (HEADS.isIntact(row)) heads.set(row["ns"] as string, row as Head);
      else
        addProblem(
          `the record of the newest checkpoint of ${String(row["ns"]) || "the main graph"} is damaged`,
        );
    }
    return heads;
  }

  async #countWrites(
    { thread, ns, id }: { thread: number; ns: string; id: string },
    refersToIntact: (kind: string, text: string) => boolean,
  ): Promise<number> {
    const rows = await this.#database.query(
      `SELECT * FROM ${this.#database.schema}.writes WHERE thread = $1 AND checkpoint = $2 AND ns = $3`,
      [thread, id, ns],
    );
    return rows.filter((row) => WRITES.isIntact(row) && refersToIntact("tree", row["value"] as string))
      .length;
  }

  /** Reports rows of threads that are missing in the list of threads. */
  async #findOrphans(): Promise<void> {
    const { schema } = this.#database;
    const lost = ["checkpoints", "blobs", "heads", "writes"].map(
      (table) => `SELECT thread FROM ${schema}.${table} o WHERE NOT EXISTS
        (SELECT 1 FROM ${schema}.threads t WHERE t.key = o.thread)`,
    );
    for (const { thread } of await this.#database.query(lost.join(" UNION "))) {
      this.problems.push({
        thread: `number ${String(thread)}`,
        what: "its entry in the list of threads is lost",
      });
    }
  }

  async #readLedger(table: "hosted" | "runs" | "schedules", key: string): Promise<void> {
    for await (const row of this.#rows(table, [key])) {
      if (!RECORDS[table].isIntact(row))
        this.problems.push(ledgerDamage(row["thread"] as string | undefined));
    }
  }

  /** The rows of a table, or of one thread in it, in the order of their key. */
  async *#rows(table: string, key: readonly string[], thread?: number): AsyncGenerator<Row> {
    const columns = key.join(", ");
    let last: unknown[] | undefined;
    for (;;) {
      const values: unknown[] = [...(last ?? []), ...(thread === undefined ? [] : [thread])];
      const conditions = [
        ...(last ? [`(${columns}) > (${last.map((_, at) => `$${at + 1}`).join(", ")})`] : []),
        ...(thread === undefined ? [] : [`thread = $${values.length}`]),
      ];
      const where = conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "";
      const rows = await this.#database.query(
        `SELECT * FROM ${this.#database.schema}.${table} ${where} ORDER BY ${columns} LIMIT ${BATCH}`,
        values,
      );
      yield* rows;
      if (rows.length < BATCH) return;
      last = key.map((column) => rows.at(-1)![column]);
    }
  }
}
