import {
  type Failure,
  type FileResult,
  fileInTheWay,
  notAFolder,
  notAFile,
  noSuchFile,
  noSuchFolder,
} from "../backend/index.ts";
import { foldersAbove, inOrder, isWithin } from "../paths/index.ts";
import type { FileOperations } from "../search/index.ts";
import { entriesOf } from "./file-table.ts";
import { packBytes, packedSize, packText, unpackBytes, unpackText } from "./packed.ts";

/** Storage of texts by path, without folders, such as graph state or a store. */
export interface Records {
  get(path: string): Promise<string | undefined>;
  put(path: string, content: string): Promise<void>;
  delete(path: string): Promise<void>;
  all(): Promise<ReadonlyMap<string, string>>;
  /** Runs the tasks of a path one by one. */
  exclusive<T>(path: string, task: () => Promise<T>): Promise<T>;
}

/** File operations on records. A folder exists while it has files. */
export function recordOperations(records: Records): FileOperations {
  const below = async (folder: string): Promise<(readonly [path: string, content: string])[]> =>
    [...(await records.all())].filter(([path]) => path !== folder && isWithin(path, folder));
  const whyNoFile = async (path: string): Promise<Failure> =>
    path === "/" || (await below(path)).length > 0 ? notAFile(path) : noSuchFile(path);

  /** Returns why a new file cannot be written; undefined if it can. */
  const obstacle = async (path: string): Promise<Failure | undefined> => {
    for (const folder of foldersAbove(path)) {
      if ((await records.get(folder)) !== undefined) return fileInTheWay(path, folder);
    }
    const failure = await whyNoFile(path);
    return failure.reason === "missing" ? undefined : failure;
  };
  const write = (path: string, content: string): Promise<FileResult<{ created: boolean }>> =>
    records.exclusive(path, async () => {
      const created = (await records.get(path)) === undefined;
      const problem = created ? await obstacle(path) : undefined;
      if (problem) return problem;
      await records.put(path, content);
      return { ok: true, created };
    });

  return {
    async list(path) {
      const files = await below(path);
      if (files.length === 0 && path !== "/")
        return (await records.get(path)) === undefined ? noSuchFolder(path) : notAFolder(path);
      const sizes = files.map(([file, content]) => [file, packedSize(content)] as const);
      return { ok: true, entries: entriesOf(path, sizes) };
    },
    async read(path) {
      const content = await records.get(path);
      return content === undefined ? whyNoFile(path) : unpackText(content, path);
    },
    async readBytes(path) {
      const content = await records.get(path);
      return content === undefined ? whyNoFile(path) : { ok: true, bytes: unpackBytes(content) };
    },
    write: (path, content) => write(path, packText(content)),
    writeBytes: (path, bytes) => write(path, packBytes(bytes)),
    swap: (path, before, content) =>
      records.exclusive(path, async () => {
        const current = await records.get(path);
        if (current === undefined) return whyNoFile(path);
        const swapped = current === packText(before);
        if (swapped) await records.put(path, packText(content));
        return { ok: true, swapped };
      }),
    delete: (path) =>
      records.exclusive(path, async () => {
        if ((await records.get(path)) === undefined) return whyNoFile(path);
        await records.delete(path);
        return { ok: true };
      }),
    async *walk(folder) {
      yield* (await below(folder)).map(([path]) => path).toSorted(inOrder);
    },
  };
}
