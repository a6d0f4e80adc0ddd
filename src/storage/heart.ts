import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

export const BEAT_MS = 2_000;

/**
 * Says in the file, again and again, that this process is alive. It beats in a thread of its own with a connection of
 * its own, so that a busy event loop is not taken for a dead one; a process that is stopped or killed takes it along.
 */
export class Heart {
  readonly #path: string;
  #worker: Worker | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Beats for a holder of leases from now on. */
  add(holder: string): void {
    this.#worker ??= this.#start();
    this.#worker.postMessage({ add: holder });
  }

  remove(holder: string): void {
    this.#worker?.postMessage({ remove: holder });
  }

  stop(): void {
    this.#worker?.postMessage({ end: true });
    this.#worker = undefined;
  }

  #start(): Worker {
    const workerData = {
      libsql: createRequire(import.meta.url).resolve("libsql"),
      // A file that has been deleted must not be made again.
      file: `${pathToFileURL(this.#path).href}?mode=rw`,
      every: BEAT_MS,
    };
    const worker = new Worker(PROGRAM, { eval: true, workerData, stdin: false, env: {} });
    // A heart that fails is replaced with the next lease. Until then others find this process silent, and wait.
    worker.on("error", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    worker.unref();
    return worker;
  }
}

/** Plain JavaScript in a text: a worker's file would have to be compiled before a test could run it. */
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
const Database = require(workerData.libsql);
const database = new Database(workerData.file, { timeout: 1000 });
const holders = new Set();
const timer = setInterval(beat, workerData.every);
parentPort.on("message", ({ add, remove, end }) => {
  if (add) holders.add(add);
  if (remove) holders.delete(remove);
  if (!end) return;
  clearInterval(timer);
  parentPort.close();
  database.close();
});

// Statements would keep the file open after close(): only whole texts are run. Holders are UUIDs.
function beat() {
  if (holders.size === 0) return;
  const list = [...holders].map((holder) => "'" + holder + "'").join(",");
  try {
    database.exec("UPDATE leases SET beat = " + Date.now() + " WHERE holder IN (" + list + ")");
  } catch {
    // A beat that is missed because the file is locked is made up for by the next one.
  }
}
`;
