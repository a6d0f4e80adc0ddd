import { readFileSync } from "node:fs";
import { hasContent, PAGE_BYTES, readStart } from "../sqlite/file/index.ts";

const HEAD_BYTES = 32;
const FRAME_HEAD_BYTES = 24;
const FRAME_BYTES = FRAME_HEAD_BYTES + PAGE_BYTES;

/**
 * The damage in the write-ahead log beside a file, if any. SQLite silently reads a log up to the first frame that does not
 * match its checksum, as after a power cut; a commit behind that frame is lost. A killed process leaves none. The damage
 * can be detected until the log is overwritten.
 */
export function walDamage(file: string): string | undefined {
  if (!hasContent(`${file}-wal`)) return undefined;
  const log = readFileSync(`${file}-wal`);
  if (log.length < HEAD_BYTES) return undefined;
  const frames = Math.floor((log.length - HEAD_BYTES) / FRAME_BYTES);
  const frameAt = (at: number): Buffer =>
    log.subarray(HEAD_BYTES + at * FRAME_BYTES).subarray(0, FRAME_BYTES);
  const sum = new Checksum(log);
  sum.add(log.subarray(0, 24));
  const isHeadIntact = sum.matches(log, 24);
  // Every frame repeats the salts of its log; behind the frames of this log may be those of an earlier one.
  const salts = isHeadIntact ? log.subarray(16, 24) : frameAt(0).subarray(8, 16);
  const isOfThisLog = (frame: Buffer): boolean => frame.subarray(8, 16).equals(salts);
  const isNext = (frame: Buffer): boolean => {
    sum.add(frame.subarray(0, 8));
    sum.add(frame.subarray(FRAME_HEAD_BYTES));
    return isOfThisLog(frame) && sum.matches(frame, 16);
  };
  let intact = isHeadIntact ? 0 : -1;
  while (intact >= 0 && intact < frames && isNext(frameAt(intact))) intact += 1;
  let lost = 0;
  for (let at = intact + 1; at < frames; at++) {
    const frame = frameAt(at);
    // The size of the file after a commit stands in its last frame alone.
    if (isOfThisLog(frame) && frame.readUInt32BE(4) > 0) lost += 1;
  }
  // A writer that has restarted the log meanwhile has written its head first.
  const isSame = readStart(`${file}-wal`, HEAD_BYTES).equals(log.subarray(0, HEAD_BYTES));
  return lost > 0 && isSame ? `its log is damaged: of the newest commits ${lost} are lost` : undefined;
}

/** SQLite's running checksum of the log: over 32-bit numbers in the byte order of the log. */
class Checksum {
  readonly #isBigEndian: boolean;
  #first = 0;
  #second = 0;

  constructor(log: Buffer) {
    this.#isBigEndian = (log.readUInt32BE(0) & 1) === 1;
  }

  add(bytes: Buffer): void {
    const read = (at: number): number =>
      this.#isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at);
    for (let at = 0; at + 8 <= bytes.length; at += 8) {
      this.#first = (this.#first + read(at) + this.#second) >>> 0;
      this.#second = (this.#second + read(at + 4) + this.#first) >>> 0;
    }
  }

  matches(bytes: Buffer, at: number): boolean {
    return bytes.readUInt32BE(at) === this.#first && bytes.readUInt32BE(at + 4) === this.#second;
  }
}
