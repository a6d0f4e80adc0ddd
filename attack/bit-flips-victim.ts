import { copyFileSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { HarnessError } from "../src/errors.ts";
import { contentsOf } from "./thread-store.ts";

export interface FlipOutcome {
  kind: "same" | "refused" | "wrong" | "foreign";
  detail: string;
}

/** For every line on standard input: uses the file, and says what came of it. */
async function main([whole = "", file = ""]: string[]): Promise<void> {
  const expected: string[] = [];
  const copy = `${file}.whole`;
  copyFileSync(whole, copy);
  for await (const text of contentsOf(copy)) expected.push(text);
  for (const suffix of ["", "-wal", "-shm"]) rmSync(copy + suffix, { force: true });
  console.log("ready");
  for await (const _ of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await attempt(file, expected)));
  }
  process.exit();
}

async function attempt(file: string, expected: readonly string[]): Promise<FlipOutcome> {
  let at = 0;
  try {
    for await (const text of contentsOf(file)) {
      if (text !== expected[at]) return { kind: "wrong", detail: `part ${at}: ${text.slice(0, 200)}` };
      at += 1;
    }
  } catch (error) {
    const known = HarnessError.from(error);
    if (known) return { kind: "refused", detail: known.message };
    return {
      kind: "foreign",
      detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  }
  return at === expected.length
    ? { kind: "same", detail: "" }
    : { kind: "wrong", detail: `${at} of ${expected.length} parts` };
}

await main(process.argv.slice(2));
