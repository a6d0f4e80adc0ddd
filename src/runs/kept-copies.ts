import { createHash } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, sep } from "node:path";
import { isMutation } from "../middleware/files/mutations.ts";

/** A larger file is not kept. */
const MOST_BYTES = 5_000_000;
/** Of a folder that is deleted, no more files are kept. */
const MOST_FILES = 1000;
/** Copies of so many turns are kept of a thread. */
const MOST_TURNS = 20;

interface Kept {
  /** The content before, in base64; null where there was no file. */
  before: string | null;
  /** What the agent left: the hash of the content, or null where it left no file. */
  after?: string | null;
  /** Whether somebody else changed it between two calls of the agent: nobody could tell their work from the agent's. */
  isShared?: true;
}

type Turn = Record<string, Kept>;

/**
 * Files of a directory as they were before the calls of a turn changed them, kept beside the threads. Commands change
 * files, too, and nobody knows which: those are not here.
 */
export class KeptCopies {
  readonly #folder: string;
  readonly #dir: string;
  #turn = "";
  #files: Turn = {};

  constructor({ folder, thread, dir }: { folder: string; thread: string; dir: string }) {
    this.#folder = copiesOf(folder, thread);
    this.#dir = realpathSync(dir);
  }

  /** A turn begins or goes on: what is kept from now on belongs to it. */
  begin(turn: string): void {
    this.#turn = turn;
    this.#files = readTurn(this.#fileOf(turn));
  }

  /** Called before a call is made; it waits until this returns. */
  beforeCall(name: string, args: unknown): void {
    const path = this.#pathOf(name, args);
    if (path === undefined) return;
    for (const file of filesAt(path)) {
      const content = contentOf(file);
      const kept = this.#files[file];
      if (kept?.after !== undefined && (content && hashOf(content)) !== kept.after) kept.isShared = true;
      if (!kept && content !== undefined)
        this.#files[file] = { before: content && content.toString("base64") };
    }
    this.#save();
  }

  /** Called when a call has ended. */
  afterCall(name: string, args: unknown): void {
    const path = this.#pathOf(name, args);
    if (path === undefined) return;
    for (const [file, kept] of Object.entries(this.#files)) {
      const content = file === path || file.startsWith(path + sep) ? contentOf(file) : undefined;
      if (content !== undefined) kept.after = content && hashOf(content);
    }
    this.#save();
  }

  /**
   * Puts the files of a turn back. Those that somebody else has changed are left as they are, and named: where a call
   * did not come to its end, nobody knows who did.
   */
  restore(turn: string): { restored: string[]; changed: string[] } {
    const [restored, changed]: [string[], string[]] = [[], []];
    for (const [path, { before, after, isShared }] of Object.entries(readTurn(this.#fileOf(turn)))) {
      const content = contentOf(path);
      if (content !== undefined && (content && content.toString("base64")) === before) continue;
      if (
        !this.#isInside(path) ||
        isShared ||
        after === undefined ||
        (content && hashOf(content)) !== after
      ) {
        changed.push(path);
        continue;
      }
      if (before === null) rmSync(path, { force: true });
      else {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, Buffer.from(before, "base64"));
      }
      restored.push(path);
    }
    const inside = (path: string): string => path.slice(this.#dir.length);
    return { restored: restored.map(inside), changed: changed.map(inside) };
  }

  /** Deletes the copies of a turn. */
  forget(turn: string): void {
    rmSync(this.#fileOf(turn), { force: true });
  }

  #pathOf(name: string, args: unknown): string | undefined {
    const { file_path: given } = (typeof args === "object" && args !== null ? args : {}) as {
      file_path?: unknown;
    };
    if (!isMutation(name) || typeof given !== "string") return undefined;
    const path = given.startsWith(this.#dir + sep) ? join(given) : join(this.#dir, given);
    return this.#isInside(path) ? path : undefined;
  }

  /** Not through a link that leads out. */
  #isInside(path: string): boolean {
    for (let folder = dirname(path); folder.startsWith(this.#dir); folder = dirname(folder)) {
      try {
        const real = realpathSync(folder);
        return real === this.#dir || real.startsWith(this.#dir + sep);
      } catch {
        // It is not there yet.
      }
    }
    return false;
  }

  #fileOf(turn: string): string {
    return join(this.#folder, `${encodeURIComponent(turn)}.json`);
  }

  #save(): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    writeFileSync(this.#fileOf(this.#turn), JSON.stringify(this.#files), { mode: 0o600 });
    const turns = readdirSync(this.#folder).map((name) => join(this.#folder, name));
    if (turns.length <= MOST_TURNS) return;
    const age = (file: string): number => lstatSync(file).mtimeMs;
    for (const old of turns.toSorted((a, b) => age(b) - age(a)).slice(MOST_TURNS))
      rmSync(old, { force: true });
  }
}

/** Where the copies of a thread are. By hash: a thread may be named `..`, or differ from another by case alone. */
export function copiesOf(folder: string, thread: string): string {
  return join(folder, hashOf(thread));
}

/** The files of a folder, as far as they are kept; anything else itself. */
function filesAt(path: string): string[] {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path];
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .slice(0, MOST_FILES)
    .map(({ parentPath, name }) => join(parentPath, name));
}

/** Null where there is no file; undefined for what is no plain file, or too large. */
function contentOf(path: string): Buffer | null | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return null;
  return found.isFile() && found.size <= MOST_BYTES ? readFileSync(path) : undefined;
}

function readTurn(file: string): Turn {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Turn;
  } catch {
    return {};
  }
}

function hashOf(content: Buffer | string): string {
  return createHash("sha256").update(content).digest("hex");
}
