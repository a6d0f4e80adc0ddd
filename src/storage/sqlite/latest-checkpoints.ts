import { corrupt, HEADS, type Connection, type StoredHead } from "./database/index.ts";

/** The number under which the threads themselves are counted. */
const ALL_THREADS = 0;

/** What is newest in each namespace of each thread. */
export class Heads {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get(thread: number, ns: string): StoredHead | undefined {
    return this.#connection.known.get(nameOf(thread, ns), () => this.#read(thread, ns));
  }

  #read(thread: number, ns: string): StoredHead | undefined {
    const params = [thread, ns];
    const head = HEADS.get(this.#connection, "WHERE thread = ? AND ns = ?", params);
    if (head) return head;
    const sql = "SELECT 1 AS there FROM checkpoints WHERE thread = ? AND ns = ? LIMIT 1";
    if (!this.#connection.get(sql, params)) return undefined;
    throw corrupt(this.#connection.path, "the record of what is newest is missing");
  }

  put(head: StoredHead): void {
    this.#connection.known.put(nameOf(head.thread, head.ns), head, () => HEADS.put(this.#connection, head));
  }

  /** How many checkpoints a thread has, in all namespaces or in one. */
  count(thread: number, ns: string | undefined): number {
    const [where, params] = ns === undefined ? ["", [thread]] : ["AND ns = ?", [thread, ns]];
    const heads = HEADS.all(this.#connection, `WHERE thread = ? ${where}`, params);
    return heads.reduce((sum, { count }) => sum + count, 0);
  }

  /** Another text whenever something was saved of a thread, in any namespace. */
  mark(thread: number): string {
    const heads = HEADS.all(this.#connection, "WHERE thread = ? ORDER BY heads.seq DESC", [thread]);
    return `${heads[0]?.seq} ${heads.reduce((sum, { pending }) => sum + pending, 0)}`;
  }

  countThreads(): number {
    return this.get(ALL_THREADS, "")?.count ?? 0;
  }

  setThreads(count: number): void {
    this.put({ thread: ALL_THREADS, ns: "", seq: 0, id: "", count, pending: 0 });
  }
}

function nameOf(thread: number, ns: string): string {
  return `head ${thread} ${ns}`;
}
