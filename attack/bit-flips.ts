import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chance, type Attack, type AttackOptions, type AttackResult } from "./attack.ts";
import type { FlipOutcome } from "./bit-flips-victim.ts";
import { fillStore } from "./thread-store.ts";

const TRIES = 2_000;
const BATCH = 250;
const PARALLEL = 2;

interface Flip {
  offset: number;
  bit: number;
}

/**
 * Flips one bit of a thread store and uses it: lists, reads, reads the history, goes on. What comes of it must be what
 * comes of the whole file, or one of our errors; and the process must live. Aborts are seen from outside.
 */
export const bitFlips: Attack = {
  name: "bit-flips",
  run: async ({ seed, tries = TRIES }: AttackOptions): Promise<AttackResult> => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-attack-"));
    try {
      const file = join(folder, "whole.db");
      await fillStore(file);
      const random = chance(seed);
      const { size } = statSync(file);
      const flips = Array.from({ length: tries }, () => ({
        offset: Math.floor(random() * size),
        bit: Math.floor(random() * 8),
      }));
      const batches: Flip[][] = [];
      for (let at = 0; at < tries; at += BATCH) batches.push(flips.slice(at, at + BATCH));
      const outcomes: string[] = [];
      const work = async (): Promise<void> => {
        for (let batch = batches.shift(); batch; batch = batches.shift()) {
          outcomes.push(...(await inChild(file, batch)));
        }
      };
      await Promise.all(Array.from({ length: PARALLEL }, work));
      return summary(outcomes, size);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Tries flips in a process of their own. One that dies is an outcome, and the next process goes on behind it. */
async function inChild(whole: string, flips: readonly Flip[]): Promise<string[]> {
  const outcomes: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), "holdfast-attack-"));
  const file = join(folder, "threads.db");
  const bytes = readFileSync(whole);
  const victim = join(import.meta.dirname, "bit-flips-victim.ts");
  while (outcomes.length < flips.length) {
    const child = spawn(process.execPath, ["--import", "tsx", victim, whole, file], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    let complaint = "";
    child.stderr.on("data", (text: Buffer) => (complaint += text.toString()));
    const next = (): void => {
      const flip = flips[outcomes.length];
      if (!flip) return void child.stdin.end();
      for (const suffix of ["-wal", "-shm"]) rmSync(file + suffix, { force: true });
      const damaged = Buffer.from(bytes);
      damaged[flip.offset]! ^= 1 << flip.bit;
      writeFileSync(file, damaged);
      child.stdin.write("go\n");
    };
    child.stdin.on("error", () => {});
    for await (const line of createInterface({ input: child.stdout })) {
      if (line === "ready") {
        next();
        continue;
      }
      const { kind, detail } = JSON.parse(line) as FlipOutcome;
      outcomes.push(named(kind, flips[outcomes.length]!, detail));
      next();
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    if (outcomes.length < flips.length) {
      outcomes.push(named("abort", flips[outcomes.length]!, complaint.trim().slice(0, 300)));
    }
  }
  rmSync(folder, { recursive: true, force: true });
  return outcomes;
}

function named(kind: string, { offset, bit }: Flip, detail: string): string {
  return kind === "same" || kind === "refused" ? kind : `${kind} at ${offset}.${bit}: ${detail}`;
}

function summary(outcomes: readonly string[], size: number): AttackResult {
  const count = (kind: string): number => outcomes.filter((outcome) => outcome.startsWith(kind)).length;
  const failed = outcomes.filter((outcome) => outcome !== "same" && outcome !== "refused");
  const counts = ["same", "refused", "wrong", "foreign", "abort"].map((kind) => `${kind} ${count(kind)}`);
  const notes = [`${Math.round(size / 1000)} kB`, ...counts, ...failed.slice(0, 20)].join("; ");
  return { tries: outcomes.length, failures: failed.length, notes };
}
