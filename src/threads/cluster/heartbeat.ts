import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { HarnessError } from "../../errors.ts";
import { readAddress } from "../../storage/postgres/database/index.ts";
import { SCHEMA } from "./database/schema.ts";

/** A worker that was not heard of for this long is taken for dead. */
export const DEAD_MS = 2000;
const BEAT_MS = 400;

/** The longest wait for the first beat, unless the address says another. */
const FIRST_MS = 8000;

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

  private constructor(url: string, id: string) {
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
    // What this process was started with, such as a program to evaluate, is not for it; the variables of libpq are.
    const { NODE_OPTIONS: _, ...env } = process.env;
    this.#thread = new Worker(PROGRAM, { eval: true, workerData, stdin: false, env, execArgv: [] });
    this.#thread.unref();
  }

  /**
   * Resolves with the first beat, and throws its cause where there is none. `onLost` hears that others have taken this
   * worker for dead, and gone on with its runs.
   */
  static async start(worker: { url: string; id: string; onLost: () => void }): Promise<Heartbeat> {
    const { url, id, onLost } = worker;
    const heartbeat = new Heartbeat(url, id);
    try {
      await heartbeat.#begun(readAddress(url).connectMs ?? FIRST_MS);
    } catch (error) {
      await heartbeat.stop();
      throw error;
    }
    heartbeat.#thread.on("message", (said: Said) => said.isLost && onLost());
    // Without a heartbeat others will take it for dead, and rightly.
    heartbeat.#thread.on("error", onLost);
    return heartbeat;
  }

  #begun(mostMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let reason = `no answer within ${mostMs / 1000} s`;
      const fail = (why: string): void =>
        reject(new HarnessError("storage-failed", `The heartbeat of a worker cannot be kept up: ${why}.`));
      const late = setTimeout(() => fail(reason), mostMs);
      this.#thread.on("message", ({ error, isFinal }: Said) => {
        if (error === undefined) resolve();
        else if (isFinal) fail(error);
        else reason = error;
      });
      this.#thread.once("error", ({ message }: Error) => fail(message));
      void this.#thread.once("exit", () => clearTimeout(late));
    });
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

interface Said {
  /** The row of the worker is gone, or dead. */
  isLost?: boolean;
  /** Why there was no first beat. */
  error?: string;
  isFinal?: boolean;
}

/** Plain JavaScript in a text: a worker's file would have to be compiled before a test could run it. */
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
const { pg, url, id, pulse, every, hang, beat } = workerData;
const { Client } = require(pg);
let client;
let isBeating = false;
let hasBegun = false;

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
    if (rowCount === 0 || !hasBegun) parentPort.postMessage({ isLost: rowCount === 0 });
    hasBegun = true;
  } catch (error) {
    // A role, a password or a certificate that the server does not take stays so.
    const isFinal = /^(28|3D|42)|CERT|SELF_SIGNED/.test(error.code ?? "");
    if (!hasBegun) parentPort.postMessage({ error: error.message || String(error.code), isFinal });
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
