/** So many rows are remembered, then all are forgotten. */
const MAX_KNOWN = 1_000;

interface Unsaved {
  row: unknown;
  write: () => void;
}

/**
 * Rows that one connection has read or written last, each under a name. They hold inside a transaction while nobody
 * else has changed the file: whoever changes one of them says so here.
 */
export class Known {
  readonly #rows = new Map<string, unknown>();
  /** Rows that the transaction writes before it ends. */
  readonly #unsaved = new Map<string, Unsaved>();
  #version: unknown;
  #isInside = false;

  /** A transaction begins; the version is another one when somebody else has changed the file. */
  begin(version: unknown): void {
    if (version !== this.#version) this.clear();
    this.#version = version;
    this.#isInside = true;
  }

  end(): void {
    this.#isInside = false;
  }

  /** Writes what is to be written. */
  save(): void {
    for (const { write } of this.#unsaved.values()) write();
    this.#unsaved.clear();
  }

  /** What was written is not there after all. */
  rollBack(): void {
    this.#unsaved.clear();
    this.clear();
  }

  /** What is known under a name, or else what is read now. */
  get<Found>(name: string, read: () => Found): Found {
    if (!this.#isInside) return read();
    const unsaved = this.#unsaved.get(name);
    if (unsaved) return unsaved.row as Found;
    if (this.#rows.has(name)) return this.#rows.get(name) as Found;
    const found = read();
    this.set(name, found);
    return found;
  }

  set(name: string, row: unknown): void {
    if (this.#rows.size >= MAX_KNOWN) this.clear();
    this.#rows.set(name, row);
  }

  /** A row that changes often is written once, at the end of the transaction that it changes in. */
  put(name: string, row: unknown, write: () => void): void {
    this.set(name, row);
    this.#unsaved.set(name, { row, write });
  }

  delete(name: string): void {
    this.#rows.delete(name);
  }

  clear(): void {
    this.#rows.clear();
  }
}
