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
import { SCHEDULE_DAMAGE } from "./file-survey.ts";
import type { Problem, Progress } from "./problem.ts";

const BATCH = 500;

/** Reads a whole database from end to end, thread by thread, and collects problems. Changes nothing. */
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
    let done = 0;
    for await (const row of this.#rows("threads", ["key"])) {
      await this.#readThread(row);
      done += 1;
      this.#onProgress({ done, total: Math.max(done, total as number) });
    }
    await this.#findOrphans();
    await this.#readLedger("hosted", "thread");
    await this.#readLedger("runs", "id");
    // Tables of an earlier format are as whole.
    const schedules = (await this.#hasTable("schedules")) ? this.#rows("schedules", ["id"]) : [];
    for await (const row of schedules) {
      if (!RECORDS.schedules.isIntact(row)) this.problems.push({ what: SCHEDULE_DAMAGE });
    }
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
    for await (const found of this.#rows("checkpoints", ["seq"], thread)) {
      const checkpoint = found as ReturnType<typeof CHECKPOINTS.open>;
      const before = last.get(checkpoint.ns);
      if (before && before.writes !== found["before"]) {
        addProblem(
          `of ${String(found["before"])} writes to checkpoint ${before.id} ${before.writes} are whole`,
        );
      }
      last.set(checkpoint.ns, {
        id: checkpoint.id,
        writes: await this.#countWrites(checkpoint, refersToIntact),
      });
      if (!CHECKPOINTS.isIntact(found)) {
        addProblem(`checkpoint ${checkpoint.id} is damaged`);
        continue;
      }
      counts.set(checkpoint.ns, (counts.get(checkpoint.ns) ?? 0) + 1);
      const isComplete = [checkpoint.channels, checkpoint.metadata].every((text) =>
        refersToIntact("tree", text),
      );
      if (!isComplete) addProblem(`checkpoint ${checkpoint.id} leads to what is damaged`);
    }
    for (const ns of new Set([...counts.keys(), ...heads.keys()])) {
      const where = ns === "" ? "" : ` of ${ns}`;
      const head = heads.get(ns);
      const count = counts.get(ns) ?? 0;
      const newest = last.get(ns);
      if (!head) addProblem(`the record of what is newest${where} is damaged`);
      else if (head["count"] !== count)
        addProblem(`of ${String(head["count"])} checkpoints${where} ${count} are whole`);
      else if (head["id"] !== newest?.id) addProblem(`the newest checkpoint${where} is missing`);
      else if (newest && head["pending"] !== newest.writes) {
        addProblem(
          `of ${String(head["pending"])} writes to checkpoint ${newest.id} ${newest.writes} are whole`,
        );
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

  async #readHeads(thread: number, addProblem: (what: string) => void): Promise<Map<string, Row>> {
    const heads = new Map<string, Row>();
    for await (const row of this.#rows("heads", ["ns"], thread)) {
      if (HEADS.isIntact(row)) heads.set(row["ns"] as string, row);
      else addProblem(`the record of what is newest of ${String(row["ns"]) || "the main graph"} is damaged`);
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

  async #readLedger(table: "hosted" | "runs", key: string): Promise<void> {
    for await (const row of this.#rows(table, [key])) {
      if (RECORDS[table].isIntact(row)) continue;
      this.problems.push({ thread: row["thread"] as string, what: "an entry of its server is damaged" });
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
