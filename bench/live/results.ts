import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { HarnessError } from "../../src/errors.ts";
import type { RunFigures } from "./run.ts";
import type { Kind } from "./tasks/task.ts";

/** Which run it is: one of a kind in a results file. */
export interface RunKey {
  round: number;
  task: string;
  system: string;
}

/** A line of the results file. */
export interface RunRecord extends RunKey, RunFigures {
  kind: Kind;
  /** When it ended. */
  at: string;
}

/** What all runs of a results file have in common. */
export interface ResultsHead {
  version: 1;
  model: string;
  seed: number;
  /** Stands for the tasks and their data. */
  tasks: string;
}

/** A folder with one line per run, appended as soon as the run is over: what was done survives a kill. */
export class Results {
  readonly folder: string;
  readonly #file: string;
  readonly #lock: string;
  readonly #head: ResultsHead;
  readonly #records: RunRecord[] = [];

  private constructor(folder: string, head: ResultsHead) {
    this.folder = folder;
    this.#head = head;
    this.#file = join(folder, "runs.jsonl");
    this.#lock = join(folder, "running.pid");
  }

  /** Opens or begins one. Throws when another process writes to it, or when it holds results of something else. */
  static open(folder: string, head: ResultsHead): Results {
    mkdirSync(folder, { recursive: true });
    const results = new Results(folder, head);
    results.#take();
    try {
      results.#load();
    } catch (error) {
      results.close();
      throw error;
    }
    return results;
  }

  get records(): readonly RunRecord[] {
    return this.#records;
  }

  /** The runs that count, each once: what failed for reasons of the provider or was stopped is not among them. */
  get counted(): readonly RunRecord[] {
    return this.#records.filter(({ end }) => end !== "infrastructure" && end !== "interrupted");
  }

  has({ round, task, system }: RunKey): boolean {
    return this.counted.some((one) => one.round === round && one.task === task && one.system === system);
  }

  add(record: RunRecord): void {
    const lines = existsSync(this.#file) ? [record] : [this.#head, record];
    appendFileSync(this.#file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    this.#records.push(record);
  }

  close(): void {
    rmSync(this.#lock, { force: true });
  }

  #take(): void {
    const holder = existsSync(this.#lock) ? Number(readFileSync(this.#lock, "utf8")) : Number.NaN;
    if (holder !== process.pid && isAlive(holder)) {
      throw new HarnessError(
        "invalid-options",
        `Process ${holder} is writing to ${this.folder}; wait for it, or use --out.`,
      );
    }
    writeFileSync(this.#lock, String(process.pid));
  }

  #load(): void {
    if (!existsSync(this.#file)) return;
    const text = readFileSync(this.#file, "utf8");
    // A process that was killed may have left half a line.
    const end = text.lastIndexOf("\n") + 1;
    if (end < text.length) truncateSync(this.#file, Buffer.byteLength(text.slice(0, end)));
    const [first = "{}", ...rest] = text.slice(0, end).split("\n").filter(Boolean);
    const found = JSON.parse(first) as Partial<ResultsHead>;
    for (const key of ["version", "model", "seed", "tasks"] as const) {
      if (found[key] === this.#head[key]) continue;
      const what = key === "tasks" ? "other tasks" : `${key} ${String(found[key])}`;
      throw new HarnessError(
        "invalid-options",
        `${this.#file} has results of ${what}; use --out for another folder.`,
      );
    }
    this.#records.push(...rest.map((line) => JSON.parse(line) as RunRecord));
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
