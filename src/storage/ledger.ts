import type { Connection } from "./connection.ts";
import { fromRun, toRun } from "./run-row.ts";
import { Table, type Stored } from "./table.ts";
import type { HostedThread, Ledger, RunRecord } from "./thread-store.ts";
import type { Together } from "./together.ts";

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

/** The ledger in a SQLite file. */
export class SqliteLedger implements Ledger {
  readonly #connection: Connection;
  readonly #together: Together;

  constructor(connection: Connection, together: Together) {
    this.#connection = connection;
    this.#together = together;
  }

  async thread(id: string): Promise<HostedThread | undefined> {
    await this.#together.settled();
    return this.#thread(id);
  }

  #thread(id: string): HostedThread | undefined {
    const row = HOSTED.get(this.#connection, "WHERE thread = ?", [id]);
    return row && toThread(row);
  }

  async threads(): Promise<HostedThread[]> {
    await this.#together.settled();
    return HOSTED.all(this.#connection, "ORDER BY hosted.updated DESC, hosted.thread").map(toThread);
  }

  async changeThread(
    id: string,
    change: (before: HostedThread | undefined) => HostedThread | undefined,
    run?: RunRecord,
  ): Promise<HostedThread | undefined> {
    return this.#together.save(() => {
      const thread = change(this.#thread(id));
      if (thread) this.#putThread(thread);
      if (thread && run) RUNS.put(this.#connection, fromRun(run));
      return thread;
    });
  }

  #putThread({ id, graph, owner, createdAt, updatedAt, hasFailed, metadata }: HostedThread): void {
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

  async run(id: string): Promise<RunRecord | undefined> {
    await this.#together.settled();
    const row = RUNS.get(this.#connection, "WHERE id = ?", [id]);
    return row && toRun(row);
  }

  async runs(thread: string): Promise<RunRecord[]> {
    await this.#together.settled();
    const newestFirst = "WHERE thread = ? ORDER BY runs.created DESC, runs.id DESC";
    return RUNS.all(this.#connection, newestFirst, [thread]).map(toRun);
  }

  async unfinished(): Promise<RunRecord[]> {
    await this.#together.settled();
    const oldestFirst = "WHERE status IN ('pending', 'running') ORDER BY runs.created, runs.id";
    return RUNS.all(this.#connection, oldestFirst).map(toRun);
  }

  async putRun(run: RunRecord): Promise<void> {
    await this.#together.save(() => RUNS.put(this.#connection, fromRun(run)));
  }

  async removeRun(id: string): Promise<void> {
    await this.#together.save(() => this.#connection.run("DELETE FROM runs WHERE id = ?", [id]));
  }

  async forget(thread: string): Promise<void> {
    await this.#together.save(() => forgetHosted(this.#connection, thread));
  }
}

/** Removes everything that a ledger has about a thread. */
export function forgetHosted(connection: Connection, thread: string): void {
  for (const { name } of LEDGER_TABLES) connection.run(`DELETE FROM ${name} WHERE thread = ?`, [thread]);
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
