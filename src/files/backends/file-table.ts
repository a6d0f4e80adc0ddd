import type { FileEntry } from "../backend/index.ts";
import { parsePath, isWithin, pathIn } from "../paths/index.ts";
import { packBytes } from "./packed.ts";

/** A change of one file. Null: the file does not exist. */
export interface FileChange {
  base: string | null;
  content: string | null;
}

/** Files by path. Remembers the key under which each file was seeded or first written. */
export class FileTable {
  readonly #contents = new Map<string, string>();
  readonly #keys = new Map<string, string>();

  /** Takes the text files from any value. If two keys mean one path, the first one counts. */
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

  /** Sets a file by a key in any spelling, and remembers the key if the file has none yet. */
  setKey(key: string, content: string): void {
    this.spell(key);
    this.set(pathOfKey(key), content);
  }

  delete(path: string): void {
    this.#contents.delete(path);
  }

  /** Remembers the key of a file. The first one stays, also after a delete. */
  spell(key: string): void {
    const path = pathOfKey(key);
    if (!this.#keys.has(path)) this.#keys.set(path, key);
  }

  keyOf(path: string): string {
    return this.#keys.get(path) ?? path;
  }

  /** All valid paths, without the keys that are no path. */
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

/** The text of a file: a string, or a record with `content` as in DeepAgents. */
export function textOfFile(file: unknown): string | undefined {
  if (typeof file === "string") return file;
  const { content } = Object.fromEntries(entriesIn(file));
  if (Array.isArray(content)) return content.join("\n");
  if (content instanceof Uint8Array) return packBytes(content);
  return typeof content === "string" ? content : undefined;
}

/** The path of a key; for a key that is no path, the key with a prefix. */
export function pathOfKey(key: string): string {
  const parsed = parsePath(key);
  return parsed.ok && parsed.path !== "/" ? parsed.path : `key:${key}`;
}

/** The entries of a record; none for any other value. */
export function entriesIn(value: unknown): [string, unknown][] {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

/** The direct entries of a folder, from files with their sizes. */
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
    // A seed may have a file and a folder of the same name: both are listed.
    const key = isDirectory ? `${name}/` : name;
    entries.set(key, { name, path: pathIn(folder, name), isDirectory, ...(!isDirectory && { size }) });
  }
  return [...entries.values()];
}
