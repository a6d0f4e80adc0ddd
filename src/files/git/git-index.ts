import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { relative, sep } from "node:path";
import { attempt } from "../../errors.ts";
import { MAX_GIT_FILE, readRegular } from "./read-regular.ts";
import { repositoryOf } from "./repository.ts";
import { readSettings } from "./settings.ts";

/** A path in git's index. */
export interface IndexEntry {
  /** A byte string: each character is one byte, as names need not be UTF-8. */
  path: string;
  mode: number;
  /** The id of its content. */
  id: string;
}

export interface Index {
  /** A folder stands for all files in it in a sparse index. */
  entries: IndexEntry[];
  /** Whether it cannot be read, or is not as git writes it, so that git may find other entries. */
  isOpaque: boolean;
  /** Whether a second file has entries that these replace. */
  isSplit: boolean;
}

const FOLDER = 0o040000;
const SUBMODULE = 0o160000;
/** The sizes of the file's header, and of an entry before its id. */
const HEADER = 12;
const STATS = 40;
const EXTENDED = 0x4000;
/** The part of an entry's flags with the length of its path, and the value for all longer ones. */
const LENGTH = 0xfff;

/**
 * Reads the index of a repository, given by git's folder, without git: git may run programs of the repository. Empty
 * where there is none. The format: https://git-scm.com/docs/index-format
 */
export function readIndex(folder: string | Buffer): Index {
  const index: Index = { entries: [], isOpaque: false, isSplit: false };
  const bytes = readIn(folder, "index", index);
  if (!bytes) return index;
  const idSize = idSizeOf(folder);
  readAll(bytes, index, idSize);
  if (!index.isSplit) return index;
  for (const name of attempt(() => readdirSync(folder)) ?? []) {
    const shared = name.startsWith("sharedindex.") ? readIn(folder, name, index) : undefined;
    if (shared) readAll(shared, index, idSize);
  }
  return index;
}

function readIn(folder: string | Buffer, name: string, index: Index): Buffer | undefined {
  try {
    return readRegular(pathIn(folder, name));
  } catch {
    index.isOpaque = true;
    return undefined;
  }
}

/** The path of a file in git's folder, whose name need not be UTF-8. */
function pathIn(folder: string | Buffer, name: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder as string), Buffer.from("/"), Buffer.from(name as string)]);
}

/** A damaged file counts up to the damage. */
function readAll(bytes: Buffer, index: Index, idSize: number): void {
  if (attempt(() => readEntries(bytes, index, idSize)) !== true) index.isOpaque = true;
}

/** The bytes of an id. A repository has one hash for all of its objects. */
function idSizeOf(folder: string | Buffer): number {
  const shared = attempt(() => readRegular(pathIn(folder, "commondir"), MAX_GIT_FILE))
    ?.toString("latin1")
    .trim();
  const common =
    shared === undefined
      ? folder
      : shared.startsWith("/")
        ? Buffer.from(shared, "latin1")
        : pathIn(folder, Buffer.from(shared, "latin1"));
  const text = attempt(() => readRegular(pathIn(common, "config"), MAX_GIT_FILE));
  // Only git reads its settings as it does.
  if (!text || !/objectformat/i.test(text.toString("latin1"))) return 20;
  const settings = readSettings(["--file", "-", "--no-includes"], undefined, text) ?? [];
  return settings.findLast(([name]) => name === "extensions.objectformat")?.[1] === "sha256" ? 32 : 20;
}

/** False if git does not write such a file. Throws if it ends too early. */
function readEntries(bytes: Buffer, index: Index, idSize: number): boolean {
  // Git refuses any other file.
  if (bytes.toString("latin1", 0, 4) !== "DIRC") return true;
  const version = bytes.readUInt32BE(4);
  let at = HEADER;
  let path = Buffer.alloc(0);
  /** Where entries start. Only those whose path uses nothing of the one before it can start a block. */
  const starts: { at: number; isWhole: boolean }[] = [];
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
    const start = at;
    const mode = bytes.readUInt32BE(start + 24);
    const id = bytes.toString("hex", start + STATS, start + STATS + idSize);
    at = start + STATS + idSize;
    const flags = bytes.readUInt16BE(at);
    at += flags & EXTENDED ? 4 : 2;
    if (version === 4) {
      // The path is the one before it with other last bytes.
      const removed = readNumber(bytes, at);
      at = removed.end;
      if (removed.value > path.length) return false;
      path = path.subarray(0, path.length - removed.value);
    } else path = Buffer.alloc(0);
    starts.push({ at: start, isWhole: path.length === 0 });
    const end = bytes.indexOf(0, at);
    if (end < 0) return false;
    path = Buffer.concat([path, bytes.subarray(at, end)]);
    // Git goes by the length, and may find other entries.
    if (Math.min(path.length, LENGTH) !== (flags & LENGTH)) return false;
    at = version === 4 ? end + 1 : start + ((end - start + 8) & ~7);
    index.entries.push({ path: path.toString("latin1"), mode, id });
  }
  return readExtensions(bytes, { at, starts, index, idSize });
}

/**
 * Reads the extensions after the entries, each with a name and a size. The last bytes of the file are its hash. False if
 * they send git to other entries: it may read them in blocks, and from the place that the last extension names.
 */
function readExtensions(
  bytes: Buffer,
  { at, starts, index, idSize }: { at: number; starts: Starts; index: Index; idSize: number },
): boolean {
  const end = bytes.length - idSize;
  // The mark of the end of the entries: a name, a size, an offset and a hash.
  const mark = end - 12 - idSize;
  const hasMark = mark >= at && bytes.toString("latin1", mark, mark + 4) === "EOIE";
  if (hasMark && bytes.readUInt32BE(mark + 8) !== at) return false;
  for (let next = at; next + 8 <= end; next += 8 + bytes.readUInt32BE(next + 4)) {
    const name = bytes.toString("latin1", next, next + 4);
    const data = bytes.subarray(next + 8, next + 8 + bytes.readUInt32BE(next + 4));
    index.isSplit ||= name === "link";
    if (name === "IEOT" && !areBlocks(data, starts)) return false;
  }
  return true;
}

type Starts = readonly { at: number; isWhole: boolean }[];

/** Whether a table of blocks, after its version, gives the offset and the number of all entries in their order. */
function areBlocks(table: Buffer, starts: Starts): boolean {
  let first = 0;
  for (let at = 4; at + 8 <= table.length; at += 8) {
    const start = starts[first];
    if (!start?.isWhole || start.at !== table.readUInt32BE(at)) return false;
    first += table.readUInt32BE(at + 4);
  }
  return first === starts.length;
}

/** Git's numbers of variable size: each byte but the last adds one to what follows. */
function readNumber(bytes: Buffer, at: number): { value: number; end: number } {
  let byte = bytes.readUInt8(at);
  let value = byte & 0x7f;
  while (byte & 0x80) {
    at += 1;
    byte = bytes.readUInt8(at);
    value = (value + 1) * 0x80 + (byte & 0x7f);
  }
  return { value, end: at + 1 };
}

/** Whether the index of a root's repository has these bytes for a file below the root. */
export function isStaged(root: string, file: string, bytes: Uint8Array): boolean {
  const repository = repositoryOf(root);
  if (!repository) return false;
  const path = Buffer.from(relative(repository.top, file).split(sep).join("/")).toString("latin1");
  const id = readIndex(repository.folder).entries.find((entry) => entry.path === path)?.id;
  if (id === undefined) return false;
  const hash = createHash(id.length === 64 ? "sha256" : "sha1");
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest("hex") === id;
}

/** The paths of the submodules in an index: of all entries if others may replace them. */
export function submodulesIn({ entries, isSplit }: Index): string[] {
  return entries.filter(({ mode }) => isSplit || mode === SUBMODULE).map(({ path }) => path);
}

/** The folders that stand for all files in them. */
export function foldersIn({ entries }: Index): string[] {
  return entries.filter(({ mode }) => mode === FOLDER).map(({ path }) => path.replace(/\/$/, ""));
}
