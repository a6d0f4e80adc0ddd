import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { LoadSizes } from "./measure.ts";

/** What the graph takes by itself, on the same kind of file: no server on one thread can do more runs than that. */
export interface AloneFigures {
  cpuPerRun: number;
  runsPerSecond: number;
}

/** The runs of the idle threads in a process of their own, without a server. */
export function measureAlone({ warmUp, idle, running, events }: LoadSizes): AloneFigures {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-load-"));
  try {
    const program = fileURLToPath(new URL("alone.mjs", import.meta.url));
    const args = [program, join(folder, "threads.db"), ...[warmUp, idle, running, events].map(String)];
    return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as AloneFigures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
