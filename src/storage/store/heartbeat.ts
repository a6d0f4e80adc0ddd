import { Worker } from "node:worker_threads";
import { BEAT_MS } from "./lease.ts";

export interface HeartbeatOptions {
  /**
   * The program of the worker, which defines `beat(tokens)` and `close()` from `workerData`. Plain JavaScript in a string:
   * a worker's file would have to be compiled before a test could run it.
   */
  program: string;
  workerData: Readonly<Record<string, string>>;
  /** Called when a worker has started; the function that it returns is called when the worker has ended. */
  onStart?: () => () => void;
}

/**
 * The heartbeat of this process: a worker thread with its own connection renews the leases, so that a busy event loop is
 * not treated as a dead process. It ends with a process that is stopped or killed.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #tokens = new Set<string>();
  #worker: Worker | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  add(token: string): void {
    this.#tokens.add(token);
    if (this.#worker) this.#worker.postMessage({ add: [token] });
    else this.#start();
  }

  remove(token: string): void {
    this.#tokens.delete(token);
    this.#worker?.postMessage({ remove: token });
  }

  stop(): void {
    this.#tokens.clear();
    this.#worker?.postMessage({ end: true });
    this.#worker = undefined;
  }

  #start(): void {
    const { program, workerData, onStart } = this.#options;
    const worker = new Worker(program + LOOP, {
      eval: true,
      workerData: { ...workerData, every: BEAT_MS },
      stdin: false,
      execArgv: [],
    });
    // The next lease replaces a failed worker. Until then other processes see no heartbeat, and wait.
    worker.on("error", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    if (onStart) worker.on("exit", onStart());
    worker.unref();
    worker.postMessage({ add: [...this.#tokens] });
    this.#worker = worker;
  }
}

const LOOP = `
const { parentPort } = require("node:worker_threads");
const tokens = new Set();
const timer = setInterval(() => { if (tokens.size > 0) beat([...tokens]); }, workerData.every);
parentPort.on("message", ({ add = [], remove, end }) => {
  for (const token of add) tokens.add(token);
  tokens.delete(remove);
  if (!end) return;
  clearInterval(timer);
  parentPort.close();
  close();
});
`;
