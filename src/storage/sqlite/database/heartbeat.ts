import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { BEAT_MS } from "../../store/index.ts";
import { holdFile } from "./open-files.ts";

/**
 * Says in the file, again and again, that this process is alive. It beats in a thread of its own with a connection of
 * its own, so that a busy event loop is not taken for a dead one; a process that is stopped or killed takes it along.
 */
export class Heart {
  readonly #name = randomUUID();
  readonly #path: string;
  #worker: Worker | undefined;
  #isBeating = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** A name for a holder of leases. It beats for all that it has named, so that it need not be told of each. */
  holder(): string {
    return this.#name + randomUUID();
  }

  /** Call when there is a holder. */
  beat(): void {
    if (this.#worker && this.#isBeating) return;
    this.#worker ??= this.#start();
    this.#tell(true);
  }

  /** Call when there is none any more. */
  rest(): void {
    this.#tell(false);
  }

  #tell(isBeating: boolean): void {
    this.#isBeating = isBeating;
    this.#worker?.postMessage({ isBeating });
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
      name: this.#name,
    };
    const worker = new Worker(PROGRAM, { eval: true, workerData, stdin: false, env: {}, execArgv: [] });
    // A heart that fails is replaced with the next lease. Until then others find this process silent, and wait.
    worker.on("error", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    worker.on("exit", holdFile(this.#path));
    worker.unref();
    return worker;
  }
}

/** Plain JavaScript in a text: a worker's file would have to be compiled before a test could run it. */
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
const Database = require(workerData.libsql);
const database = new Database(workerData.file, { timeout: 1000 });
const { name } = workerData;
let isBeating = false;
const timer = setInterval(beat, workerData.every);
parentPort.on("message", (told) => {
  isBeating = told.isBeating;
  if (!told.end) return;
  clearInterval(timer);
  parentPort.close();
  database.close();
});

// Statements would keep the file open after close(): only whole texts are run. The name is a UUID.
function beat() {
  if (!isBeating) return;
  const ours = "substr(holder, 1, " + name.length + ") = '" + name + "'";
  try {
    database.exec("UPDATE leases SET beat = " + Date.now() + " WHERE " + ours);
  } catch {
    // A beat that is missed because the file is locked is made up for by the next one.
  }
}
`;
