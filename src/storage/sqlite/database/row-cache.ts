/** The number of cached rows; then the cache is cleared. */
const MAX_ROWS = 1_000;

interface DirtyRow {
  row: unknown;
  write: () => void;
}

/**
 * A cache of the rows that one connection has read or written last, each under a key. It is valid inside a transaction
 * while no other connection has changed the file; writers through this connection update it.
 */
export class RowCache {
  readonly #rows = new Map<string, unknown>();
  /** Rows that are written at the end of the transaction. */
  readonly #dirty = new Map<string, DirtyRow>();
  #version: unknown;
  #isInside = false;

  /** Call when a transaction begins, with SQLite's `data_version`, which changes when another connection has written. */
  begin(version: unknown): void {
    if (version !== this.#version) this.clear();
    this.#version = version;
    this.#isInside = true;
  }

  end(): void {
    this.#isInside = false;
  }

  /** Writes the dirty rows. */
  flush(): void {
    for (const { write } of this.#dirty.values()) write();
    this.#dirty.clear();
  }

  rollBack(): void {
    this.#dirty.clear();
    this.clear();
  }

  /** The cached row, or else the one that `read` returns. */
  get<T>(key: string, read: () => T): T {
    if (!this.#isInside) return read();
    const dirty = this.#dirty.get(key);
    if (dirty) return dirty.row as T;
    if (this.#rows.has(key)) return this.#rows.get(key) as T;
    const row = read();
    this.set(key, row);
    return row;
  }

  set(key: string, row: unknown): void {
    if (this.#rows.size >= MAX_ROWS) this.clear();
    this.#rows.set(key, row);
  }

  /** Caches a row that changes often, to be written once, at the end of the transaction. */
  put(key: string, row: unknown, write: () => void): void {
    this.set(key, row);
    this.#dirty.set(key, { row, write });
  }

  delete(key: string): void {
    this.#rows.delete(key);
  }

  clear(): void {
    this.#rows.clear();
  }
}
