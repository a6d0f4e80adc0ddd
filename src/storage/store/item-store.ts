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

/** An item as a row: its namespace joined into one text, its value as JSON. */
export type StoredItem = { namespace: string; key: string; value: string; created: number; updated: number };

/** The operations that a database provides for LangGraph's store. */
export interface Items {
  find: (namespace: string, key: string) => Promise<StoredItem | undefined>;
  /** Replaces an item with the same namespace and key, and keeps its creation time. */
  put: (item: StoredItem) => Promise<void>;
  remove: (namespace: string, key: string) => Promise<void>;
  /** A page of the items of a namespace and of those below it, or of all. Oldest first: a changed item stays on its page. */
  under: (namespace: string, page: Page) => Promise<StoredItem[]>;
  /** Each namespace that has items, once. */
  namespaces: () => Promise<string[]>;
  close: () => Promise<void>;
}

export interface Page {
  limit: number | undefined;
  offset: number;
}

const DEFAULT_LIMIT = 10;
/** Separates the parts of a namespace; no part contains it. */
export const NAMESPACE_SEPARATOR = "\u001F";

/** LangGraph's store in a database, for values outside of threads, such as files that agents share. */
export class ItemStore extends BaseStore {
  readonly #items: Items;

  /** @internal Made by `sqliteStore` and `postgresStore`. */
  constructor(items: Items) {
    super();
    this.#items = items;
  }

  /** Runs the operations one after the other: each sees the effects of those before it. */
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
    const names = (await this.#items.namespaces())
      .map(partsOf)
      .filter((parts) => matchConditions.every((condition) => isUnder(parts, condition)))
      .map((parts) => parts.slice(0, maxDepth).join(NAMESPACE_SEPARATOR));
    const unique = [...new Set(names)].toSorted((a, b) => (a < b ? -1 : 1));
    return unique.slice(offset, offset + limit).map(partsOf);
  }

  async close(): Promise<void> {
    await this.#items.close();
  }
}

/** The message for an item that does not match its checksum. */
export function itemDamage({ namespace, key }: Pick<StoredItem, "namespace" | "key">): string {
  return `item ${key} of ${partsOf(namespace).join("/")} in the store is damaged`;
}

/** Throws for a character that one of the databases cannot hold, so that all accept the same names. */
function nameOf(namespace: readonly string[]): string {
  const name = namespace.join(NAMESPACE_SEPARATOR);
  if (isText(name) && partsOf(name).length === Math.max(1, namespace.length)) return name;
  throw unstorable("A namespace has a character in it that cannot be stored.");
}

function keyOf(key: string): string {
  if (isText(key)) return key;
  throw unstorable("A key has a character in it that cannot be stored.");
}

function partsOf(name: string): string[] {
  return name.split(NAMESPACE_SEPARATOR);
}

function toJson(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text !== undefined) return text;
  throw unstorable("The value of an item cannot be written as JSON; null deletes an item.");
}

function unstorable(message: string): HarnessError {
  return new HarnessError("invalid-request", message);
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

/** Whether a namespace begins or ends with a path; `*` matches any one part. */
function isUnder(parts: readonly string[], { matchType, path }: Condition): boolean {
  if (path.length > parts.length) return false;
  const candidates = matchType === "suffix" ? parts.slice(parts.length - path.length) : parts;
  return path.every((part, at) => part === "*" || part === candidates[at]);
}

type Value = Record<string, unknown>;

const OPERATORS: Record<string, (value: unknown, operand: unknown) => boolean> = {
  $eq: (value, operand) => value === operand,
  $ne: (value, operand) => value !== operand,
  $gt: (value, operand) => Number(value) > Number(operand),
  $gte: (value, operand) => Number(value) >= Number(operand),
  $lt: (value, operand) => Number(value) < Number(operand),
  $lte: (value, operand) => Number(value) <= Number(operand),
  $in: (value, operand) => Array.isArray(operand) && operand.includes(value),
  $nin: (value, operand) => !Array.isArray(operand) || !operand.includes(value),
};

/** Whether an item's value matches the filter of a search, by the rules of LangGraph's in-memory store. */
function isMatch(value: Value, filter: Value): boolean {
  return Object.entries(filter).every(([key, expected]) => {
    if (!isOperators(expected)) return value[key] === expected;
    return Object.entries(expected).every(([name, operand]) => OPERATORS[name]!(value[key], operand));
  });
}

function isOperators(expected: unknown): expected is Value {
  if (typeof expected !== "object" || expected === null) return false;
  return Object.keys(expected).every((name) => Object.hasOwn(OPERATORS, name));
}
