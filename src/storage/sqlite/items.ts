import { NAMESPACE_SEPARATOR, type Items, type Page, type StoredItem } from "../store/index.ts";
import { corrupt, ITEMS, type Connection } from "./database/index.ts";

/** The character after the separator: the end of the range of a namespace's children. */
const AFTER_SEPARATOR = String.fromCharCode(NAMESPACE_SEPARATOR.charCodeAt(0) + 1);

export class SqliteItems implements Items {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async find(namespace: string, key: string): Promise<StoredItem | undefined> {
    return this.#find(namespace, key);
  }

  #find(namespace: string, key: string) {
    const item = ITEMS.get(this.#connection, "WHERE namespace = ? AND key = ?", [namespace, key]);
    if (!item || (item.namespace === namespace && item.key === key)) return item;
    throw corrupt(this.#connection.path, "its list of items is out of order");
  }

  async put(item: StoredItem): Promise<void> {
    this.#connection.transaction(() => {
      const existing = this.#find(item.namespace, item.key);
      ITEMS.put(this.#connection, {
        ...item,
        id: existing?.id ?? this.#nextId(),
        created: existing?.created ?? item.created,
      });
    });
  }

  #nextId(): number {
    return this.#connection.get("SELECT coalesce(max(id), 0) + 1 AS next FROM items")?.["next"] as number;
  }

  async remove(namespace: string, key: string): Promise<void> {
    this.#connection.run("DELETE FROM items WHERE namespace = ? AND key = ?", [namespace, key]);
  }

  async under(namespace: string, { limit = -1, offset }: Page): Promise<StoredItem[]> {
    const [where, names] =
      namespace === ""
        ? ["", []]
        : [
            "WHERE namespace = ? OR (namespace > ? AND namespace < ?)",
            [namespace, namespace + NAMESPACE_SEPARATOR, namespace + AFTER_SEPARATOR],
          ];
    const rest = `${where} ORDER BY items.id LIMIT ? OFFSET ?`;
    return ITEMS.all(this.#connection, rest, [...names, limit, offset]);
  }

  /** Reads one row of each namespace: an index has no checksum. */
  async namespaces(): Promise<string[]> {
    const some = "WHERE id IN (SELECT min(id) FROM items GROUP BY namespace)";
    return ITEMS.all(this.#connection, some).map(({ namespace }) => namespace);
  }

  async close(): Promise<void> {
    this.#connection.close();
  }
}
