import { readFileSync, statSync } from "node:fs";
import { uptime } from "node:os";
import { attempt } from "../../../errors.ts";
import { isOpenHere } from "../database/index.ts";
import { PAGE_BYTES } from "./header.ts";

const HEAD_BYTES = 32;
const FRAME_HEAD_BYTES = 24;
const FRAME_BYTES = FRAME_HEAD_BYTES + PAGE_BYTES;

/** Commits that are missing in the write-ahead log next to a file. */
export interface WalDamage {
  what: string;
  /** Whether the machine was started since: commits are not flushed one by one, so a power cut may undo the newest. */
  isPowerCut: boolean;
}

/**
 * Detects missing commits in the write-ahead log next to a file: SQLite silently reads a log only up to the first frame that
 * does not match its checksum. Further frames of the same log show that a byte was changed, and the index that a killed
 * process leaves (`-shm`) has the number of frames, also of a log that was cut. Call before SQLite opens the file, which
 * rewrites both.
 */
export function walDamage(file: string): WalDamage | undefined {
  const damage = findDamage(file);
  // Another process may append frames while they are read: real damage is still there at a second look.
  return damage && damage.what === findDamage(file)?.what ? damage : undefined;
}

function findDamage(file: string): WalDamage | undefined {
  const index = indexOf(file);
  const log = readOrEmpty(`${file}-wal`);
  if (log.length < HEAD_BYTES) {
    const frames = index ? index.frames - index.copied : 0;
    return frames > 0 ? damageOf("it is gone", index!.isOld) : undefined;
  }
  const { intact, commits, salts } = framesOf(log);
  // A writer that has restarted the log in the meantime wrote its head first.
  if (!readOrEmpty(`${file}-wal`).subarray(0, HEAD_BYTES).equals(log.subarray(0, HEAD_BYTES)))
    return undefined;
  if (commits > 0) return damageOf(`of the newest commits ${commits} are lost`, false);
  const isOfThisLog = index?.salts.equals(salts) === true;
  if (!isOfThisLog || index.frames <= Math.max(intact, 0)) return undefined;
  return damageOf("the newest commits are lost", index.isOld);
}

function damageOf(what: string, isPowerCut: boolean): WalDamage {
  return { what: `its log is damaged: ${what}`, isPowerCut };
}

/** The number of intact frames at the beginning of a log, and of commits after the first damaged frame. */
function framesOf(log: Buffer): { intact: number; commits: number; salts: Buffer } {
  const frames = Math.floor((log.length - HEAD_BYTES) / FRAME_BYTES);
  const frameAt = (at: number): Buffer =>
    log.subarray(HEAD_BYTES + at * FRAME_BYTES).subarray(0, FRAME_BYTES);
  const sum = new Checksum(log);
  sum.add(log.subarray(0, 24));
  const isHeadIntact = sum.matches(log, 24);
  // Every frame repeats the salts of its log; the frames of an earlier log may follow those of this one.
  const salts = isHeadIntact ? log.subarray(16, 24) : frameAt(0).subarray(8, 16);
  const isOfThisLog = (frame: Buffer): boolean => frame.subarray(8, 16).equals(salts);
  const isNext = (frame: Buffer): boolean => {
    sum.add(frame.subarray(0, 8));
    sum.add(frame.subarray(FRAME_HEAD_BYTES));
    return isOfThisLog(frame) && sum.matches(frame, 16);
  };
  let intact = isHeadIntact ? 0 : -1;
  while (intact >= 0 && intact < frames && isNext(frameAt(intact))) intact += 1;
  let commits = 0;
  for (let at = intact + 1; at < frames; at++) {
    const frame = frameAt(at);
    // Only the last frame of a commit has the size of the file.
    if (isOfThisLog(frame) && frame.readUInt32BE(4) > 0) commits += 1;
  }
  return { intact, commits, salts };
}

interface WalIndex {
  /** The number of committed frames, and of those that are already copied to the file. */
  frames: number;
  copied: number;
  salts: Buffer;
  /** Whether it was written before this machine was started. */
  isOld: boolean;
}

/** SQLite's index of a log, in the machine's byte order: two equal heads of 48 bytes, and the state of checkpoints. */
function indexOf(file: string): WalIndex | undefined {
  // Closing a descriptor of it would drop SQLite's locks.
  if (isOpenHere(file)) return undefined;
  const index = readOrEmpty(`${file}-shm`);
  if (index.length < 100 || !index.subarray(0, 48).equals(index.subarray(48, 96))) return undefined;
  const { mtimeMs } = statSync(`${file}-shm`, { throwIfNoEntry: false }) ?? { mtimeMs: 0 };
  return {
    frames: index.readUInt32LE(16),
    copied: index.readUInt32LE(96),
    salts: index.subarray(32, 40),
    isOld: mtimeMs < Date.now() - uptime() * 1000,
  };
}

function readOrEmpty(path: string): Buffer {
  return attempt(() => readFileSync(path)) ?? Buffer.alloc(0);
}

/** SQLite's running checksum of the log: over 32-bit numbers in the byte order of the log. */
class Checksum {
  readonly #isLittleEndian: boolean;
  #first = 0;
  #second = 0;

  constructor(log: Buffer) {
    this.#isLittleEndian = (log.readUInt32BE(0) & 1) === 0;
  }

  add(bytes: Buffer): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let [first, second] = [this.#first, this.#second];
    for (let at = 0; at + 8 <= bytes.length; at += 8) {
      first = (first + view.getUint32(at, this.#isLittleEndian) + second) | 0;
      second = (second + view.getUint32(at + 4, this.#isLittleEndian) + first) | 0;
    }
    [this.#first, this.#second] = [first, second];
  }

  matches(bytes: Buffer, at: number): boolean {
    return bytes.readInt32BE(at) === this.#first && bytes.readInt32BE(at + 4) === this.#second;
  }
}
