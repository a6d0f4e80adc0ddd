import {
  DELAY,
  fromHosted,
  fromRun,
  fromSchedule,
  isForLater,
  toHosted,
  toRun,
  toSchedule,
  type HostedRow,
  type HostedThread,
  type Ledger,
  type Moment,
  type RunRecord,
  type RunRow,
  type ScheduleRecord,
  type ScheduleRow,
} from "../store/index.ts";
import { CheckedTable, type Database, type Row } from "./database/index.ts";

export const HOSTED = new CheckedTable<HostedRow>("hosted", [
  "thread",
  "graph",
  "owner",
  "created",
  "updated",
  "failed",
  "metadata",
]);
export const RUNS = new CheckedTable<RunRow>("runs", [
  "id",
  "thread",
  "status",
  "created",
  "updated",
  "attempt",
  "base",
  "request",
]);

export const SCHEDULES = new CheckedTable<ScheduleRow>("schedules", ["id", "created", "due", "content"]);

type Query = (sql: string, values?: unknown[]) => Promise<Row[]>;

/** The ledger in Postgres, for all servers that use the database. */
export class PostgresLedger implements Ledger {
  readonly #database: Database;
  readonly #query: Query;

  constructor(database: Database) {
    this.#database = database;
    this.#query = (sql, values) => database.query(sql, values);
  }

  async thread(id: string): Promise<HostedThread | undefined> {
    return this.#thread(id, this.#query);
  }

  async threads(): Promise<HostedThread[]> {
    const rows = await this.#database.query(
      `SELECT * FROM ${this.#database.schema}.hosted ORDER BY updated DESC, thread`,
    );
    return rows.map((row) => toHosted(HOSTED.open(row, this.#database)));
  }

  async changeThread(
    id: string,
    change: (before: HostedThread | undefined) => HostedThread | undefined,
    run?: RunRecord,
    moment?: Moment,
  ): Promise<HostedThread | undefined> {
    const { schema } = this.#database;
    return this.#database.transaction(async (query) => {
      if (moment && !(await this.#advance(moment, query))) return undefined;
      // Also where there is no row yet that could be locked.
      await query("SELECT pg_advisory_xact_lock(hashtext($1), hashtext($2))", [`holdfast ${schema}`, id]);
      const thread = change(await this.#thread(id, query));
      if (thread) await put(`${schema}.hosted`, "thread", HOSTED, fromHosted(thread), query);
      if (thread && run) await this.#putRun(run, query);
      return thread;
    });
  }

  async #thread(id: string, query: Query): Promise<HostedThread | undefined> {
    const [row] = await query(`SELECT * FROM ${this.#database.schema}.hosted WHERE thread = $1`, [id]);
    return row && toHosted(HOSTED.open(row, this.#database));
  }

  async run(id: string): Promise<RunRecord | undefined> {
    return (await this.#runs("WHERE id = $1", [id], this.#query))[0];
  }

  async runs(thread: string): Promise<RunRecord[]> {
    return this.#runs("WHERE thread = $1 ORDER BY created DESC, id DESC", [thread], this.#query);
  }

  async unfinished(): Promise<RunRecord[]> {
    return this.#runs("WHERE status IN ('pending', 'running') ORDER BY created, id", [], this.#query);
  }

  async #runs(rest: string, values: unknown[], query: Query): Promise<RunRecord[]> {
    const rows = await query(`SELECT * FROM ${this.#database.schema}.runs ${rest}`, values);
    return rows.map((row) => toRun(RUNS.open(row, this.#database)));
  }

  async forLater(): Promise<RunRecord[]> {
    const rows = await this.#database.query(
      `SELECT * FROM ${this.#database.schema}.runs
       WHERE status = 'pending' AND strpos(request, $1) > 0 ORDER BY created, id`,
      [DELAY],
    );
    return rows
      .filter((row) => RUNS.isIntact(row))
      .map((row) => toRun(row as RunRow))
      .filter(isForLater);
  }

  async putRun(run: RunRecord): Promise<void> {
    await this.#putRun(run, this.#query);
  }

  async changeRun(
    id: string,
    change: (before: RunRecord) => RunRecord | undefined,
  ): Promise<RunRecord | undefined> {
    return this.#database.transaction(async (query) => {
      const [before] = await this.#runs("WHERE id = $1 FOR UPDATE", [id], query);
      const run = before && change(before);
      if (run) await this.#putRun(run, query);
      return run;
    });
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

  async schedules(dueBy?: number): Promise<ScheduleRecord[]> {
    const newestFirst = "ORDER BY created DESC, id";
    if (dueBy === undefined) return (await this.#schedules(newestFirst, [], this.#query)).map(toSchedule);
    const due = `SELECT * FROM ${this.#database.schema}.schedules WHERE due <= $1 ${newestFirst}`;
    const rows = await this.#database.query(due, [dueBy]);
    return rows.filter((row) => SCHEDULES.isIntact(row)).map((row) => toSchedule(row as ScheduleRow));
  }

  async changeSchedule(
    id: string,
    change: (before: ScheduleRecord | undefined) => ScheduleRecord | undefined,
  ): Promise<ScheduleRecord | undefined> {
    const { schema } = this.#database;
    return this.#database.transaction(async (query) => {
      const before = await this.#schedule(id, query);
      const schedule = change(before && toSchedule(before));
      if (schedule) await put(`${schema}.schedules`, "id", SCHEDULES, fromSchedule(schedule), query);
      else if (before) await query(`DELETE FROM ${schema}.schedules WHERE id = $1`, [id]);
      return schedule;
    });
  }

  /** A schedule, locked until the end of the transaction. */
  async #schedule(id: string, query: Query): Promise<ScheduleRow | undefined> {
    return (await this.#schedules("WHERE id = $1 FOR UPDATE", [id], query))[0];
  }

  async #schedules(rest: string, values: unknown[], query: Query): Promise<ScheduleRow[]> {
    const rows = await query(`SELECT * FROM ${this.#database.schema}.schedules ${rest}`, values);
    return rows.map((row) => SCHEDULES.open(row, this.#database));
  }

  /** Advances a schedule, if it is due at that moment. */
  async #advance({ schedule, due, next }: Moment, query: Query): Promise<boolean> {
    const row = await this.#schedule(schedule, query);
    if (row?.due !== due) return false;
    const table = `${this.#database.schema}.schedules`;
    await put(table, "id", SCHEDULES, { ...row, due: next }, query);
    return true;
  }
}

/** Adds a row, or replaces one with the same key. */
async function put<R extends Row>(
  table: string,
  key: string,
  checked: CheckedTable<R>,
  row: R,
  query: Query,
): Promise<void> {
  const columns = [...checked.columns, "seal"];
  const places = columns.map((_, at) => `$${at + 1}`).join(", ");
  const changes = columns.map((column) => `${column} = excluded.${column}`).join(", ");
  await query(
    `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places}) ON CONFLICT (${key}) DO UPDATE SET ${changes}`,
    [...checked.columns.map((column) => row[column]), checked.checksum(row)],
  );
}
