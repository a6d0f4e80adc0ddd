import type { Records, Script, Step } from "../store/index.ts";
import { RECORDS, type CheckedTable, type Database, type Row } from "./database/index.ts";

type Query = (sql: string, values?: unknown[]) => Promise<Row[]>;

export class PostgresRecords implements Records {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async read<T>(script: () => Script<T>): Promise<T> {
    return this.#run(script(), (sql, values) => this.#database.query(sql, values));
  }

  async write<T>(script: () => Script<T>): Promise<T> {
    return this.read(script);
  }

  async transaction<T>(script: () => Script<T>): Promise<T> {
    return this.#database.transaction((query) =>
      this.#run(script(), (sql, values) =>
        query(sql.startsWith("SELECT *") ? `${sql} FOR UPDATE` : sql, values),
      ),
    );
  }

  async newLetterId(): Promise<number> {
    const sql = "SELECT nextval(pg_get_serial_sequence($1, 'id')) AS id";
    const [row] = await this.#database.query(sql, [`${this.#database.schema}.edits`]);
    return row!["id"] as number;
  }

  async #run<T>(script: Script<T>, query: Query): Promise<T> {
    let next = script.next();
    while (!next.done) next = script.next(await this.#step(next.value, query));
    return next.value;
  }

  async #step(step: Step, query: Query): Promise<readonly unknown[]> {
    const { schema } = this.#database;
    if (step.kind === "lock") {
      const names = [`holdfast ${schema}`, step.name];
      return query("SELECT pg_advisory_xact_lock(hashtext($1), hashtext($2))", names);
    }
    const table: CheckedTable<Row> = RECORDS[step.table];
    if (step.kind === "put") return query(table.upsert(schema), table.values(step.row));
    if (step.kind === "select-among") {
      const among = `SELECT * FROM ${schema}.${step.table} WHERE ${step.column} = ANY($1)`;
      return (await query(among, [step.values])).map((row) => table.open(row, this.#database));
    }
    let count = 0;
    const rest = step.rest.replaceAll("?", () => `$${++count}`);
    const from = `FROM ${schema}.${step.table} ${rest}`;
    if (step.kind === "delete") return query(`DELETE ${from} RETURNING 1`, [...step.params]);
    const rows = await query(`SELECT * ${from}`, [...step.params]);
    if (step.kind === "select-intact") return rows.filter((row) => table.isIntact(row));
    return rows.map((row) => table.open(row, this.#database));
  }
}
