import type { Connection } from "./connection.ts";
import { Table, type Stored } from "./table.ts";

/** How a run is: `interrupted` was stopped, or waits for an answer. */
export type RunStatus = "pending" | "running" | "success" | "error" | "interrupted";

/** A thread as a server knows it; its state is in its checkpoints. */
export interface HostedThread {
  id: string;
  /** The name of the graph that runs it. */
  graph: string;
  /** Who it belongs to, where a server has several users. */
  owner?: string;
  createdAt: number;
  updatedAt: number;
  /** Whether its last run failed. */
  hasFailed: boolean;
  metadata: Record<string, unknown>;
}

/** A run that a server was asked for. */
export interface RunRecord {
  id: string;
  thread: string;
  status: RunStatus;
  createdAt: number;
  updatedAt: number;
  /** How often it was begun. */
  attempt: number;
  /** The newest checkpoint when it was first begun; empty where there was none. */
  base?: string;
  /** What was asked for, as JSON. */
  request: unknown;
}

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

export const LEDGER_TABLES = [HOSTED, RUNS] as const;

/** What a server must know of its threads and runs after it was killed, and checkpoints do not tell. */
export class Ledger {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  thread(id: string): HostedThread | undefined {
    const row = HOSTED.get(this.#connection, "WHERE thread = ?", [id]);
    return row && toThread(row);
  }

  /** All threads, last used first. */
  threads(): HostedThread[] {
    return HOSTED.all(this.#connection, "ORDER BY hosted.updated DESC, hosted.thread").map(toThread);
  }

  putThread({ id, graph, owner, createdAt, updatedAt, hasFailed, metadata }: HostedThread): void {
    HOSTED.put(this.#connection, {
      thread: id,
      graph,
      owner: owner ?? null,
      created: createdAt,
      updated: updatedAt,
      failed: hasFailed ? 1 : 0,
      metadata: JSON.stringify(metadata),
    });
  }

  run(id: string): RunRecord | undefined {
    const row = RUNS.get(this.#connection, "WHERE id = ?", [id]);
    return row && toRun(row);
  }

  /** The runs of a thread, newest first. */
  runs(thread: string): RunRecord[] {
    const newestFirst = "WHERE thread = ? ORDER BY runs.created DESC, runs.id DESC";
    return RUNS.all(this.#connection, newestFirst, [thread]).map(toRun);
  }

  /** The runs that are to be begun or finished, oldest first. */
  unfinished(): RunRecord[] {
    const oldestFirst = "WHERE status IN ('pending', 'running') ORDER BY runs.created, runs.id";
    return RUNS.all(this.#connection, oldestFirst).map(toRun);
  }

  putRun({ id, thread, status, createdAt, updatedAt, attempt, base, request }: RunRecord): void {
    RUNS.put(this.#connection, {
      id,
      thread,
      status,
      created: createdAt,
      updated: updatedAt,
      attempt,
      base: base ?? null,
      request: JSON.stringify(request),
    });
  }

  removeRun(id: string): void {
    this.#connection.run("DELETE FROM runs WHERE id = ?", [id]);
  }

  /** Removes everything about a thread. */
  forget(thread: string): void {
    for (const { name } of LEDGER_TABLES) {
      this.#connection.run(`DELETE FROM ${name} WHERE thread = ?`, [thread]);
    }
  }
}

function toThread(row: Stored<typeof HOSTED>): HostedThread {
  const { thread: id, graph, owner, created, updated, failed, metadata } = row;
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

function toRun(row: Stored<typeof RUNS>): RunRecord {
  const { id, thread, status, created, updated, attempt, base, request } = row;
  return {
    id,
    thread,
    status: status as RunStatus,
    createdAt: created,
    updatedAt: updated,
    attempt,
    ...(base !== null && { base }),
    request: JSON.parse(request) as unknown,
  };
}
