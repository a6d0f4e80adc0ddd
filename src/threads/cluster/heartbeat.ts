import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { HarnessError } from "../../errors.ts";
import { readAddress } from "../../storage/postgres/database/index.ts";
import { SCHEMA } from "./database/schema.ts";

/** A worker without a heartbeat for this long is declared dead. */
export const DEAD_MS = 2000;
const BEAT_MS = 400;

/** The longest wait for the first beat, unless the address sets a `connect_timeout`. */
const FIRST_MS = 8000;

/** The heartbeat stops when the event loop of the process has hung for this long. */
const HANG_MS = 30_000;

/**
 * The periodic update of a worker's row. It runs in a thread of its own with a connection of its own, so that a busy
 * event loop does not make the worker look dead. When the process is stopped or killed, the heartbeat stops with it.
 */
export class Heartbeat {
  readonly #thread: Worker;
  readonly #pulse = new Int32Array(new SharedArrayBuffer(4));
  readonly #timer: NodeJS.Timeout;

  private constructor(url: string, id: string) {
    this.#notePulse();
    this.#timer = setInterval(() => this.#notePulse(), 500).unref();
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
    // Without the node options of this process, but with the variables of libpq.
    const { NODE_OPTIONS: _, ...env } = process.env;
    this.#thread = new Worker(PROGRAM, { eval: true, workerData, stdin: false, env, execArgv: [] });
    this.#thread.unref();
  }

  /**
   * Resolves with the first beat, and throws if there is none. `onLost` is called when others have declared this worker
   * dead, and continue its runs.
   */
  static async start(worker: { url: string; id: string; onLost: () => void }): Promise<Heartbeat> {
    const { url, id, onLost } = worker;
    const heartbeat = new Heartbeat(url, id);
    try {
      await heartbeat.#firstBeat(readAddress(url).connectMs ?? FIRST_MS);
    } catch (error) {
      await heartbeat.stop();
      throw error;
    }
    heartbeat.#thread.on("message", ({ isLost }: BeatReport) => isLost && onLost());
    // Without a heartbeat others will declare it dead.
    heartbeat.#thread.on("error", onLost);
    return heartbeat;
  }

  #firstBeat(mostMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let reason = `no answer within ${mostMs / 1000} s`;
      const fail = (why: string): void =>
        reject(new HarnessError("storage-failed", `The heartbeat of a worker cannot be kept up: ${why}.`));
      const late = setTimeout(() => fail(reason), mostMs);
      this.#thread.on("message", ({ error, isFinal }: BeatReport) => {
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

  #notePulse(): void {
    Atomics.store(this.#pulse, 0, tenths());
  }
}

/** Tenths of a second in 32 bits. */
function tenths(): number {
  return ((performance.timeOrigin + performance.now()) / 100) | 0;
}

interface BeatReport {
  /** The worker's row was deleted or marked as dead. */
  isLost?: boolean;
  /** Why there was no first beat. */
  error?: string;
  /** Whether a retry cannot help. */
  isFinal?: boolean;
}

/** Plain JavaScript in a string: a TypeScript file would have to be compiled before a test could run it. */
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
    // A rejected role, password or certificate is final.
    const isFinal = /^(28|3D|42)|CERT|SELF_SIGNED/.test(error.code ?? "");
    if (!hasBegun) parentPort.postMessage({ error: error.message || String(error.code), isFinal });
    // The database is away: the next beat tries a new connection.
    client?.end().catch(() => {});
    client = undefined;
  } finally {
    isBeating = false;
  }
}

setInterval(once, every);
void once();
`;
