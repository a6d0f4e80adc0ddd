import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { BEAT_MS } from "../../store/index.ts";
import { trackOpenFile } from "./open-files.ts";

/**
 * The heartbeat of this process: a worker thread with its own connection renews the leases, so that a busy event loop is
 * not taken for a dead process. It ends with a process that is stopped or killed.
 */
export class Heartbeat {
  readonly #name = randomUUID();
  readonly #path: string;
  #worker: Worker | undefined;
  #isBeating = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Creates the token of a lease. The heartbeat renews all leases whose token starts with its name. */
  newHolder(): string {
    return this.#name + randomUUID();
  }

  /** Call when a lease is held. */
  start(): void {
    if (this.#worker && this.#isBeating) return;
    this.#worker ??= this.#startWorker();
    this.#setBeating(true);
  }

  /** Call when none is held any more. */
  pause(): void {
    this.#setBeating(false);
  }

  #setBeating(isBeating: boolean): void {
    this.#isBeating = isBeating;
    this.#worker?.postMessage({ isBeating });
  }

  stop(): void {
    this.#worker?.postMessage({ end: true });
    this.#worker = undefined;
  }

  #startWorker(): Worker {
    const workerData = {
      libsql: createRequire(import.meta.url).resolve("libsql"),
      // A file that has been deleted must not be made again.
      file: `${pathToFileURL(this.#path).href}?mode=rw`,
      every: BEAT_MS,
      name: this.#name,
    };
    const worker = new Worker(PROGRAM, { eval: true, workerData, stdin: false, env: {}, execArgv: [] });
    // A worker that fails is replaced with the next lease. Until then others find this process silent, and wait.
    worker.on("error", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    worker.on("exit", trackOpenFile(this.#path));
    worker.unref();
    return worker;
  }
}

/** Plain JavaScript in a string: a worker's file would have to be compiled before a test could run it. */
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
const Database = require(workerData.libsql);
const database = new Database(workerData.file, { timeout: 1000 });
const { name } = workerData;
let isBeating = false;
const timer = setInterval(beat, workerData.every);
parentPort.on("message", (message) => {
  isBeating = message.isBeating;
  if (!message.end) return;
  clearInterval(timer);
  parentPort.close();
  database.close();
});

// Statements would keep the file open after close(): only whole texts are run. The name is a UUID.
function beat() {
  if (!isBeating) return;
  const isOwn = "substr(holder, 1, " + name.length + ") = '" + name + "'";
  try {
    database.exec("UPDATE leases SET beat = " + Date.now() + " WHERE " + isOwn);
  } catch {
    // The file is locked: the next beat makes up for this one.
  }
}
`;
