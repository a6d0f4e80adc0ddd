import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { BEAT_MS } from "../../store/index.ts";
import type { Database } from "./database.ts";

/**
 * The heartbeat of this process: a worker thread with its own connection renews the leases, as for a SQLite store.
 */
export class Heartbeat {
  readonly #database: Database;
  #worker: Worker | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Starts to renew a lease. */
  add(token: string): void {
    this.#worker ??= this.#start();
    this.#worker.postMessage({ add: token });
  }

  remove(token: string): void {
    this.#worker?.postMessage({ remove: token });
  }

  stop(): void {
    this.#worker?.postMessage({ end: true });
    this.#worker = undefined;
  }

  #start(): Worker {
    const { address, schema } = this.#database;
    const workerData = {
      pg: createRequire(import.meta.url).resolve("pg"),
      url: address.url,
      beat: `UPDATE ${schema}.leases SET beat = now() WHERE fence = ANY($1::bigint[]) AND holder IS NOT NULL`,
      every: BEAT_MS,
    };
    const worker = new Worker(PROGRAM, { eval: true, workerData, stdin: false, execArgv: [] });
    // A worker that fails is replaced with the next lease. Until then others find this process silent, and wait.
    worker.on("error", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    worker.unref();
    return worker;
  }
}

/** A pool of one: it replaces a connection that is lost. */
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
const { Pool } = require(workerData.pg);
const pool = new Pool({
  connectionString: workerData.url,
  max: 1,
  application_name: "holdfast heart",
  idleTimeoutMillis: 0,
  connectionTimeoutMillis: workerData.every,
  query_timeout: workerData.every,
});
pool.on("error", () => {});
const tokens = new Set();
let isBusy = false;
const timer = setInterval(beat, workerData.every);
parentPort.on("message", ({ add, remove, end }) => {
  if (add) tokens.add(add);
  if (remove) tokens.delete(remove);
  if (!end) return;
  clearInterval(timer);
  parentPort.close();
  pool.end().catch(() => {});
});

// A beat that is missed is made up for by the next one.
function beat() {
  if (tokens.size === 0 || isBusy) return;
  isBusy = true;
  pool.query(workerData.beat, [[...tokens]]).catch(() => {}).finally(() => { isBusy = false; });
}
`;
