import { corrupt, HEADS, type Connection, type HeadRow } from "./database/index.ts";

/** The number of the row that counts the threads themselves. */
const ALL_THREADS = 0;

/** The newest checkpoint in each namespace of each thread, and the number of checkpoints. */
export class LatestCheckpoints {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get(thread: number, ns: string): HeadRow | undefined {
    const params = [thread, ns];
    const head = HEADS.get(this.#connection, "WHERE thread = ? AND ns = ?", params);
    if (head) return head;
    const sql = "SELECT 1 FROM checkpoints WHERE thread = ? AND ns = ? LIMIT 1";
    if (!this.#connection.get(sql, params)) return undefined;
    throw corrupt(this.#connection.path, "the record of its newest checkpoint is missing");
  }

  put(head: HeadRow): void {
    HEADS.put(this.#connection, head);
  }

  count(thread: number, ns: string | undefined): number {
    const [where, params] = ns === undefined ? ["", [thread]] : ["AND ns = ?", [thread, ns]];
    const heads = HEADS.all(this.#connection, `WHERE thread = ? ${where}`, params);
    return heads.reduce((sum, { count }) => sum + count, 0);
  }

  /** A text that changes with every save to a thread, in any namespace. */
  version(thread: number): string {
    const heads = HEADS.all(this.#connection, "WHERE thread = ? ORDER BY heads.seq DESC", [thread]);
    return `${heads[0]?.seq} ${heads.reduce((sum, { pending }) => sum + pending, 0)}`;
  }

  countThreads(): number {
    return this.get(ALL_THREADS, "")?.count ?? 0;
  }

  setThreadCount(count: number): void {
    this.put({ thread: ALL_THREADS, ns: "", seq: 0, id: "", count, pending: 0 });
  }
}
