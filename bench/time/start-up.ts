import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { spreadOf, type Spread } from "./statistics.ts";

/** What importing a package costs in a fresh process. */
export interface StartUp {
  entry: string;
  ms: Spread;
  /** Megabytes of memory more than before the import, after a garbage collection. */
  rss: Spread;
  heap: Spread;
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BENCH = fileURLToPath(new URL("..", import.meta.url));

/** `langchain` is what the others stand on. Each is imported by its name, from where it can be found. */
const ENTRIES = [
  { entry: "langchain", from: ROOT },
  { entry: "holdfast", from: ROOT },
  { entry: "holdfast/plan", from: ROOT },
  { entry: "holdfast/middleware", from: ROOT },
  { entry: "deepagents", from: BENCH },
] as const;

export const PRODUCT_ENTRY = "holdfast";
export const PEER_ENTRY = "deepagents";

const PROBE = `
const before = process.memoryUsage();
const start = performance.now();
await import(process.argv[1]);
const ms = performance.now() - start;
gc();
const after = process.memoryUsage();
console.log(JSON.stringify({ ms, rss: after.rss - before.rss, heap: after.heapUsed - before.heapUsed }));`;

type Sample = Record<"ms" | "rss" | "heap", number>;

/** Imports each package in a process of its own, by turns. The first of several rounds only fills the disk cache. */
export function measureStartUp(rounds: number): StartUp[] {
  const entries = ENTRIES.filter(
    ({ entry }) => entry !== PEER_ENTRY || existsSync(`${BENCH}node_modules/${PEER_ENTRY}`),
  );
  const samples = new Map<string, Sample[]>(entries.map(({ entry }) => [entry, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const { entry, from } of entries) {
      const args = ["--expose-gc", "--input-type=module", "-e", PROBE, entry];
      const sample = JSON.parse(
        execFileSync(process.execPath, args, { cwd: from, encoding: "utf8" }),
      ) as Sample;
      if (round > 1 || rounds === 1) samples.get(entry)!.push(sample);
    }
  }
  return entries.map(({ entry }) => {
    const all = samples.get(entry)!;
    const of = (key: keyof Sample, unit: number): Spread => spreadOf(all.map((sample) => sample[key] / unit));
    return { entry, ms: of("ms", 1), rss: of("rss", 1e6), heap: of("heap", 1e6) };
  });
}
