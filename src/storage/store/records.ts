import { checkName, isText } from "./storable-text.ts";

/** The types of columns. */
interface Kinds {
  number: number;
  "number?": number | null;
  text: string;
  "text?": string | null;
  bytes: Uint8Array;
}

/** The columns of a table, in the order of its checksums. */
export type Shape = Readonly<Record<string, keyof Kinds>>;
export type RowOf<S extends Shape> = { -readonly [Column in keyof S]: Kinds[S[Column]] };

/** The tables that are the same in both databases; the first column is the key. */
export const RECORD_SHAPES = {
  /** Threads as servers record them. */
  hosted: {
    thread: "text",
    graph: "text",
    owner: "text?",
    created: "number",
    updated: "number",
    failed: "number",
    metadata: "text",
  },
  runs: {
    id: "text",
    thread: "text",
    status: "text",
    created: "number",
    updated: "number",
    attempt: "number",
    base: "text?",
    request: "text",
  },
  schedules: { id: "text", created: "number", due: "number?", content: "text" },
  /** Letters: the request, the work that was started for it, and the answer, each as JSON. */
  edits: {
    id: "number",
    thread: "number",
    at: "number",
    content: "text",
    begun: "text?",
    outcome: "text?",
  },
} as const satisfies Record<string, Shape>;

export type RecordTable = keyof typeof RECORD_SHAPES;
export type RecordRow<T extends RecordTable> = RowOf<(typeof RECORD_SHAPES)[T]>;

type SqlRow = Record<string, string | number | null>;
type Params = readonly (string | number)[];

/** A step of a script. `rest` follows the name of the table, with `?` for each parameter. */
export type Step =
  | { kind: "select" | "select-intact" | "delete"; table: RecordTable; rest: string; params: Params }
  | { kind: "select-among"; table: RecordTable; column: string; values: readonly string[] }
  | { kind: "put"; table: RecordTable; row: SqlRow }
  | { kind: "lock"; name: string };

/** Statements on records, for a synchronous and an asynchronous database. */
export type Script<T> = Generator<Step, T, readonly unknown[]>;

/** Reads rows. Throws `storage-corrupt` when one does not match its checksum. */
export function* select<T extends RecordTable>(
  table: T,
  rest: string,
  ...params: Params
): Script<RecordRow<T>[]> {
  checkAll(params);
  return (yield { kind: "select", table, rest, params }) as RecordRow<T>[];
}

/** Reads rows, and leaves out damaged ones. */
export function* selectIntact<T extends RecordTable>(
  table: T,
  rest: string,
  ...params: Params
): Script<RecordRow<T>[]> {
  return (yield { kind: "select-intact", table, rest, params }) as RecordRow<T>[];
}

/** Reads the rows whose column has one of some values, by one statement. */
export function* selectAmong<T extends RecordTable>(
  table: T,
  column: keyof RecordRow<T> & string,
  values: readonly string[],
): Script<RecordRow<T>[]> {
  return (yield {
    kind: "select-among",
    table,
    column,
    values: values.filter(isText),
  }) as RecordRow<T>[];
}

/** Adds a row, or replaces the one with the same key. */
export function* put<T extends RecordTable>(table: T, row: RecordRow<T>): Script<void> {
  checkAll(Object.values(row as SqlRow));
  yield { kind: "put", table, row: row as SqlRow };
}

/** Deletes rows, and returns their number. */
export function* remove(table: RecordTable, rest: string, ...params: Params): Script<number> {
  checkAll(params);
  return (yield { kind: "delete", table, rest, params }).length;
}

function checkAll(values: readonly unknown[]): void {
  for (const value of values) if (typeof value === "string") checkName(value);
}

/** Waits for other transactions with a lock of this name: a row that does not exist cannot be locked itself. */
export function* lock(name: string): Script<void> {
  checkName(name);
  yield { kind: "lock", name };
}

/** The tables of records in a database. */
export interface Records {
  read<T>(script: () => Script<T>): Promise<T>;

  /** Runs the script of one statement. */
  write<T>(script: () => Script<T>): Promise<T>;

  /** Runs a script in one transaction; the rows that it reads are locked. It may be run again. */
  transaction<T>(script: () => Script<T>): Promise<T>;

  /** Returns a number for a new letter, which is never used again. */
  newLetterId(): Promise<number>;
}
