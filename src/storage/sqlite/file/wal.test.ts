import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { rounds } from "../../../../test/helpers/runner/rounds.ts";
import { sqliteSaver } from "../../sqlite.ts";

const FRAME = 24 + 4096;
const SUFFIXES = ["", "-wal", "-shm"];
const LAST = "turn 12";

let folder: string;
/** The files that a killed process leaves. */
let killed: string;
let file: string;
let frames: number;
let next = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-wal-"));
  const live = join(folder, "live.db");
  const saver = await sqliteSaver(live);
  for (let turn = 1; turn <= 12; turn++) {
    const checkpoint = { ...emptyCheckpoint(), channel_values: { said: `turn ${turn}` } };
    const metadata = { source: "loop" as const, step: turn, parents: {} };
    await saver.put({ configurable: { thread_id: "t", checkpoint_ns: "" } }, checkpoint, metadata, {
      said: turn,
    });
  }
  killed = join(folder, "killed.db");
  for (const suffix of SUFFIXES) cpSync(live + suffix, killed + suffix);
  saver.close();
  frames = readFileSync(`${killed}-shm`).readUInt32LE(16);
});
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(restore);

function restore(): void {
  file = join(folder, `try-${(next += 1)}.db`);
  for (const suffix of SUFFIXES) cpSync(killed + suffix, file + suffix);
}

/** The state that a thread is read in, or the error's code. */
async function stateOf(path: string): Promise<unknown> {
  try {
    const saver = await sqliteSaver(path);
    const tuple = await saver.getTuple({ configurable: { thread_id: "t" } });
    saver.close();
    return tuple?.checkpoint.channel_values["said"];
  } catch (error) {
    return (error as { code: unknown }).code;
  }
}

it("a log that a kill has left is read to its end", async () => {
  expect(frames).toBeGreaterThan(20);
  expect(await stateOf(file)).toBe(LAST);
});

it("Holdfast reports a flipped bit in any frame, and never reads an older state", async () => {
  const outcomes = new Set<unknown>();
  const log = readFileSync(`${killed}-wal`);
  const tries = rounds(60);
  for (let at = 0; at < tries; at++) {
    restore();
    const damaged = Buffer.from(log);
    damaged[32 + Math.floor(((at + 0.5) / tries) * frames * FRAME)]! ^= 1 << (at % 8);
    writeFileSync(`${file}-wal`, damaged);
    outcomes.add(await stateOf(file));
  }
  expect([...outcomes]).toEqual(["storage-corrupt"]);
});

it("Holdfast reports a log that was truncated anywhere or is missing", async () => {
  const outcomes = new Set<unknown>();
  for (let at = 0; at < 30; at++) {
    restore();
    truncateSync(`${file}-wal`, Math.floor((at / 30) * (32 + frames * FRAME)));
    outcomes.add(await stateOf(file));
  }
  restore();
  rmSync(`${file}-wal`);
  outcomes.add(await stateOf(file));
  expect([...outcomes]).toEqual(["storage-corrupt"]);
});

it("commits that a power cut has undone are said, and the rest is used", async () => {
  truncateSync(`${file}-wal`, 32 + (frames - 4) * FRAME);
  utimesSync(`${file}-shm`, 0, 0);
  const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  expect(await stateOf(file)).toMatch(/^turn \d+$/);
  expect(warn.mock.calls).toEqual([[`${file}: a power cut has undone the newest commits.`]]);
  warn.mockRestore();
});
