import { isDeepStrictEqual } from "node:util";
import type { BaseStore } from "@langchain/langgraph";
import type { Failure, FileBackend, FileResult } from "../backend/backend.ts";
import { fileInTheWay, isFile, isFolder, noSuchFile, noSuchFolder } from "../backend/failures.ts";
import { foldersAbove, inOrder, isWithin } from "../paths/paths.ts";
import { createBackend } from "./create.ts";
import { exclusive } from "./exclusive.ts";
import { entriesOf, textOfFile } from "./file-table.ts";
import { packBytes, packedSize, packText, unpackBytes, unpackText } from "./packed.ts";

const PAGE = 100;

/**
 * Files in a LangGraph store, one item each, with the path as its key: they outlive threads. A compare-and-swap
 * holds against everybody in this process; stores offer none across processes.
 */
export function storeBackend(store: BaseStore, namespace: string[]): FileBackend {
  const get = async (path: string): Promise<string | undefined> =>
    textOfFile((await store.get(namespace, path))?.value);
  const put = (path: string, content: string): Promise<void> => store.put(namespace, path, { content });
  const oneAtATime = <T>(path: string, task: () => Promise<T>): Promise<T> =>
    exclusive(store, JSON.stringify([namespace, path]), task);

  /** All files, by path. */
  const all = async (): Promise<Map<string, string>> => {
    const files = new Map<string, string>();
    for (let offset = 0; ; offset += PAGE) {
      const items = await store.search(namespace, { limit: PAGE, offset });
      for (const item of items) {
        // A search also finds the namespaces below this one, and ones whose name begins the same.
        const content = isDeepStrictEqual(item.namespace, namespace) ? textOfFile(item.value) : undefined;
        if (content !== undefined && item.key.startsWith("/")) files.set(item.key, content);
      }
      if (items.length < PAGE) return files;
    }
  };
  const notAFile = async (path: string): Promise<Failure> => {
    const isParent = [...(await all()).keys()].some((file) => isWithin(file, path));
    return path === "/" || isParent ? isFolder(path) : noSuchFile(path);
  };

  return createBackend({
    async list(path) {
      const entries = entriesOf(
        path,
        [...(await all())].map(([file, content]) => [file, packedSize(content)] as const),
      );
      if (entries.length > 0 || path === "/") return { ok: true, entries };
      return (await get(path)) === undefined ? noSuchFolder(path) : isFile(path);
    },
    async read(path) {
      const content = await get(path);
      return content === undefined ? notAFile(path) : unpackText(content, path);
    },
    async readBytes(path) {
      const content = await get(path);
      return content === undefined ? notAFile(path) : { ok: true, bytes: unpackBytes(content) };
    },
    write: (path, content) => write(path, packText(content)),
    writeBytes: (path, bytes) => write(path, packBytes(bytes)),
    swap: (path, before, content) =>
      oneAtATime(path, async () => {
        const current = await get(path);
        if (current === undefined) return notAFile(path);
        const swapped = current === packText(before);
        if (swapped) await put(path, packText(content));
        return { ok: true, swapped };
      }),
    delete: (path) =>
      oneAtATime(path, async () => {
        if ((await get(path)) === undefined) return notAFile(path);
        await store.delete(namespace, path);
        return { ok: true };
      }),
    async *walk(folder) {
      const files = [...(await all()).keys()].filter((path) => path !== folder && isWithin(path, folder));
      yield* files.toSorted(inOrder);
    },
  });

  function write(path: string, content: string): Promise<FileResult<{ created: boolean }>> {
    return oneAtATime(path, async () => {
      const created = (await get(path)) === undefined;
      const problem = created ? await obstacle(path) : undefined;
      if (problem) return problem;
      await put(path, content);
      return { ok: true, created };
    });
  }

  /** Why a new file cannot be written, if it cannot. */
  async function obstacle(path: string): Promise<Failure | undefined> {
    for (const folder of foldersAbove(path)) {
      if ((await get(folder)) !== undefined) return fileInTheWay(path, folder);
    }
    const there = await notAFile(path);
    return there.reason === "missing" ? undefined : there;
  }
}
