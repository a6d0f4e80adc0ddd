import { mkdir, realpath, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Failure, FileEntry, FileResult, GrepQuery, ListOptions } from "../backend/index.ts";
import { isStaged } from "../git/index.ts";
import { foldName, segmentsOf } from "../paths/index.ts";
import { distrustPrograms } from "../programs/index.ts";
import { inWalkOrder, type FileOperations, type WalkOptions, type SearchPass } from "../search/index.ts";
import { decodeText } from "../text/index.ts";
import { explain } from "./errors.ts";
import { hasDescriptorPaths, openByDescriptor } from "./folder-handle.ts";
import { pathFromHost } from "./from-host.ts";
import { keeperFiles } from "./keeper/keeper.ts";
import { DiskFiles, type PlainFiles } from "./plain-files.ts";
import { ripgrepCandidates } from "./ripgrep.ts";

/** Options of a folder on disk. */
export interface DiskOptions {
  /** The largest file to read or write. Default 10 MB. */
  maxBytes?: number;
  /**
   * Names that searches skip in addition to ignored files, unless a search spells them out. Compared in every spelling
   * that some file system treats as the same. Default `.git` and `node_modules`.
   */
  ignore?: readonly string[];
  /** Whether searches may use ripgrep where it is installed; the results are the same. Default true. */
  ripgrep?: boolean;
}

interface Root {
  /** The real path. */
  path: string;
  files: PlainFiles;
}

/** File operations in a folder of the host. */
export class Disk implements FileOperations {
  readonly #folder: string;
  readonly #options: Required<DiskOptions>;
  readonly #ignored: readonly string[];
  readonly #descriptors: boolean | undefined;
  readonly maxBytes: number;
  #resolvedRoot: Root | undefined;

  /** `descriptors` overrides the check of the system, for tests. */
  constructor(root: string, options: DiskOptions, descriptors?: boolean) {
    this.#folder = root;
    distrustPrograms(root);
    this.#options = { maxBytes: 10_000_000, ignore: [".git", "node_modules"], ripgrep: true, ...options };
    this.#ignored = this.#options.ignore.map(foldName);
    this.#descriptors = descriptors;
    this.maxBytes = this.#options.maxBytes;
  }

  async list(path: string, options?: ListOptions): Promise<FileResult<{ entries: FileEntry[] }>> {
    return this.#use(path, (files) => files.list(path, options));
  }

  async read(path: string): Promise<FileResult<{ content: string }>> {
    const file = await this.readBytes(path);
    return file.ok ? decodeText(file.bytes, path) : file;
  }

  async readBytes(path: string): Promise<FileResult<{ bytes: Uint8Array }>> {
    return this.#use(path, (files) => files.readBytes(path, this.maxBytes));
  }

  async write(path: string, content: string | Uint8Array): Promise<FileResult<{ created: boolean }>> {
    const result = await this.#use(path, (files) => files.put(path, content));
    return result.ok ? { ok: true, created: result.created } : result;
  }

  writeBytes(path: string, bytes: Uint8Array): Promise<FileResult<{ created: boolean }>> {
    return this.write(path, bytes);
  }

  async swap(path: string, before: string, content: string): Promise<FileResult<{ swapped: boolean }>> {
    const result = await this.#use(path, (files) => files.put(path, content, before));
    return result.ok ? { ok: true, swapped: result.swapped } : result;
  }

  async delete(path: string): Promise<FileResult> {
    return this.#use(path, (files) => files.delete(path));
  }

  async deleteFolder(path: string): Promise<FileResult> {
    return this.#use(path, (files) => files.deleteFolder(path));
  }

  async locate(path: string): Promise<string> {
    const root = await this.#root().catch(() => undefined);
    return root ? pathFromHost(path, root.path) : path;
  }

  async isUnchanged(path: string, file: { bytes: Uint8Array; since: number | undefined }): Promise<boolean> {
    const root = await this.#root().catch(() => undefined);
    return root !== undefined && isUnchanged(root.path, path, file);
  }

  /** Keeps no folder open while it walks another: a deep tree needs no more descriptors than a flat one. */
  async *walk(path: string, options: WalkOptions): AsyncGenerator<string> {
    const { pass, rules } = options;
    for (const entry of inWalkOrder(await this.#entriesToWalk(path, pass))) {
      if (pass.isDue) await pass.rest();
      if (pass.stopped) return;
      if (this.#skips(entry.name, options)) continue;
      if (!entry.isDirectory) yield entry.path;
      else if (!(await rules?.skips(entry.path, true))) yield* this.walk(entry.path, options);
    }
  }

  async candidates(path: string, query: GrepQuery, options: WalkOptions): Promise<string[] | undefined> {
    if (!this.#options.ripgrep) return undefined;
    const root = await this.#root().catch(() => undefined);
    if (!root) return undefined;
    const candidates = await ripgrepCandidates(query, {
      root: root.path,
      folder: path,
      skip: this.#namesToSkip(options),
      timeout: options.pass.left,
    });
    const depth = segmentsOf(path).length;
    return candidates?.filter(
      (file) =>
        !segmentsOf(file)
          .slice(depth)
          .some((name) => this.#skips(name, options)),
    );
  }

  /** The entries of a folder. Notes a folder that cannot be listed. */
  async #entriesToWalk(path: string, pass: SearchPass): Promise<FileEntry[]> {
    const result = await this.#use(path, (files) => files.entries(path));
    if (result.ok) return result.entries;
    pass.miss(path);
    return [];
  }

  #namesToSkip({ names, all }: WalkOptions): string[] {
    return all ? [] : this.#options.ignore.filter((name) => !names.includes(name));
  }

  #skips(name: string, options: WalkOptions): boolean {
    if (options.all || options.names.includes(name)) return false;
    return this.#ignored.includes(foldName(name));
  }

  /** Runs `act`. A failure of the root itself names `path`. */
  async #use<T>(path: string, act: (files: PlainFiles) => Promise<T>): Promise<T | Failure> {
    try {
      return await act((await this.#root()).files);
    } catch (error) {
      return explain(error, path);
    }
  }

  async #root(): Promise<Root> {
    if (!this.#resolvedRoot) {
      await mkdir(this.#folder, { recursive: true });
      const path = await realpath(this.#folder);
      distrustPrograms(path);
      const descriptors = this.#descriptors ?? (await hasDescriptorPaths(path));
      const files = descriptors ? new DiskFiles(path, openByDescriptor) : keeperFiles(path);
      this.#resolvedRoot = { path, files };
    }
    return this.#resolvedRoot;
  }
}

/** See `FileBackend.isUnchanged`. Never throws. */
async function isUnchanged(
  root: string,
  path: string,
  { bytes, since }: { bytes: Uint8Array; since: number | undefined },
): Promise<boolean> {
  const file = join(root, path);
  try {
    // `bytes` may be the unsaved text of an editor.
    if (!(await readFile(file)).equals(bytes)) return false;
    const { mtimeMs, ctimeMs } = await stat(file);
    return (since !== undefined && Math.max(mtimeMs, ctimeMs) < since) || isStaged(root, file, bytes);
  } catch {
    return false;
  }
}
