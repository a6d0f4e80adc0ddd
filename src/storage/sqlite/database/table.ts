import { sealOf, sealText } from "../../store/index.ts";
import { corrupt, type Connection, type Row, type SqlValue } from "./connection.ts";

interface Kinds {
  number: number;
  "number?": number | null;
  text: string;
  "text?": string | null;
  bytes: Uint8Array;
}

type Shape = Readonly<Record<string, keyof Kinds>>;
type RowOf<S extends Shape> = { -readonly [Column in keyof S]: Kinds[S[Column]] };
/** A row of a table, as it is in the file. */
export type Stored<T> = T extends Table<infer S> ? RowOf<S> : never;

/**
 * A table whose rows carry a checksum over what they say, their place included: a row that was changed or moved does
 * not match it, and is never given out.
 */
export class Table<S extends Shape> {
  readonly name: string;
  /** What to select of a row, and in which form. */
  readonly columns: string;
  readonly #shape: [column: string, kind: keyof Kinds][];
  readonly #sealed: string[];
  readonly #select: string;
  readonly #replace: string;
  readonly #add: string;
  /** Statements by what follows `FROM table`. */
  readonly #selects = new Map<string, string>();

  /** `unsealed` are columns that have another check. */
  constructor(name: string, shape: S, unsealed: readonly (keyof S & string)[] = []) {
    const names = Object.keys(shape);
    this.name = name;
    this.#shape = Object.entries(shape);
    this.#sealed = names.filter((column) => !unsealed.includes(column));
    // libsql ends the process over text that is not UTF-8, and a damaged row can have that in any column.
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

  /** Reads rows; `rest` is what follows `FROM table`. Throws `storage-corrupt` when one is not as it was written. */
  all(connection: Connection, rest: string, params: SqlValue[] = []): RowOf<S>[] {
    const rows = connection.all(this.#selecting(rest), params);
    return rows.map((row) => this.#open(connection, row));
  }

  /** The same, without those that are not as they were written. */
  whole(connection: Connection, rest: string, params: SqlValue[] = []): RowOf<S>[] {
    const rows = connection.all(this.#selecting(rest), params);
    return rows.filter((row) => this.isWhole(row)).map((row) => this.decode(row));
  }

  get(connection: Connection, rest: string, params: SqlValue[] = []): RowOf<S> | undefined {
    const row = connection.get(this.#selecting(rest), params);
    return row && this.#open(connection, row);
  }

  /** Adds a row, in the place of one with the same key. */
  put(connection: Connection, row: RowOf<S>): void {
    connection.run(this.#replace, this.#values(row));
  }

  /** Adds a row, unless there is one with the same key; says whether it did. */
  add(connection: Connection, row: RowOf<S>): boolean {
    return connection.run(this.#add, this.#values(row)).changes > 0;
  }

  #values(row: RowOf<S>): SqlValue[] {
    const values = this.#shape.map(([column]) => row[column] as SqlValue);
    values.push(this.seal(row));
    return values;
  }

  /** The same text each time: statements are found by it, and to put it together takes longer than to look. */
  #selecting(rest: string): string {
    const known = this.#selects.get(rest);
    if (known !== undefined) return known;
    const sql = `${this.#select} ${rest}`;
    this.#selects.set(rest, sql);
    return sql;
  }

  /** Adds a selected row of another file. */
  copy(row: Row, to: Connection): void {
    this.put(to, this.decode(row));
  }

  /** The checksum of a row. */
  seal(row: RowOf<S>): Uint8Array {
    return sealOf(this.name, this.#sealed, row);
  }

  /** Whether a checksum is that of a row; both with bytes as characters. */
  isSealed(seal: string, row: { [Column in keyof S]?: string | number }): boolean {
    return sealText(this.name, this.#sealed, row) === seal;
  }

  /** A selected row in its types. What is not UTF-8 comes out different, so no checksum fits it. */
  decode(row: Row): RowOf<S> {
    const decoded: Record<string, unknown> = {};
    for (const [column, kind] of this.#shape) {
      const value = row[column];
      if (isNumber(kind) || (kind === "text?" && value === null)) decoded[column] = value;
      else decoded[column] = kind === "bytes" ? toBytes(value) : toText(value);
    }
    return decoded as RowOf<S>;
  }

  /** Whether a selected row is as it was written. */
  isWhole(row: Row): boolean {
    return this.#isSealed(row, this.decode(row));
  }

  #isSealed({ seal }: Row, decoded: RowOf<S>): boolean {
    return toBytes(seal).equals(this.seal(decoded));
  }

  #open(connection: Connection, row: Row): RowOf<S> {
    const decoded = this.decode(row);
    if (this.#isSealed(row, decoded)) return decoded;
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

function toBytes(value: unknown): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.from((value ?? []) as Uint8Array);
}
