import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { SCHEMA } from "./database/schema.ts";

/** A worker that was not heard of for this long is taken for dead. */
export const DEAD_MS = 2000;
const BEAT_MS = 400;

/** A main loop that has hung for so long is of no use to its runs. */
const HANG_MS = 30_000;

/**
 * Says in the database, again and again, that a worker is alive. It beats in a thread of its own with a connection of
 * its own, so that a busy event loop is not taken for a dead one; a process that is stopped or killed takes it along.
 */
export class Heartbeat {
  readonly #thread: Worker;
  readonly #pulse = new Int32Array(new SharedArrayBuffer(4));
  readonly #timer: NodeJS.Timeout;

  /** `onLost` hears that others have taken this worker for dead, and gone on with its runs. */
  constructor({ url, id, onLost }: { url: string; id: string; onLost: () => void }) {
    this.#take();
    this.#timer = setInterval(() => this.#take(), 500).unref();
    const pg = createRequire(import.meta.url).resolve("pg");
    const workerData = {
      pg,
      url,
      id,
      pulse: this.#pulse,
      every: BEAT_MS,
      hang: HANG_MS,
      beat: `UPDATE ${SCHEMA}.workers SET beat = clock_timestamp() WHERE id = $1 AND state <> 'dead'`,
    };
    // What this process was started with, such as a program to evaluate, is not for it.
    this.#thread = new Worker(PROGRAM, { eval: true, workerData, stdin: false, env: {}, execArgv: [] });
    this.#thread.on("message", onLost);
    // Without a heart it will be taken for dead, and rightly.
    this.#thread.on("error", onLost);
    this.#thread.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#thread.removeAllListeners();
    await this.#thread.terminate();
  }

  #take(): void {
    Atomics.store(this.#pulse, 0, tenths());
  }
}

/** Tenths of a second in 32 bits. */
function tenths(): number {
  return ((performance.timeOrigin + performance.now()) / 100) | 0;
}

/** Plain JavaScript in a text: a worker's file would have to be compiled before a test could run it. */
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
const { pg, url, id, pulse, every, hang, beat } = workerData;
const { Client } = require(pg);
let client;
let isBeating = false;

async function connected() {
  if (client) return client;
  const fresh = new Client({ connectionString: url, keepAlive: true, query_timeout: 1000, connectionTimeoutMillis: 1000 });
  fresh.on("error", () => { if (client === fresh) client = undefined; });
  await fresh.connect();
  return (client = fresh);
}

async function once() {
  const tenths = ((performance.timeOrigin + performance.now()) / 100) | 0;
  if (isBeating || ((tenths - Atomics.load(pulse, 0)) | 0) > hang / 100) return;
  isBeating = true;
  try {
    const { rowCount } = await (await connected()).query(beat, [id]);
    if (rowCount === 0) parentPort.postMessage("lost");
  } catch {
    // The database is away, or in between: it is asked again on a new connection.
    client?.end().catch(() => {});
    client = undefined;
  } finally {
    isBeating = false;
  }
}

setInterval(once, every);
void once();
`;
