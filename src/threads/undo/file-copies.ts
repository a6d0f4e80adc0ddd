import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, sep } from "node:path";
import { attempt } from "../../errors.ts";
import { pathMeant } from "../../files/disk/index.ts";
import { isMutation } from "../../middleware/tools/index.ts";
import type { RunEvent } from "../events/index.ts";

/** Larger files are not copied; the file tools write none. */
const MOST_BYTES = 10_000_000;
/** The most bytes to copy per turn. */
const MOST_OF_TURN = 50_000_000;
/** The most files to copy of a deleted folder. */
const MOST_FILES = 1000;
/** The most turns of a thread with copies. */
const MOST_TURNS = 20;

interface FileCopy {
  /** The copy of the file, named by its hash; null if there was no file. */
  before: { hash: string; bytes: number; mode: number } | null;
  /** The agent's result: the hash of the content, or null if it left no file. */
  after?: string | null;
  /** Whether someone else changed the file between two calls of the agent, so that it cannot be restored. */
  isShared?: true;
}

/** The copies of a turn, by path. */
interface TurnCopies {
  files: Map<string, FileCopy>;
  /** Paths without a copy (a folder stands for its content), with a fingerprint to detect changes. */
  missed: Map<string, string>;
}

export interface Restored {
  restored: string[];
  /** Not restored, because someone else has changed them, too. */
  changed: string[];
  /** Changed or deleted, and without a copy. */
  missed: string[];
}

interface FileCopiesOptions {
  folder: string;
  thread: string;
  dir: string;
  /** Receives the first failure to copy. Calls continue without copies. */
  onFailure?: (error: Error) => void;
}

/** The copies of a thread; undefined without a directory, or without a folder for copies. */
export function fileCopies(
  options: Omit<FileCopiesOptions, "folder" | "dir"> & Record<"folder" | "dir", string | undefined>,
): FileCopies | undefined {
  const { folder, dir } = options;
  return folder === undefined || dir === undefined ? undefined : new FileCopies({ ...options, folder, dir });
}

/**
 * Copies of the files of a directory before the calls of a turn changed them. Files that commands change are not copied, as
 * it is not known which these are.
 */
export class FileCopies {
  readonly #folder: string;
  readonly #dir: string;
  #onFailure: (error: Error) => void;
  #id = "";
  /** The bytes that can still be copied in the turn. */
  #room = MOST_OF_TURN;
  #turn: TurnCopies = { files: new Map(), missed: new Map() };

  constructor({ folder, thread, dir, onFailure = () => {} }: FileCopiesOptions) {
    this.#folder = copiesOf(folder, thread);
    this.#dir = realpathSync(dir);
    this.#onFailure = onFailure;
  }

  /** Starts or continues a turn: further copies belong to it. */
  begin(turn: string): void {
    this.#id = turn;
    this.#turn = this.#read(turn);
    const sizes = [...this.#turn.files.values()].map(({ before }) => before?.bytes ?? 0);
    this.#room = sizes.reduce((room, size) => room - size, MOST_OF_TURN);
  }

  /** Makes copies by the events of a run: a call waits until its first event was handled. */
  readonly follow = (event: RunEvent): void => {
    if (event.type === "tool-start") this.beforeCall(event.name, event.args);
    if (event.type === "tool-end") this.afterCall(event.name, event.args);
  };

  beforeCall(name: string, args: unknown): void {
    this.#about(name, args, (path) => {
      const { files, isAll } = filesAt(path);
      for (const file of files) {
        const copy = this.#turn.files.get(file);
        if (!copy && !this.#isMissed(file)) this.#copy(file);
        else if (copy?.after !== undefined && hashAt(file) !== copy.after) copy.isShared = true;
      }
      if (!isAll) this.#miss(path + sep);
    });
  }

  afterCall(name: string, args: unknown): void {
    this.#about(name, args, (path) => {
      for (const [file, copy] of this.#turn.files) {
        const after = file === path || file.startsWith(path + sep) ? hashAt(file) : undefined;
        if (after !== undefined) copy.after = after;
      }
    });
  }

  /**
   * Restores the files of a turn, except those that someone else has changed. A file of a call that did not end counts as
   * such, as its author is unknown. `paths` are those that the turn is known to have changed: the copies of an old turn are
   * gone, and those of another machine are there.
   */
  restore(turn: string, paths: readonly string[] = []): Restored {
    const { files, missed } = this.#read(turn);
    if (files.size === 0 && missed.size === 0) {
      const changed = paths.flatMap((path) => this.#pathOf("write_file", { file_path: path }) ?? []);
      for (const path of changed) missed.set(path, "unknown");
    }
    const inside = (path: string): string => path.slice(this.#dir.length);
    const result: Restored = {
      restored: [],
      changed: [],
      missed: [...missed].flatMap(([path, stamp]) => (stampOf(path) === stamp ? [] : [inside(path)])),
    };
    for (const [path, { before, after, isShared }] of files) {
      const now = hashAt(path);
      if (now === (before && before.hash)) continue;
      const copy = before && contentOf(join(this.#folderOf(turn), before.hash));
      const isWhole = !before || (copy && hashOf(copy) === before.hash);
      if (!this.#isInside(path) || isShared || after === undefined || now !== after)
        result.changed.push(inside(path));
      else if (!isWhole) result.missed.push(inside(path));
      else {
        if (before && copy) putBack(path, copy, before.mode);
        else rmSync(path, { force: true });
        result.restored.push(inside(path));
      }
    }
    return result;
  }

  forget(turn: string): void {
    rmSync(this.#folderOf(turn), { recursive: true, force: true });
  }

  /** Does work for the file that a call changes, if it changes one. */
  #about(name: string, args: unknown, work: (path: string) => void): void {
    try {
      const path = this.#pathOf(name, args);
      if (path === undefined) return;
      work(path);
      this.#save();
    } catch (error) {
      this.#onFailure(error as Error);
      this.#onFailure = () => {};
    }
  }

  #copy(file: string): void {
    const { files, missed } = this.#turn;
    const content = contentOf(file);
    if (content === null) return void files.set(file, { before: null });
    // Until the copy is made.
    this.#miss(file);
    if (content === undefined || content.length > this.#room) return;
    const { mode } = lstatSync(file);
    const hash = hashOf(content);
    if (!existsSync(join(this.#folderOf(this.#id), hash))) this.#write(hash, content);
    this.#room -= content.length;
    files.set(file, { before: { hash, bytes: content.length, mode: mode & 0o777 } });
    missed.delete(file);
  }

  #miss(path: string): void {
    const { missed } = this.#turn;
    if (!missed.has(path)) missed.set(path, stampOf(path));
  }

  /** Whether a file or a folder around it was not copied in time: its current content is not that before the turn. */
  #isMissed(file: string): boolean {
    const { missed } = this.#turn;
    for (let folder = dirname(file); folder.startsWith(this.#dir); folder = dirname(folder))
      if (missed.has(folder + sep)) return true;
    return missed.has(file);
  }

  #pathOf(name: string, args: unknown): string | undefined {
    const { file_path: raw } = (args ?? {}) as { file_path?: unknown };
    if (!isMutation(name) || typeof raw !== "string") return undefined;
    const inside = pathMeant(raw, this.#dir);
    const path = inside === undefined ? undefined : join(this.#dir, inside);
    return path !== undefined && this.#isInside(path) ? path : undefined;
  }

  /** Whether a path is in the directory, also after following links. */
  #isInside(path: string): boolean {
    for (let folder = dirname(path); folder.startsWith(this.#dir); folder = dirname(folder)) {
      // Undefined if the folder does not exist.
      const real = attempt(() => realpathSync(folder));
      if (real !== undefined) return real === this.#dir || real.startsWith(this.#dir + sep);
    }
    return false;
  }

  #folderOf(turn: string): string {
    return join(this.#folder, encodeURIComponent(turn));
  }

  #read(turn: string): TurnCopies {
    try {
      const text = readFileSync(join(this.#folderOf(turn), INDEX), "utf8");
      const { files, missed } = JSON.parse(text) as {
        files: [string, FileCopy][];
        missed: [string, string][];
      };
      return { files: new Map(files), missed: new Map(missed) };
    } catch (error) {
      const isNew = (error as NodeJS.ErrnoException).code === "ENOENT";
      // An unreadable index: nothing in the directory can be restored.
      return { files: new Map(), missed: new Map(isNew ? [] : [[this.#dir + sep, ""]]) };
    }
  }

  #save(): void {
    const { files, missed } = this.#turn;
    this.#write(INDEX, JSON.stringify({ files: [...files], missed: [...missed] }));
    const turns = readdirSync(this.#folder).map((name) => join(this.#folder, name));
    if (turns.length <= MOST_TURNS) return;
    const age = (file: string): number => lstatSync(file).mtimeMs;
    for (const old of turns.toSorted((a, b) => age(b) - age(a)).slice(MOST_TURNS))
      rmSync(old, { recursive: true, force: true });
  }

  /** Writes a file atomically, so that no half-written copy is ever restored. */
  #write(name: string, content: string | Buffer): void {
    const folder = this.#folderOf(this.#id);
    const draft = join(folder, `${name}.draft`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(draft, content, { mode: 0o600 });
    renameSync(draft, join(folder, name));
  }
}

const INDEX = "index.json";

/** The folder of a thread's copies. By hash: an id may be `..`, or differ from another only by case. */
export function copiesOf(folder: string, thread: string): string {
  return join(folder, hashOf(thread));
}

/** The files of a folder at any depth, up to `MOST_FILES`; the path itself if it is no folder. */
function filesAt(path: string): { files: string[]; isAll: boolean } {
  const files: string[] = [];
  const folders = isFolder(path) ? [path] : [];
  if (folders.length === 0) return { files: [path], isAll: true };
  // Not all at once: reading a large tree takes seconds.
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) folders.push(join(folder, entry.name));
      else files.push(join(folder, entry.name));
      if (files.length > MOST_FILES) return { files: files.slice(0, MOST_FILES), isAll: false };
    }
  }
  return { files, isAll: true };
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Null if there is no file; undefined if it is not a plain file, too large, or unreadable. */
function contentOf(path: string): Buffer | null | undefined {
  return attempt(() => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) return null;
    return stats.isFile() && stats.size <= MOST_BYTES ? readFileSync(path) : undefined;
  });
}

function hashAt(path: string): string | null | undefined {
  const content = contentOf(path);
  return content && hashOf(content);
}

/** A fingerprint that differs after a change; empty if there is nothing. */
function stampOf(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs}` : "";
}

function putBack(path: string, content: Buffer, mode: number): void {
  const isNew = lstatSync(path, { throwIfNoEntry: false }) === undefined;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  if (isNew) chmodSync(path, mode);
}

function hashOf(content: Buffer | string): string {
  return createHash("sha256").update(content).digest("hex");
}
