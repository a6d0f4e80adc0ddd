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
import { isText } from "./storable-text.ts";

/** An item as it is kept: the parts of its namespace in one text, its value as JSON. */
export type StoredItem = { namespace: string; key: string; value: string; created: number; updated: number };

/** What a database does for LangGraph's store. */
export interface Items {
  find: (namespace: string, key: string) => Promise<StoredItem | undefined>;
  /** Puts an item in the place of one with the same name, whose time of making it keeps. */
  put: (item: StoredItem) => Promise<void>;
  remove: (namespace: string, key: string) => Promise<void>;
  /** A page of the items of a namespace and of those below it, or of all: oldest first, so that pages stay what they are while items are changed. */
  under: (namespace: string, page: Page) => Promise<StoredItem[]>;
  /** Each namespace that has items, once. */
  namespaces: () => Promise<string[]>;
  close: () => Promise<void>;
}

export interface Page {
  /** Undefined for all there are. */
  limit: number | undefined;
  offset: number;
}

const DEFAULT_LIMIT = 10;
/** Stands between the parts of a namespace, and in none of them. */
export const BETWEEN = "\u001F";

/** LangGraph's store in a database: what is kept beside threads, such as files that agents share. */
export class ItemStore extends BaseStore {
  readonly #items: Items;

  /** @internal Made by `sqliteStore` and `postgresStore`. */
  constructor(items: Items) {
    super();
    this.#items = items;
  }

  /** Each of them in its turn: one sees what those before it did. */
  override async batch<Op extends readonly Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results: unknown[] = [];
    for (const operation of operations) results.push(await this.#do(operation));
    return results as OperationResults<Op>;
  }

  async #do(operation: Operation): Promise<unknown> {
    if ("namespacePrefix" in operation) return this.#search(operation);
    if ("value" in operation) return this.#put(operation);
    if ("key" in operation) return this.#get(operation);
    return this.#namespaces(operation);
  }

  async #get({ namespace, key }: GetOperation): Promise<Item | null> {
    const item = await this.#items.find(nameOf(namespace), keyOf(key));
    return item ? toItem(item) : null;
  }

  async #put({ namespace, key, value }: PutOperation): Promise<void> {
    const name = { namespace: nameOf(namespace), key: keyOf(key) };
    if (value === null) return this.#items.remove(name.namespace, name.key);
    const now = Date.now();
    return this.#items.put({ ...name, value: toJson(value), created: now, updated: now });
  }

  async #search(operation: SearchOperation): Promise<SearchItem[]> {
    const { namespacePrefix, filter = {}, limit = DEFAULT_LIMIT, offset = 0 } = operation;
    const isFiltered = Object.keys(filter).length > 0;
    const page = isFiltered ? { limit: undefined, offset: 0 } : { limit, offset };
    const items = (await this.#items.under(nameOf(namespacePrefix), page)).map(toItem);
    if (!isFiltered) return items;
    return items.filter(({ value }) => isMatch(value, filter)).slice(offset, offset + limit);
  }

  async #namespaces(operation: ListNamespacesOperation): Promise<string[][]> {
    const { matchConditions = [], maxDepth, limit, offset } = operation;
    const found = (await this.#items.namespaces())
      .map(partsOf)
      .filter((parts) => matchConditions.every((condition) => isUnder(parts, condition)))
      .map((parts) => parts.slice(0, maxDepth).join(BETWEEN));
    const unique = [...new Set(found)].toSorted((a, b) => (a < b ? -1 : 1));
    return unique.slice(offset, offset + limit).map(partsOf);
  }

  async close(): Promise<void> {
    await this.#items.close();
  }
}

/** What a check says of an item that is not as it was written. */
export function itemDamage({ namespace, key }: Pick<StoredItem, "namespace" | "key">): string {
  return `item ${key} of ${partsOf(namespace).join("/")} in the store is damaged`;
}

/** Names are the same in all databases: what one of them cannot hold is taken by none. */
function nameOf(namespace: readonly string[]): string {
  const name = namespace.join(BETWEEN);
  if (isText(name) && partsOf(name).length === Math.max(1, namespace.length)) return name;
  throw unstorable("A namespace has a character in it that cannot be stored.");
}

function keyOf(key: string): string {
  if (isText(key)) return key;
  throw unstorable("A key has a character in it that cannot be stored.");
}

function partsOf(name: string): string[] {
  return name.split(BETWEEN);
}

function toJson(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text !== undefined) return text;
  throw unstorable("The value of an item is nothing that JSON can say; null deletes one.");
}

function unstorable(what: string): HarnessError {
  return new HarnessError("invalid-request", what);
}

function toItem({ namespace, key, value, created, updated }: StoredItem): Item {
  return {
    namespace: partsOf(namespace),
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
  const compared = matchType === "suffix" ? parts.slice(parts.length - path.length) : parts;
  return path.every((part, at) => part === "*" || part === compared[at]);
}

type Value = Record<string, unknown>;

const OPERATORS: Record<string, (found: unknown, wanted: unknown) => boolean> = {
  $eq: (found, wanted) => found === wanted,
  $ne: (found, wanted) => found !== wanted,
  $gt: (found, wanted) => Number(found) > Number(wanted),
  $gte: (found, wanted) => Number(found) >= Number(wanted),
  $lt: (found, wanted) => Number(found) < Number(wanted),
  $lte: (found, wanted) => Number(found) <= Number(wanted),
  $in: (found, wanted) => Array.isArray(wanted) && wanted.includes(found),
  $nin: (found, wanted) => !Array.isArray(wanted) || !wanted.includes(found),
};

/** Whether an item's value fits the filter of a search, as LangGraph's store in memory has it. */
function isMatch(value: Value, filter: Value): boolean {
  return Object.entries(filter).every(([key, wanted]) => {
    if (!isOperators(wanted)) return value[key] === wanted;
    return Object.entries(wanted).every(([name, operand]) => OPERATORS[name]!(value[key], operand));
  });
}

function isOperators(wanted: unknown): wanted is Value {
  if (typeof wanted !== "object" || wanted === null) return false;
  return Object.keys(wanted).every((name) => Object.hasOwn(OPERATORS, name));
}
