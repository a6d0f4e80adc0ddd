import type { FileEntry } from "../backend/index.ts";
import { parsePath, isWithin, pathIn } from "../paths/index.ts";
import { packBytes } from "./packed.ts";

/** A change of one file. Null means that there was, or is, no file. */
export interface FileChange {
  base: string | null;
  content: string | null;
}

/** Files by path, which remembers under which key each one was seeded or first written. */
export class FileTable {
  readonly #contents = new Map<string, string>();
  readonly #keys = new Map<string, string>();

  /** Takes what is text out of `files`, whatever that is. Of two keys for one path, the first counts. */
  constructor(files: unknown) {
    for (const [key, file] of entriesIn(files)) {
      const path = pathOfKey(key);
      const content = textOfFile(file);
      if (content !== undefined && !this.#contents.has(path)) this.setKey(key, content);
    }
  }

  get(path: string): string | undefined {
    return this.#contents.get(path);
  }

  set(path: string, content: string): void {
    this.#contents.set(path, content);
  }

  /** Sets a file by a key in any spelling; the key stays with a file that has none yet. */
  setKey(key: string, content: string): void {
    this.spell(key);
    this.set(pathOfKey(key), content);
  }

  delete(path: string): void {
    this.#contents.delete(path);
  }

  /** Makes `key` the spelling of its file, unless that has one: then, and after a delete too, it keeps that. */
  spell(key: string): void {
    const path = pathOfKey(key);
    if (!this.#keys.has(path)) this.#keys.set(path, key);
  }

  keyOf(path: string): string {
    return this.#keys.get(path) ?? path;
  }

  /** All paths; a key that is not a path is kept, but is not among them. */
  paths(): string[] {
    return [...this.#contents.keys()].filter((path) => path.startsWith("/"));
  }

  toRecord(): Record<string, string> {
    return Object.fromEntries([...this.#contents].map(([path, content]) => [this.keyOf(path), content]));
  }

  /** The changes from this table to a later one. */
  changesTo(later: FileTable): Record<string, FileChange> {
    const paths = new Set([...this.#contents.keys(), ...later.#contents.keys()]);
    const changes: [string, FileChange][] = [];
    for (const path of paths) {
      const change = { base: this.get(path) ?? null, content: later.get(path) ?? null };
      if (change.base !== change.content) changes.push([later.keyOf(path), change]);
    }
    return Object.fromEntries(changes);
  }
}

/** The text of a file: the text itself, or a record with its `content`, as DeepAgents keeps files. */
export function textOfFile(file: unknown): string | undefined {
  if (typeof file === "string") return file;
  const { content } = Object.fromEntries(entriesIn(file));
  if (Array.isArray(content)) return content.join("\n");
  if (content instanceof Uint8Array) return packBytes(content);
  return typeof content === "string" ? content : undefined;
}

/** The path that a key stands for, or the key itself. */
export function pathOfKey(key: string): string {
  const parsed = parsePath(key);
  return parsed.ok && parsed.path !== "/" ? parsed.path : `key:${key}`;
}

/** The entries of a record; none of anything else. */
export function entriesIn(value: unknown): [string, unknown][] {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

/** The direct entries of a folder, from files with their sizes. Folders are where files are below them. */
export function entriesOf(
  folder: string,
  files: Iterable<readonly [path: string, size: number]>,
): FileEntry[] {
  const entries = new Map<string, FileEntry>();
  const prefix = pathIn(folder, "");
  for (const [file, size] of files) {
    if (file === folder || !isWithin(file, folder)) continue;
    const end = file.indexOf("/", prefix.length);
    const isDirectory = end >= 0;
    const name = file.slice(prefix.length, isDirectory ? end : undefined);
    // A seed may hold a file and a folder of one name: both are shown.
    const key = isDirectory ? `${name}/` : name;
    entries.set(key, { name, path: pathIn(folder, name), isDirectory, ...(!isDirectory && { size }) });
  }
  return [...entries.values()];
}
