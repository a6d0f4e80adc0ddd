import {
  lock,
  put,
  remove,
  select,
  selectAmong,
  selectIntact,
  type RecordRow,
  type Records,
  type Script,
} from "./records.ts";

/** The state of a run; `interrupted`: stopped, or waiting for an answer. */
export type RunStatus = "pending" | "running" | "success" | "error" | "interrupted";

/** Thread metadata that is not in its checkpoints: graph, owner, times. */
export interface HostedThread {
  id: string;
  /** The name of the graph that runs it. */
  graph: string;
  /** The user it belongs to, on a server with several users. */
  owner?: string;
  createdAt: number;
  updatedAt: number;
  /** Whether its last run failed. */
  hasFailed: boolean;
  metadata: Record<string, unknown>;
}

/** A run that a client of a server requested. */
export interface RunRecord {
  id: string;
  thread: string;
  status: RunStatus;
  createdAt: number;
  updatedAt: number;
  /** The number of times it was started. */
  attempt: number;
  /** The newest checkpoint at its first start; empty where there was none. */
  base?: string;
  /** The request, as JSON. */
  request: unknown;
  /** The reason for its failure. */
  reason?: string;
}

/** A schedule that a server keeps. */
export interface ScheduleRecord {
  id: string;
  createdAt: number;
  /** The time of its next start; absent while it is paused. */
  due?: number;
  /** The request that it starts, as JSON. */
  content: unknown;
}

/** A time that a schedule is due, and the next one. */
export interface Moment {
  schedule: string;
  due: number;
  next: number;
}

/** Threads, runs and schedules of servers, beyond what checkpoints have. Survives a kill. */
export class RecordLedger {
  readonly #records: Records;

  /** @internal Made by the stores. */
  constructor(records: Records) {
    this.#records = records;
  }

  async thread(id: string): Promise<HostedThread | undefined> {
    return this.#records.read(() => findThread(id));
  }

  /** All threads, last used first, or those among some ids. */
  async threads(ids?: readonly string[]): Promise<HostedThread[]> {
    if (ids) return (await this.#records.read(() => selectAmong("hosted", "thread", ids))).map(toHosted);
    const lastUsedFirst = "ORDER BY hosted.updated DESC, hosted.thread";
    const rows = await this.#records.read(() => select("hosted", lastUsedFirst));
    return rows.map(toHosted);
  }

  /**
   * Stores the thread that `change` returns, if any, together with `run`, in one transaction, and returns it. With a
   * `moment`, does nothing unless the schedule is still due then, so that only one of several servers starts the run.
   */
  async changeThread(
    id: string,
    change: (before: HostedThread | undefined) => HostedThread | undefined,
    run?: RunRecord,
    moment?: Moment,
  ): Promise<HostedThread | undefined> {
    return this.#records.transaction(function* () {
      if (moment && !(yield* advance(moment))) return undefined;
      yield* lock(id);
      const thread = change(yield* findThread(id));
      if (thread) yield* put("hosted", fromHosted(thread));
      if (thread && run) yield* put("runs", fromRun(run));
      return thread;
    });
  }

  async run(id: string): Promise<RunRecord | undefined> {
    const [row] = await this.#records.read(() => select("runs", "WHERE id = ?", id));
    return row && toRun(row);
  }

  /** The runs of a thread, newest first. */
  async runs(thread: string): Promise<RunRecord[]> {
    const newestFirst = "WHERE thread = ? ORDER BY runs.created DESC, runs.id DESC";
    return (await this.#records.read(() => select("runs", newestFirst, thread))).map(toRun);
  }

  /** The runs that are pending or running, oldest first. */
  async unfinished(): Promise<RunRecord[]> {
    const oldestFirst = "WHERE status IN ('pending', 'running') ORDER BY runs.created, runs.id";
    return (await this.#records.read(() => select("runs", oldestFirst))).map(toRun);
  }

  /** The delayed runs that have not started (`delay` in their request), without damaged ones. */
  async forLater(): Promise<RunRecord[]> {
    const delayed = `WHERE status = 'pending' AND request LIKE '%"delay":%' ORDER BY runs.created, runs.id`;
    return (await this.#records.read(() => selectIntact("runs", delayed))).map(toRun).filter(isForLater);
  }

  async putRun(run: RunRecord): Promise<void> {
    await this.#records.write(() => put("runs", fromRun(run)));
  }

  /** Stores the run that `change` returns, if any, in one transaction, and returns it. */
  async changeRun(
    id: string,
    change: (before: RunRecord) => RunRecord | undefined,
  ): Promise<RunRecord | undefined> {
    return this.#records.transaction(function* () {
      const [row] = yield* select("runs", "WHERE id = ?", id);
      const run = row && change(toRun(row));
      if (run) yield* put("runs", fromRun(run));
      return run;
    });
  }

  async removeRun(id: string): Promise<void> {
    await this.#records.write(() => remove("runs", "WHERE id = ?", id));
  }

  /** Removes everything about a thread. */
  async forget(thread: string): Promise<void> {
    await this.#records.transaction(function* () {
      yield* remove("hosted", "WHERE thread = ?", thread);
      yield* remove("runs", "WHERE thread = ?", thread);
    });
  }

  /** The schedules, newest first; with a time only those that are due by then, without damaged ones. */
  async schedules(dueBy?: number): Promise<ScheduleRecord[]> {
    const newestFirst = "ORDER BY schedules.created DESC, schedules.id";
    const rows = await this.#records.read(() =>
      dueBy === undefined
        ? select("schedules", newestFirst)
        : selectIntact("schedules", `WHERE due <= ? ${newestFirst}`, dueBy),
    );
    return rows.map(toSchedule);
  }

  /** Replaces a schedule by the one that `change` returns, in one transaction, and returns it; undefined removes it. */
  async changeSchedule(
    id: string,
    change: (before: ScheduleRecord | undefined) => ScheduleRecord | undefined,
  ): Promise<ScheduleRecord | undefined> {
    return this.#records.transaction(function* () {
      const [row] = yield* select("schedules", "WHERE id = ?", id);
      const schedule = change(row && toSchedule(row));
      if (schedule) yield* put("schedules", fromSchedule(schedule));
      else if (row) yield* remove("schedules", "WHERE id = ?", id);
      return schedule;
    });
  }
}

/** The interface of a ledger, whatever the database. */
export type Ledger = Pick<RecordLedger, keyof RecordLedger>;

/** Whether a run is delayed and has not started. */
export function isForLater({ status, request }: RunRecord): boolean {
  return status === "pending" && (request as { delay?: number }).delay !== undefined;
}

function* findThread(id: string): Script<HostedThread | undefined> {
  const [row] = yield* select("hosted", "WHERE thread = ?", id);
  return row && toHosted(row);
}

/** Advances a schedule, if it is due at that moment. */
function* advance({ schedule, due, next }: Moment): Script<boolean> {
  const [row] = yield* select("schedules", "WHERE id = ?", schedule);
  if (row?.due !== due) return false;
  yield* put("schedules", { ...row, due: next });
  return true;
}

function fromHosted(thread: HostedThread): RecordRow<"hosted"> {
  const { id, graph, owner = null, createdAt: created, updatedAt: updated, hasFailed, metadata } = thread;
  const failed = hasFailed ? 1 : 0;
  return { thread: id, graph, owner, created, updated, failed, metadata: JSON.stringify(metadata) };
}

function toHosted(row: RecordRow<"hosted">): HostedThread {
  const { thread: id, graph, owner, created: createdAt, updated: updatedAt, failed, metadata } = row;
  return {
    id,
    graph,
    ...(owner !== null && { owner }),
    createdAt,
    updatedAt,
    hasFailed: failed === 1,
    metadata: JSON.parse(metadata) as Record<string, unknown>,
  };
}

/** The key of a run's failure reason inside its request: few runs have one, and older versions ignore it. */
const REASON = "$reason";

function fromRun(run: RunRecord): RecordRow<"runs"> {
  const { id, thread, status, createdAt: created, updatedAt: updated, attempt, base = null, reason } = run;
  const request = reason === undefined ? run.request : { ...(run.request as object), [REASON]: reason };
  return { id, thread, status, created, updated, attempt, base, request: JSON.stringify(request) };
}

function toRun(row: RecordRow<"runs">): RunRecord {
  const { id, thread, status, created: createdAt, updated: updatedAt, attempt, base } = row;
  const { [REASON]: reason, ...request } = JSON.parse(row.request) as Record<string, unknown>;
  return {
    id,
    thread,
    status: status as RunStatus,
    createdAt,
    updatedAt,
    attempt,
    ...(base !== null && { base }),
    request,
    ...(typeof reason === "string" && { reason }),
  };
}

function fromSchedule({ id, createdAt, due, content }: ScheduleRecord): RecordRow<"schedules"> {
  return { id, created: createdAt, due: due ?? null, content: JSON.stringify(content) };
}

function toSchedule({ id, created, due, content }: RecordRow<"schedules">): ScheduleRecord {
  return { id, createdAt: created, ...(due !== null && { due }), content: JSON.parse(content) as unknown };
}
