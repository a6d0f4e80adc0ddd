import { INTERRUPT, TASKS, type Checkpoint } from "@langchain/langgraph-checkpoint";
import type { Connection, Row } from "./connection.ts";
import { isAlive, toLease } from "./leases.ts";

/**
 * `running`: a process holds the thread. `interrupted`: it waits for an answer. `idle`: it stopped half way and goes
 * on with `invoke(null)`. `done`: there is nothing left to run.
 */
export type ThreadState = "running" | "interrupted" | "idle" | "done";

export interface ThreadSummary {
  id: string;
  /** The state's `title`, where the graph has one. */
  title?: string;
  createdAt: Date;
  updatedAt: Date;
  /** How many todos are closed, of how many. */
  todos: { done: number; total: number };
  state: ThreadState;
}

const CLOSED: unknown[] = ["completed", "cancelled"];

const SUMMARY = `
SELECT t.id, t.title, t.created, t.updated, t.done, t.total, t.unfinished,
  EXISTS (
    SELECT 1 FROM writes w
    WHERE w.thread = t.key AND w.ns = '' AND w.checkpoint = t.checkpoint AND w.channel = '${INTERRUPT}'
  ) AS interrupted,
  l.holder, l.pid, l.host, l.since, l.beat
FROM threads t
LEFT JOIN checkpoints c ON c.thread = t.key AND c.ns = '' AND c.id = t.checkpoint
LEFT JOIN leases l ON l.thread = t.id`;

/** The index of threads: what a list of them shows, without reading their checkpoints. */
export class Threads {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The number of a thread in the other tables. */
  key(id: string): number | undefined {
    return this.#connection.get("SELECT key FROM threads WHERE id = ?", [id])?.["key"] as number | undefined;
  }

  ensure(id: string): number {
    const now = Date.now();
    return (
      this.key(id) ??
      this.#connection.run("INSERT INTO threads (id, created, updated) VALUES (?, ?, ?)", [id, now, now]).id
    );
  }

  /** Notes what a list shows of the newest checkpoint of the main graph. */
  note(key: number, { id, channel_values: values }: Checkpoint): void {
    const title = typeof values["title"] === "string" ? values["title"] : null;
    const todos: unknown[] = Array.isArray(values["todos"]) ? values["todos"] : [];
    const done = todos.filter((todo) =>
      CLOSED.includes((todo as { status?: unknown } | null)?.status),
    ).length;
    this.#connection.run(
      "UPDATE threads SET updated = ?, title = ?, done = ?, total = ?, checkpoint = ?, unfinished = ? WHERE key = ?",
      [Date.now(), title, done, todos.length, id, hasNext(values) ? 1 : 0, key],
    );
  }

  /** Notes how far a plan is, when that is known better than from the newest checkpoint. */
  progress(id: string, { done, total }: ThreadSummary["todos"]): void {
    this.#connection.run("UPDATE threads SET done = ?, total = ? WHERE id = ?", [done, total, id]);
  }

  list(limit: number): ThreadSummary[] {
    return this.#connection.all(`${SUMMARY} ORDER BY c.seq DESC, t.key DESC LIMIT ?`, [limit]).map(toSummary);
  }

  get(id: string): ThreadSummary | undefined {
    const row = this.#connection.get(`${SUMMARY} WHERE t.id = ?`, [id]);
    return row && toSummary(row);
  }

  remove(id: string): void {
    const key = this.key(id);
    if (key === undefined) return;
    for (const table of ["writes", "checkpoints", "blobs"]) {
      this.#connection.run(`DELETE FROM ${table} WHERE thread = ?`, [key]);
    }
    this.#connection.run("DELETE FROM threads WHERE key = ?", [key]);
  }
}

/** LangGraph keeps the nodes to run next in channels that are empty once they have run. */
function hasNext(values: Record<string, unknown>): boolean {
  const sends = values[TASKS];
  if (Array.isArray(sends) && sends.length > 0) return true;
  return Object.keys(values).some((name) => name === "__start__" || name.startsWith("branch:"));
}

function toSummary(row: Row): ThreadSummary {
  const { id, title, created, updated, done, total, unfinished, interrupted, holder } = row;
  const running = holder !== null && isAlive(toLease(row));
  return {
    id: id as string,
    ...(title !== null && { title: title as string }),
    createdAt: new Date(created as number),
    updatedAt: new Date(updated as number),
    todos: { done: done as number, total: total as number },
    state: running ? "running" : interrupted === 1 ? "interrupted" : unfinished === 1 ? "idle" : "done",
  };
}
