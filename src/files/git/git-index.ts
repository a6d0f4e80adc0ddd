import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { attempt } from "../../errors.ts";
import { repositoryOf } from "./repository.ts";

/** A path in git's index. */
export interface IndexEntry {
  path: string;
  mode: number;
  /** The id of its content. */
  id: string;
}

export interface Index {
  entries: IndexEntry[];
  /** Whether a folder of the index stands for all files in it. Only git can tell which those are. */
  isSparse: boolean;
  /** Whether a second file has entries that these replace. */
  isSplit: boolean;
}

const FOLDER = 0o040000;
const SUBMODULE = 0o160000;
/** The sizes of the file's header, and of an entry before its id. */
const HEADER = 12;
const STATS = 40;
const EXTENDED = 0x4000;

/**
 * Reads the index of a repository, given by git's folder, without git: git may run programs of the repository. Empty
 * where there is none. The format: https://git-scm.com/docs/index-format
 */
export function readIndex(folder: string): Index {
  const index: Index = { entries: [], isSparse: false, isSplit: false };
  const bytes = attempt(() => readFileSync(join(folder, "index")));
  if (!bytes) return index;
  const idSize = idSizeOf(folder);
  // A damaged file counts up to the damage.
  attempt(() => readEntries(bytes, index, idSize));
  if (!index.isSplit) return index;
  for (const name of attempt(() => readdirSync(folder)) ?? []) {
    const shared = name.startsWith("sharedindex.") && attempt(() => readFileSync(join(folder, name)));
    if (shared) attempt(() => readEntries(shared, index, idSize));
  }
  return index;
}

/** The bytes of an id. A repository has one hash for all of its objects. */
function idSizeOf(folder: string): number {
  const shared = attempt(() => readFileSync(join(folder, "commondir"), "utf8").trim()) ?? ".";
  const settings = attempt(() => readFileSync(join(folder, shared, "config"), "utf8")) ?? "";
  return /^\s*objectformat\s*=\s*"?sha256/im.test(settings) ? 32 : 20;
}

function readEntries(bytes: Buffer, index: Index, idSize: number): void {
  if (bytes.toString("latin1", 0, 4) !== "DIRC") return;
  const version = bytes.readUInt32BE(4);
  let at = HEADER;
  let path = Buffer.alloc(0);
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
    const start = at;
    const mode = bytes.readUInt32BE(start + 24);
    const id = bytes.toString("hex", start + STATS, start + STATS + idSize);
    at = start + STATS + idSize;
    at += bytes.readUInt16BE(at) & EXTENDED ? 4 : 2;
    if (version === 4) {
      // The path is the one before it with other last bytes.
      const removed = readNumber(bytes, at);
      at = removed.end;
      path = path.subarray(0, path.length - removed.value);
    } else path = Buffer.alloc(0);
    const end = bytes.indexOf(0, at);
    if (end < 0) return;
    path = Buffer.concat([path, bytes.subarray(at, end)]);
    at = version === 4 ? end + 1 : start + ((end - start + 8) & ~7);
    index.entries.push({ path: path.toString(), mode, id });
    index.isSparse ||= mode === FOLDER;
  }
  // Extensions follow, each with a name and a size. The last bytes of the file are its hash.
  for (; at + 8 <= bytes.length - idSize; at += 8 + bytes.readUInt32BE(at + 4)) {
    const name = bytes.toString("latin1", at, at + 4);
    index.isSplit ||= name === "link";
    index.isSparse ||= name === "sdir";
  }
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
  const path = relative(repository.top, file).split(sep).join("/");
  const id = readIndex(repository.folder).entries.find((entry) => entry.path === path)?.id;
  if (id === undefined) return false;
  const hash = createHash(id.length === 64 ? "sha256" : "sha1");
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest("hex") === id;
}

/** The paths of the submodules in an index: of all entries if others may replace them. */
export function submodulesIn({ entries, isSplit }: Index): string[] {
  return entries.filter(({ mode }) => isSplit || mode === SUBMODULE).map(({ path }) => path);
}
