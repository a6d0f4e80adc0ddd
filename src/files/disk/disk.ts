import { constants } from "node:fs";
import { lstat, mkdir, opendir, realpath, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { FileEntry, FileResult, GrepQuery, ListOptions } from "../backend.ts";
import { exclusive } from "../exclusive.ts";
import { fail, isFile, isFolder, noSuchFile, noSuchFolder } from "../failures.ts";
import { foldName } from "../fold.ts";
import { inWalkOrder, type FileOperations, type WalkOptions } from "../operations.ts";
import { nameOf, parentOf, parsePath, pathIn, segmentsOf } from "../paths.ts";
import { Sweep } from "../sweep.ts";
import { anchorAt, anchorDirectly, hasDescriptorPaths, NotPlainError, type Anchor } from "./anchor.ts";
import { whenFree } from "./descriptors.ts";
import { explain } from "./errors.ts";
import { pathFromHost } from "./from-host.ts";
import { isTemporary, replaceFile } from "./replace-file.ts";
import { ripgrepCandidates } from "./ripgrep.ts";
import { decodeText } from "./text.ts";

/** Two backends on one folder wait for each other. */
const WRITERS = {};

/** How a folder on disk is used. */
export interface DiskOptions {
  /** The largest file to read or write. Default 10 MB. */
  maxBytes?: number;
  /**
   * Names that searches skip, beside what is ignored, unless they are spelled out, in every spelling that some file
   * system takes for the same. Default `.git` and `node_modules`.
   */
  ignore?: readonly string[];
  /** Whether searches may use ripgrep where it is installed; the results are the same. Default true. */
  ripgrep?: boolean;
}

interface Written {
  created: boolean;
  swapped: boolean;
}

/** Where the files are, and whether folders can be held by descriptor there. */
interface Root {
  path: string;
  descriptors: boolean;
}

/** File operations in a folder of the host. */
export class Disk implements FileOperations {
  readonly #folder: string;
  readonly #options: Required<DiskOptions>;
  readonly #ignored: readonly string[];
  readonly #descriptors: boolean | undefined;
  readonly maxBytes: number;
  #found: Root | undefined;

  /** `descriptors` overrides what the system can do. */
  constructor(root: string, options: DiskOptions, descriptors?: boolean) {
    this.#folder = root;
    this.#options = { maxBytes: 10_000_000, ignore: [".git", "node_modules"], ripgrep: true, ...options };
    this.#ignored = this.#options.ignore.map(foldName);
    this.#descriptors = descriptors;
    this.maxBytes = this.#options.maxBytes;
  }

  async list(
    path: string,
    { sizes = false }: ListOptions = {},
  ): Promise<FileResult<{ entries: FileEntry[] }>> {
    const listed = await this.#in(path, { path }, async (folder) => {
      const found = await entriesOf(folder, path, new Sweep());
      const entries = sizes ? await withSizes(folder, found) : found;
      await folder.verify();
      return { ok: true, entries };
    });
    if (listed.ok) return listed;
    if (listed.reason === "missing") return noSuchFolder(path);
    const file = await this.#stats(path);
    return file.ok && file.isFile ? isFile(path) : listed;
  }

  async read(path: string): Promise<FileResult<{ content: string }>> {
    if (path === "/") return isFolder(path);
    return this.#in(parentOf(path), { path }, (folder) => this.#readFrom(folder, path));
  }

  async write(path: string, content: string): Promise<FileResult<{ created: boolean }>> {
    const written = await this.#put(path, content);
    return written.ok ? { ok: true, created: written.created } : written;
  }

  async swap(path: string, before: string, content: string): Promise<FileResult<{ swapped: boolean }>> {
    const written = await this.#put(path, content, before);
    return written.ok ? { ok: true, swapped: written.swapped } : written;
  }

  async delete(path: string): Promise<FileResult> {
    if (path === "/") return isFolder(path);
    return this.#in(parentOf(path), { path }, async (folder) => {
      const stats = await folder.stat(nameOf(path));
      if (!stats) return noSuchFile(path);
      if (stats.isDirectory()) return isFolder(path);
      await unlink(folder.entry(nameOf(path)));
      return { ok: true };
    });
  }

  async locate(path: string): Promise<string> {
    const root = await this.#root().catch(() => undefined);
    return root ? pathFromHost(path, root.path) : path;
  }

  /** Holds no folder while it is in another: a deep tree needs no more descriptors than a flat one. */
  async *walk(path: string, options: WalkOptions): AsyncGenerator<string> {
    const { sweep, rules } = options;
    for (const entry of inWalkOrder(await this.#entriesToWalk(path, sweep))) {
      if (sweep.isDue) await sweep.rest();
      if (sweep.stopped) return;
      if (this.#skips(entry.name, options)) continue;
      if (!entry.isDirectory) yield entry.path;
      else if (!(await rules?.skips(entry.path, true))) yield* this.walk(entry.path, options);
    }
  }

  async candidates(path: string, query: GrepQuery, options: WalkOptions): Promise<string[] | undefined> {
    if (!this.#options.ripgrep) return undefined;
    const root = await this.#root().catch(() => undefined);
    if (!root) return undefined;
    const found = await ripgrepCandidates(query, {
      root: root.path,
      folder: path,
      skip: this.#skipped(options),
      timeout: options.sweep.left,
    });
    const depth = segmentsOf(path).length;
    return found?.filter(
      (file) =>
        !segmentsOf(file)
          .slice(depth)
          .some((name) => this.#skips(name, options)),
    );
  }

  async #readFrom(folder: Anchor, path: string): Promise<FileResult<{ content: string }>> {
    const file = await folder.open(nameOf(path), constants.O_RDONLY);
    try {
      const stats = await file.stat();
      if (stats.isDirectory()) return isFolder(path);
      if (!stats.isFile()) return fail(`"${path}" is not a regular file.`, "not-text");
      const { maxBytes } = this;
      if (stats.size > maxBytes) {
        return fail(
          `"${path}" has ${stats.size} bytes; files of up to ${maxBytes} can be read.`,
          "too-large",
        );
      }
      return decodeText(await file.readFile(), path);
    } finally {
      await file.close();
    }
  }

  /** Writes a file, or with `before` only a file that holds that. */
  async #put(path: string, content: string, before?: string): Promise<FileResult<Written>> {
    if (path === "/") return isFolder(path);
    const create = before === undefined;
    return this.#in(parentOf(path), { path, create }, (folder) =>
      exclusive(WRITERS, pathIn(this.#found!.path, path), async () => {
        const old = await folder.stat(nameOf(path));
        if (old?.isDirectory()) return isFolder(path);
        if (old && !old.isFile()) throw new NotPlainError();
        if (!old && !create) return noSuchFile(path);
        const unchanged = async (): Promise<boolean> => {
          const now = create ? undefined : await this.#readFrom(folder, path);
          return !now || (now.ok && now.content === before);
        };
        const swapped = (await unchanged()) && (await replaceFile(folder, { path, content, old, unchanged }));
        return { ok: true, created: !old, swapped };
      }),
    );
  }

  /** The entries of a folder on the way. One that vanished, or became a link, has none. */
  async #entriesToWalk(path: string, sweep: Sweep): Promise<FileEntry[]> {
    try {
      const folder = await this.#enter(path);
      try {
        const entries = await entriesOf(folder, path, sweep);
        await folder.verify();
        return entries;
      } finally {
        await folder.close();
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const isGone = error instanceof NotPlainError || ["ENOENT", "ENOTDIR", "ELOOP"].includes(code ?? "");
      if (isGone) return [];
      explain(error, path); // Throws a bug on.
      sweep.miss(path);
      return [];
    }
  }

  #skipped({ names, all }: WalkOptions): string[] {
    return all ? [] : this.#options.ignore.filter((name) => !names.includes(name));
  }

  #skips(name: string, options: WalkOptions): boolean {
    if (options.all || options.names.includes(name)) return false;
    return this.#ignored.includes(foldName(name));
  }

  /** Runs `act` in a folder and says what went wrong in terms of `path`. */
  async #in<T extends object>(
    place: string,
    { path, create = false }: { path: string; create?: boolean },
    act: (folder: Anchor) => Promise<FileResult<T>>,
  ): Promise<FileResult<T>> {
    try {
      const folder = await this.#enter(place, create);
      try {
        return await act(folder);
      } finally {
        await folder.close();
      }
    } catch (error) {
      return explain(error, path);
    }
  }

  /** Opens a folder in one step that is proven right, or step by step from the root, so that none can be a link. */
  async #enter(path: string, create = false): Promise<Anchor> {
    const root = await this.#root();
    const direct = root.descriptors ? await anchorDirectly(join(root.path, path.slice(1))) : undefined;
    if (direct) return direct;
    let folder = await anchorAt(root.path, root);
    for (const name of segmentsOf(path)) {
      const outer = folder;
      try {
        folder = await outer.enter(name, { create });
      } finally {
        await outer.close();
      }
    }
    return folder;
  }

  async #root(): Promise<Root> {
    if (!this.#found) {
      await mkdir(this.#folder, { recursive: true });
      const path = await realpath(this.#folder);
      this.#found = { path, descriptors: this.#descriptors ?? (await hasDescriptorPaths(path)) };
    }
    return this.#found;
  }

  async #stats(path: string): Promise<FileResult<{ isFile: boolean }>> {
    if (path === "/") return { ok: true, isFile: false };
    return this.#in(parentOf(path), { path }, async (folder) => ({
      ok: true,
      isFile: (await folder.stat(nameOf(path)))?.isFile() ?? false,
    }));
  }
}

/** The plain files and folders in a folder whose names can be written in a path. */
async function entriesOf(folder: Anchor, path: string, sweep: Sweep): Promise<FileEntry[]> {
  const entries: FileEntry[] = [];
  for await (const found of await whenFree(() => opendir(folder.entry(""), { bufferSize: READ_AT_ONCE }))) {
    if (sweep.isDue) await sweep.rest();
    const isDirectory = found.isDirectory();
    if (!isDirectory && (!found.isFile() || isTemporary(found.name))) continue;
    const entry = { name: found.name, path: pathIn(path, found.name), isDirectory };
    const parsed = parsePath(entry.path);
    if (parsed.ok && parsed.path === entry.path) entries.push(entry);
  }
  return entries;
}

async function withSizes(folder: Anchor, entries: readonly FileEntry[]): Promise<FileEntry[]> {
  const sized: FileEntry[] = [];
  const sizeOf = async (entry: FileEntry): Promise<FileEntry> => {
    if (entry.isDirectory) return entry;
    const stats = await lstat(folder.entry(entry.name)).catch(() => undefined);
    return stats ? { ...entry, size: stats.size } : entry;
  };
  for (let at = 0; at < entries.length; at += READ_AT_ONCE) {
    sized.push(...(await Promise.all(entries.slice(at, at + READ_AT_ONCE).map(sizeOf))));
  }
  return sized;
}

/** Entries that are read, or asked for their size, at a time. */
const READ_AT_ONCE = 256;
