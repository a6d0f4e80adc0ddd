import {
  BaseStore,
  type GetOperation,
  type Item,
  type ListNamespacesOperation,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
} from "@langchain/langgraph-checkpoint";
import { HarnessError } from "../../errors.ts";
import type { Database } from "./database.ts";
import { isMatch } from "./match.ts";
import { SealedTable } from "./rows.ts";
import { isText } from "./text.ts";

type ItemRow = { namespace: string; key: string; value: string; created: number; updated: number };

export const ITEMS = new SealedTable<ItemRow>("items", ["namespace", "key", "value", "created", "updated"]);

const DEFAULT_LIMIT = 10;
/** Stands between the parts of a namespace in the table, and in none of them. */
const BETWEEN = "\u001F";

/** LangGraph's store in a Postgres database: what is kept beside threads, such as files that agents share. */
export class PostgresStore extends BaseStore {
  readonly #database: Database;
  readonly #table: string;

  /** @internal Made by `postgresStore`. */
  constructor(database: Database) {
    super();
    this.#database = database;
    this.#table = `${database.schema}.items`;
  }

  /** Each of them in its turn: one sees what those before it did. */
  override async batch<Op extends readonly Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results: unknown[] = [];
    for (const operation of operations) results.push(await this.#do(operation));
    return results as OperationResults<Op>;
  }

  #do(operation: Operation): Promise<unknown> {
    if ("namespacePrefix" in operation) return this.#search(operation);
    if ("value" in operation) return this.#put(operation);
    if ("key" in operation) return this.#get(operation);
    return this.#namespaces(operation);
  }

  async #get({ namespace, key }: GetOperation): Promise<Item | null> {
    const [row] = await this.#database.query(
      `SELECT * FROM ${this.#table} WHERE namespace = $1 AND key = $2`,
      [nameOf(namespace), key],
    );
    return row ? toItem(ITEMS.open(row, this.#database)) : null;
  }

  async #put({ namespace, key, value }: PutOperation): Promise<void> {
    const name = nameOf(namespace);
    if (!isText(key)) throw unstorable("A key");
    if (value === null) {
      await this.#database.query(`DELETE FROM ${this.#table} WHERE namespace = $1 AND key = $2`, [name, key]);
      return;
    }
    const now = Date.now();
    const text = JSON.stringify(value);
    await this.#database.transaction(async (query) => {
      const [known] = await query(
        `SELECT created FROM ${this.#table} WHERE namespace = $1 AND key = $2 FOR UPDATE`,
        [name, key],
      );
      const created = (known?.["created"] as number | undefined) ?? now;
      const row = { namespace: name, key, value: text, created, updated: now };
      await query(
        `INSERT INTO ${this.#table} (namespace, key, value, created, updated, seal) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, created = excluded.created,
           updated = excluded.updated, seal = excluded.seal`,
        [name, key, text, created, now, ITEMS.seal(row)],
      );
    });
  }

  async #search(operation: SearchOperation): Promise<SearchItem[]> {
    const { namespacePrefix, filter = {}, limit = DEFAULT_LIMIT, offset = 0 } = operation;
    const isFiltered = Object.keys(filter).length > 0;
    const name = nameOf(namespacePrefix);
    // Oldest first: pages stay what they are while items are changed.
    const rows = await this.#database.query(
      `SELECT * FROM ${this.#table} WHERE $1 = '' OR namespace = $1 OR starts_with(namespace, $1 || '${BETWEEN}')
       ORDER BY created, namespace, key LIMIT $2 OFFSET $3`,
      isFiltered ? [name, null, 0] : [name, limit, offset],
    );
    const items = rows.map((row) => toItem(ITEMS.open(row, this.#database)));
    if (!isFiltered) return items;
    return items.filter(({ value }) => isMatch(value, filter)).slice(offset, offset + limit);
  }

  async #namespaces(operation: ListNamespacesOperation): Promise<string[][]> {
    const { matchConditions = [], maxDepth, limit, offset } = operation;
    const rows = await this.#database.query(`SELECT DISTINCT namespace FROM ${this.#table}`);
    const found = rows
      .map((row) => (row["namespace"] as string).split(BETWEEN))
      .filter((parts) => matchConditions.every((condition) => isUnder(parts, condition)))
      .map((parts) => (maxDepth === undefined ? parts : parts.slice(0, maxDepth)));
    const unique = [...new Map(found.map((parts) => [parts.join(BETWEEN), parts])).entries()];
    const sorted = unique.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, parts]) => parts);
    return sorted.slice(offset, offset + limit);
  }

  async close(): Promise<void> {
    await this.#database.close();
  }
}

function nameOf(namespace: readonly string[]): string {
  const name = namespace.join(BETWEEN);
  if (isText(name) && name.split(BETWEEN).length === Math.max(1, namespace.length)) return name;
  throw unstorable("A namespace");
}

function unstorable(what: string): HarnessError {
  return new HarnessError("invalid-request", `${what} has a character in it that cannot be stored.`);
}

function toItem({ namespace, key, value, created, updated }: ItemRow): Item {
  return {
    namespace: namespace.split(BETWEEN),
    key,
    value: JSON.parse(value) as Record<string, unknown>,
    createdAt: new Date(created),
    updatedAt: new Date(updated),
  };
}

type Condition = NonNullable<ListNamespacesOperation["matchConditions"]>[number];

/** Whether a namespace begins or ends as it should; `*` is any one part. */
function isUnder(parts: readonly string[], { matchType, path }: Condition): boolean {
  if (path.length > parts.length) return false;
  const compared = matchType === "suffix" ? parts.slice(-path.length) : parts;
  return path.every((part, at) => part === "*" || part === compared[at]);
}
