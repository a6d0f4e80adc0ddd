import { isDeepStrictEqual } from "node:util";
import type { BaseStore } from "@langchain/langgraph";
import type { FileBackend } from "../backend/index.ts";
import { createBackend } from "./create.ts";
import { exclusive } from "./exclusive.ts";
import { textOfFile } from "./file-table.ts";
import { recordOperations } from "./records.ts";

const PAGE = 100;

/**
 * Files in a LangGraph store, one item per file with its path as the key. They outlive threads. Edits are atomic within
 * this process only: stores have no compare-and-swap.
 *
 * @example
 * ```ts
 * import { createDeepAgent } from "holdfast";
 * import { compositeBackend, diskBackend, storeBackend } from "holdfast/files";
 * import { sqliteStore } from "holdfast/storage";
 *
 * const memories = storeBackend(await sqliteStore("memories.db"), ["memories"]);
 * const backend = compositeBackend(diskBackend("./my-project"), { "/memories/": memories });
 * const agent = createDeepAgent({ model: "openai:gpt-5.1", backend });
 * ```
 */
export function storeBackend(store: BaseStore, namespace: string[]): FileBackend {
  const operations = recordOperations({
    get: async (path) => textOfFile((await store.get(namespace, path))?.value),
    put: (path, content) => store.put(namespace, path, { content }),
    delete: (path) => store.delete(namespace, path),
    exclusive: (path, task) => exclusive(store, JSON.stringify([namespace, path]), task),
    async all() {
      const files = new Map<string, string>();
      for (let offset = 0; ; offset += PAGE) {
        const items = await store.search(namespace, { limit: PAGE, offset });
        for (const item of items) {
          // A search also returns items of nested namespaces, and of ones with the same prefix.
          const content = isDeepStrictEqual(item.namespace, namespace) ? textOfFile(item.value) : undefined;
          if (content !== undefined && item.key.startsWith("/")) files.set(item.key, content);
        }
        if (items.length < PAGE) return files;
      }
    },
  });
  return createBackend(operations);
}
