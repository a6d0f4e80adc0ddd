import type { Records, Script, Step } from "../store/index.ts";
import { RECORDS, type BatchedWrites, type Connection, type SqlValue, type Table } from "./database/index.ts";

export class SqliteRecords implements Records {
  readonly #connection: Connection;
  readonly #batchedWrites: BatchedWrites;

  constructor(connection: Connection, batchedWrites: BatchedWrites) {
    this.#connection = connection;
    this.#batchedWrites = batchedWrites;
  }

  async read<T>(script: () => Script<T>): Promise<T> {
    await this.#batchedWrites.settled();
    return this.#run(script());
  }

  async write<T>(script: () => Script<T>): Promise<T> {
    return this.transaction(script);
  }

  async transaction<T>(script: () => Script<T>): Promise<T> {
    return this.#batchedWrites.add(() => this.#run(script()));
  }

  async newLetterId(): Promise<number> {
    return this.#batchedWrites.add(() => {
      // SQLite's own counter of the table, which a row with a larger number raises.
      const next = "UPDATE store.sqlite_sequence SET seq = seq + 1 WHERE name = 'edits' RETURNING seq";
      const [row] = this.#connection.all(next);
      if (row) return row["seq"] as number;
      this.#connection.run("INSERT INTO store.sqlite_sequence (name, seq) VALUES ('edits', 1)");
      return 1;
    });
  }

  #run<T>(script: Script<T>): T {
    let next = script.next();
    while (!next.done) next = script.next(this.#step(next.value));
    return next.value;
  }

  #step(step: Step): readonly unknown[] {
    // A transaction is alone with the file.
    if (step.kind === "lock") return [];
    const table = RECORDS[step.table] as unknown as Table<Record<string, "text">>;
    if (step.kind === "put") {
      table.put(this.#connection, step.row as Record<string, string>);
      return [];
    }
    if (step.kind === "select-among") return table.among(this.#connection, step.column, step.values);
    const params = step.params as SqlValue[];
    if (step.kind === "select") return table.all(this.#connection, step.rest, params);
    if (step.kind === "select-intact") return table.intact(this.#connection, step.rest, params);
    return this.#connection.all(`DELETE FROM ${step.table} ${step.rest} RETURNING 1 AS deleted`, params);
  }
}
