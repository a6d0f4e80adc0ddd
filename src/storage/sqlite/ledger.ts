import {
  DELAY,
  fromHosted,
  fromRun,
  fromSchedule,
  isForLater,
  toHosted,
  toRun,
  toSchedule,
  type HostedThread,
  type Ledger,
  type Moment,
  type RunRecord,
  type ScheduleRecord,
} from "../store/index.ts";
import { Table, type BatchedWrites, type Connection, type TableRow } from "./database/index.ts";

const HOSTED = new Table("hosted", {
  thread: "text",
  graph: "text",
  owner: "text?",
  created: "number",
  updated: "number",
  failed: "number",
  metadata: "text",
});

const RUNS = new Table("runs", {
  id: "text",
  thread: "text",
  status: "text",
  created: "number",
  updated: "number",
  attempt: "number",
  base: "text?",
  request: "text",
});

const SCHEDULES = new Table("schedules", {
  id: "text",
  created: "number",
  due: "number?",
  content: "text",
});

export const LEDGER_TABLES = [HOSTED, RUNS, SCHEDULES] as const;

/** The ledger in a SQLite file. */
export class SqliteLedger implements Ledger {
  readonly #connection: Connection;
  readonly #batchedWrites: BatchedWrites;

  constructor(connection: Connection, batchedWrites: BatchedWrites) {
    this.#connection = connection;
    this.#batchedWrites = batchedWrites;
  }

  async thread(id: string): Promise<HostedThread | undefined> {
    await this.#batchedWrites.settled();
    return this.#thread(id);
  }

  #thread(id: string): HostedThread | undefined {
    const row = HOSTED.get(this.#connection, "WHERE thread = ?", [id]);
    return row && toHosted(row);
  }

  async threads(): Promise<HostedThread[]> {
    await this.#batchedWrites.settled();
    return HOSTED.all(this.#connection, "ORDER BY hosted.updated DESC, hosted.thread").map(toHosted);
  }

  async changeThread(
    id: string,
    change: (before: HostedThread | undefined) => HostedThread | undefined,
    run?: RunRecord,
    moment?: Moment,
  ): Promise<HostedThread | undefined> {
    return this.#batchedWrites.add(() => {
      if (moment && !this.#advance(moment)) return undefined;
      const thread = change(this.#thread(id));
      if (thread) HOSTED.put(this.#connection, fromHosted(thread));
      if (thread && run) RUNS.put(this.#connection, fromRun(run));
      return thread;
    });
  }

  async run(id: string): Promise<RunRecord | undefined> {
    await this.#batchedWrites.settled();
    const row = RUNS.get(this.#connection, "WHERE id = ?", [id]);
    return row && toRun(row);
  }

  async runs(thread: string): Promise<RunRecord[]> {
    await this.#batchedWrites.settled();
    const newestFirst = "WHERE thread = ? ORDER BY runs.created DESC, runs.id DESC";
    return RUNS.all(this.#connection, newestFirst, [thread]).map(toRun);
  }

  async unfinished(): Promise<RunRecord[]> {
    await this.#batchedWrites.settled();
    const oldestFirst = "WHERE status IN ('pending', 'running') ORDER BY runs.created, runs.id";
    return RUNS.all(this.#connection, oldestFirst).map(toRun);
  }

  async forLater(): Promise<RunRecord[]> {
    await this.#batchedWrites.settled();
    const mayBeDelayed = "WHERE status = 'pending' AND instr(request, ?) > 0 ORDER BY runs.created, runs.id";
    return RUNS.intact(this.#connection, mayBeDelayed, [DELAY]).map(toRun).filter(isForLater);
  }

  async putRun(run: RunRecord): Promise<void> {
    await this.#batchedWrites.add(() => RUNS.put(this.#connection, fromRun(run)));
  }

  async changeRun(
    id: string,
    change: (before: RunRecord) => RunRecord | undefined,
  ): Promise<RunRecord | undefined> {
    return this.#batchedWrites.add(() => {
      const row = RUNS.get(this.#connection, "WHERE id = ?", [id]);
      const run = row && change(toRun(row));
      if (run) RUNS.put(this.#connection, fromRun(run));
      return run;
    });
  }

  async removeRun(id: string): Promise<void> {
    await this.#batchedWrites.add(() => this.#connection.run("DELETE FROM runs WHERE id = ?", [id]));
  }

  async forget(thread: string): Promise<void> {
    await this.#batchedWrites.add(() => deleteHosted(this.#connection, thread));
  }

  async schedules(dueBy?: number): Promise<ScheduleRecord[]> {
    await this.#batchedWrites.settled();
    const newestFirst = "ORDER BY schedules.created DESC, schedules.id";
    const rows =
      dueBy === undefined
        ? SCHEDULES.all(this.#connection, newestFirst)
        : SCHEDULES.intact(this.#connection, `WHERE due <= ? ${newestFirst}`, [dueBy]);
    return rows.map(toSchedule);
  }

  async changeSchedule(
    id: string,
    change: (before: ScheduleRecord | undefined) => ScheduleRecord | undefined,
  ): Promise<ScheduleRecord | undefined> {
    return this.#batchedWrites.add(() => {
      const before = this.#schedule(id);
      const schedule = change(before && toSchedule(before));
      if (schedule) SCHEDULES.put(this.#connection, fromSchedule(schedule));
      else if (before) this.#connection.run("DELETE FROM schedules WHERE id = ?", [id]);
      return schedule;
    });
  }

  #schedule(id: string): TableRow<typeof SCHEDULES> | undefined {
    return SCHEDULES.get(this.#connection, "WHERE id = ?", [id]);
  }

  /** Advances a schedule, if it is due at that moment. */
  #advance({ schedule, due, next }: Moment): boolean {
    const row = this.#schedule(schedule);
    if (row?.due !== due) return false;
    SCHEDULES.put(this.#connection, { ...row, due: next });
    return true;
  }
}

/** Deletes the ledger's rows of a thread. */
export function deleteHosted(connection: Connection, thread: string): void {
  for (const { name } of [HOSTED, RUNS]) connection.run(`DELETE FROM ${name} WHERE thread = ?`, [thread]);
}
