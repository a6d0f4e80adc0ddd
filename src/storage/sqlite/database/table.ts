import { checksumOf, checksumText, type RowOf, type Shape } from "../../store/index.ts";
import { corrupt, type Connection, type Row, type SqlValue } from "./connection.ts";

export type TableRow<T> = T extends Table<infer S> ? RowOf<S> : never;

/**
 * A table whose rows have a checksum over their columns, including the key: a row that was changed or moved does not match
 * it, and is never returned.
 */
export class Table<S extends Shape> {
  readonly name: string;
  readonly columns: string;
  readonly #shape: [column: string, kind: Shape[string]][];
  readonly #checkedColumns: string[];
  readonly #select: string;
  readonly #replace: string;
  readonly #add: string;

  /** `unchecked` columns are not in the checksum. */
  constructor(name: string, shape: S, unchecked: readonly (keyof S & string)[] = []) {
    const names = Object.keys(shape);
    this.name = name;
    this.#shape = Object.entries(shape);
    this.#checkedColumns = names.filter((column) => !unchecked.includes(column));
    // libsql ends the process when text is not UTF-8, and a damaged row can have such text in any column.
    this.columns = [...this.#shape, ["seal", "bytes"] as const]
      .map(
        ([column, kind]) => `CAST(${name}.${column} AS ${isNumber(kind) ? "INTEGER" : "BLOB"}) AS ${column}`,
      )
      .join(", ");
    this.#select = `SELECT ${this.columns} FROM ${name}`;
    const into = `INTO ${name} (${names.join(", ")}, seal) VALUES (${names.map(() => "?").join(", ")}, ?)`;
    this.#replace = `INSERT OR REPLACE ${into}`;
    this.#add = `INSERT OR IGNORE ${into}`;
  }

  /** Reads rows; `rest` follows `FROM table`. Throws `storage-corrupt` when one does not match its checksum. */
  all(connection: Connection, rest: string, params: SqlValue[] = []): RowOf<S>[] {
    const rows = connection.all(`${this.#select} ${rest}`, params);
    return rows.map((row) => this.#verify(connection, row));
  }

  /** Reads the rows whose column has one of some values, by one statement. */
  among(connection: Connection, column: string, values: readonly string[]): RowOf<S>[] {
    return this.all(connection, `WHERE ${column} IN (SELECT value FROM json_each(?))`, [
      JSON.stringify(values),
    ]);
  }

  /** Reads rows, and leaves out damaged ones. */
  intact(connection: Connection, rest: string, params: SqlValue[] = []): RowOf<S>[] {
    const rows = connection.all(`${this.#select} ${rest}`, params);
    return rows.filter((row) => this.isIntact(row)).map((row) => this.decode(row));
  }

  get(connection: Connection, rest: string, params: SqlValue[] = []): RowOf<S> | undefined {
    const row = connection.get(`${this.#select} ${rest}`, params);
    return row && this.#verify(connection, row);
  }

  /** Adds a row, or replaces one with the same key. */
  put(connection: Connection, row: RowOf<S>): void {
    connection.run(this.#replace, this.#values(row));
  }

  /** Adds a row, unless there is one with the same key; returns whether it did. */
  add(connection: Connection, row: RowOf<S>): boolean {
    return connection.run(this.#add, this.#values(row)).changes > 0;
  }

  #values(row: RowOf<S>): SqlValue[] {
    const values = this.#shape.map(([column]) => row[column] as SqlValue);
    values.push(this.checksum(row));
    return values;
  }

  /** Adds a selected row of another file. */
  copy(row: Row, to: Connection): void {
    this.put(to, this.decode(row));
  }

  checksum(row: RowOf<S>): Uint8Array {
    return checksumOf(this.name, this.#checkedColumns, row);
  }

  /** Whether a row has this checksum; both have bytes as characters. */
  hasChecksum(seal: string, row: { [Column in keyof S]?: string | number }): boolean {
    return checksumText(this.name, this.#checkedColumns, row) === seal;
  }

  /** Converts a selected row. Text that is not UTF-8 changes, so that it does not match its checksum. */
  decode(row: Row): RowOf<S> {
    const decoded: Record<string, unknown> = {};
    for (const [column, kind] of this.#shape) {
      const value = row[column];
      if (isNumber(kind) || (kind === "text?" && value === null)) decoded[column] = value;
      else decoded[column] = kind === "bytes" ? toBytes(value) : toText(value);
    }
    return decoded as RowOf<S>;
  }

  isIntact(row: Row): boolean {
    return this.#matches(row, this.decode(row));
  }

  #matches({ seal }: Row, decoded: RowOf<S>): boolean {
    return toBytes(seal).equals(this.checksum(decoded));
  }

  #verify(connection: Connection, row: Row): RowOf<S> {
    const decoded = this.decode(row);
    if (this.#matches(row, decoded)) return decoded;
    throw corrupt(connection.path, `a row of its table ${this.name} does not match its checksum`);
  }
}

function isNumber(kind: string): boolean {
  return kind === "number" || kind === "number?";
}

/** The text in a column that was selected as bytes. */
export function toText(value: unknown): string {
  return toBytes(value).toString();
}

export function toBytes(value: unknown): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.from((value ?? []) as Uint8Array);
}
