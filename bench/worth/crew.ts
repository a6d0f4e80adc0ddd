import { fork, type ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import type { Faults } from "./faults.ts";
import { Rig, type Outcome } from "./run.ts";
import type { System } from "./systems.ts";

/** Some tasks of one system. */
export interface Batch {
  system: string;
  seeds: string[];
  faults: Faults;
  /** Lines that each result of the work has more than usual. */
  moreLines: number;
}

/** Runs batches, wherever it does so. */
export interface Crew {
  run: (batches: readonly Batch[], onDone: (batch: Batch) => void) => Promise<Outcome[][]>;
  close: () => void;
}

/** Runs batches in this process, one after the other. */
export function alone(systems: readonly System[]): Crew {
  const rigs = new Map<string, Rig>();
  return {
    run: async (batches, onDone) => {
      const results: Outcome[][] = [];
      for (const batch of batches) {
        results.push(await runBatch(batch, systems, rigs));
        onDone(batch);
      }
      return results;
    },
    close: () => undefined,
  };
}

/** Runs batches in a process per core. What a task comes to does not depend on where it runs. */
export function inProcesses(count = Math.min(4, availableParallelism())): Crew {
  const file = fileURLToPath(new URL("./worker.ts", import.meta.url));
  const workers = Array.from({ length: count }, () => fork(file));
  return {
    run: async (batches, onDone) => {
      const results: Outcome[][] = [];
      let next = 0;
      const work = async (worker: ChildProcess): Promise<void> => {
        for (let at = next++; at < batches.length; at = next++) {
          results[at] = await ask(worker, batches[at]!);
          onDone(batches[at]!);
        }
      };
      await Promise.all(workers.map(work));
      return results;
    },
    close: () => {
      for (const worker of workers) worker.disconnect();
    },
  };
}

/** Runs one batch; agents are built once per system and kept in `rigs`. */
export async function runBatch(
  { system, seeds, faults, moreLines }: Batch,
  systems: readonly System[],
  rigs: Map<string, Rig>,
): Promise<Outcome[]> {
  let rig = rigs.get(system);
  if (!rig) {
    const found = systems.find(({ name }) => name === system);
    if (!found) throw new Error(`There is no system ${system}.`);
    rigs.set(system, (rig = new Rig(found)));
  }
  const outcomes: Outcome[] = [];
  for (const seed of seeds) outcomes.push(await rig.run(seed, faults, moreLines));
  return outcomes;
}

function ask(worker: ChildProcess, batch: Batch): Promise<Outcome[]> {
  return new Promise((resolve, reject) => {
    const fail = (code: number | null): void => reject(new Error(`A worker ended early (${code}).`));
    worker.once("exit", fail);
    worker.once("message", (outcomes) => {
      worker.off("exit", fail);
      resolve(outcomes as Outcome[]);
    });
    worker.send(batch);
  });
}
