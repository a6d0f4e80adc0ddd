import { Client } from "pg";
import type { PostgresServer } from "../../test/helpers/postgres/server.ts";

/** How much is measured. */
export interface ScaleSizes {
  /** Workers that are killed, and as many that are stopped. */
  takeovers: number;
  /** Takeovers by force, under a holder that is writing. */
  stale: number;
  /** Runs that are started and stopped one after the other. */
  probes: number;
  /** Events of each of the runs that speak at once. */
  eventsEach: number;
  /**
   * Runs of each worker for the processor time of one, after as many that are not counted: what is loaded and compiled
   * with the first runs is no part of a run, and a worker of four is to be as warm as one alone.
   */
  cpuRuns: number;
  /** Threads on two workers, with two runs each. */
  threads: number;
}

/** What is measured of one system; undefined is what it has not. Times are in milliseconds where no unit is said. */
export interface ScaleFigures {
  /** Seconds until a call of a worker that was killed, or stopped, is begun elsewhere. */
  killed?: number;
  stopped?: number;
  repeatedByTakeover?: number;
  /** Calls that were repeated and not told so. */
  untold?: number;
  /** Writes of a former holder that came after a thread was taken from it. */
  stale?: number;
  /** Transactions a second of a server, and of a worker, that have nothing to do. */
  idleServer?: number;
  idleWorker?: number;
  start?: number;
  cancel?: number;
  /** The 95th of a hundred, at 2,000 events a second. */
  eventDelay?: number;
  eventGaps?: number;
  deployRepeats?: number;
  restartLost?: number;
  crowdSeconds?: number;
  crowdTakeovers?: number;
  crowdRepeats?: number;
  crowdDisorder?: number;
  /** Of the workers, with one of them and with four. */
  cpuPerRun?: number;
  cpuPerRunOfFour?: number;
}

let databases = 0;

/** Makes a database; returns its address. */
export async function newDatabase({ url }: PostgresServer): Promise<string> {
  databases += 1;
  const name = `scale_${databases}`;
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const own = new URL(url);
  own.pathname = `/${name}`;
  return own.href;
}

export function quantile(samples: readonly number[], part: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
}
