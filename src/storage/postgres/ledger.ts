import { fromRun, toRun, type RunRow } from "../run-row.ts";
import type { HostedThread, Ledger, RunRecord } from "../thread-store.ts";
import type { Database, Row } from "./database.ts";
import { SealedTable } from "./rows.ts";

type HostedRow = {
  thread: string;
  graph: string;
  owner: string | null;
  created: number;
  updated: number;
  failed: number;
  metadata: string;
};

export const HOSTED = new SealedTable<HostedRow>("hosted", [
  "thread",
  "graph",
  "owner",
  "created",
  "updated",
  "failed",
  "metadata",
]);
export const RUNS = new SealedTable<RunRow>("runs", [
  "id",
  "thread",
  "status",
  "created",
  "updated",
  "attempt",
  "base",
  "request",
]);

type Query = (sql: string, values?: unknown[]) => Promise<Row[]>;

/** The ledger in Postgres, for all servers that use the database. */
export class PostgresLedger implements Ledger {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async thread(id: string): Promise<HostedThread | undefined> {
    return this.#thread(id, (sql, values) => this.#database.query(sql, values));
  }

  async threads(): Promise<HostedThread[]> {
    const rows = await this.#database.query(
      `SELECT * FROM ${this.#database.schema}.hosted ORDER BY updated DESC, thread`,
    );
    return rows.map((row) => toThread(HOSTED.open(row, this.#database)));
  }

  async changeThread(
    id: string,
    change: (before: HostedThread | undefined) => HostedThread | undefined,
    run?: RunRecord,
  ): Promise<HostedThread | undefined> {
    const { schema } = this.#database;
    return this.#database.transaction(async (query) => {
      // Also where there is no row yet that could be locked.
      await query("SELECT pg_advisory_xact_lock(hashtext($1), hashtext($2))", [`holdfast ${schema}`, id]);
      const thread = change(await this.#thread(id, query));
      if (thread) await put(`${schema}.hosted`, "thread", HOSTED, fromThread(thread), query);
      if (thread && run) await this.#putRun(run, query);
      return thread;
    });
  }

  async #thread(id: string, query: Query): Promise<HostedThread | undefined> {
    const [row] = await query(`SELECT * FROM ${this.#database.schema}.hosted WHERE thread = $1`, [id]);
    return row && toThread(HOSTED.open(row, this.#database));
  }

  async run(id: string): Promise<RunRecord | undefined> {
    return (await this.#runs("WHERE id = $1", [id]))[0];
  }

  async runs(thread: string): Promise<RunRecord[]> {
    return this.#runs("WHERE thread = $1 ORDER BY created DESC, id DESC", [thread]);
  }

  async unfinished(): Promise<RunRecord[]> {
    return this.#runs("WHERE status IN ('pending', 'running') ORDER BY created, id", []);
  }

  async #runs(rest: string, values: unknown[]): Promise<RunRecord[]> {
    const rows = await this.#database.query(`SELECT * FROM ${this.#database.schema}.runs ${rest}`, values);
    return rows.map((row) => toRun(RUNS.open(row, this.#database)));
  }

  async putRun(run: RunRecord): Promise<void> {
    await this.#putRun(run, (sql, values) => this.#database.query(sql, values));
  }

  async #putRun(run: RunRecord, query: Query): Promise<void> {
    await put(`${this.#database.schema}.runs`, "id", RUNS, fromRun(run), query);
  }

  async removeRun(id: string): Promise<void> {
    await this.#database.query(`DELETE FROM ${this.#database.schema}.runs WHERE id = $1`, [id]);
  }

  async forget(thread: string): Promise<void> {
    for (const table of ["hosted", "runs"]) {
      await this.#database.query(`DELETE FROM ${this.#database.schema}.${table} WHERE thread = $1`, [thread]);
    }
  }
}

/** Adds a row, in the place of one with the same key. */
async function put<R extends Row>(
  table: string,
  key: string,
  sealed: SealedTable<R>,
  row: R,
  query: Query,
): Promise<void> {
  const columns = [...sealed.columns, "seal"];
  const places = columns.map((_, at) => `$${at + 1}`).join(", ");
  const changes = columns.map((column) => `${column} = excluded.${column}`).join(", ");
  await query(
    `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places}) ON CONFLICT (${key}) DO UPDATE SET ${changes}`,
    [...sealed.columns.map((column) => row[column]), sealed.seal(row)],
  );
}

function fromThread({
  id,
  graph,
  owner,
  createdAt,
  updatedAt,
  hasFailed,
  metadata,
}: HostedThread): HostedRow {
  return {
    thread: id,
    graph,
    owner: owner ?? null,
    created: createdAt,
    updated: updatedAt,
    failed: hasFailed ? 1 : 0,
    metadata: JSON.stringify(metadata),
  };
}

function toThread({ thread: id, graph, owner, created, updated, failed, metadata }: HostedRow): HostedThread {
  return {
    id,
    graph,
    ...(owner !== null && { owner }),
    createdAt: created,
    updatedAt: updated,
    hasFailed: failed === 1,
    metadata: JSON.parse(metadata) as Record<string, unknown>,
  };
}
