import { setTimeout as sleep } from "node:timers/promises";
import { spreadOf } from "../time/statistics.ts";
import { control, speak, type Figures, type SeenRun } from "./client.ts";
import type { LoadedServer } from "./servers.ts";

export interface LoadSizes {
  /** Runs before anything is measured. */
  warmUp: number;
  /** Threads that have had their run. */
  idle: number;
  /** In how many turns they are made, the servers one after the other; the first is not counted. */
  batches: number;
  /** Runs at the same time. */
  running: number;
  /** Events of a short run, and of each of those that run at the same time. */
  events: number;
  runningEvents: number;
}

/** What is measured of a server. */
export interface LoadFigures {
  /** Of each batch but the first. */
  runsPerSecond: number[];
  /** Milliseconds of the server's processor time for a run. */
  cpuPerRun: number;
  /** Milliseconds to a run's first event: alone, and with as many others at work as fit. */
  firstEventAlone: number;
  firstEvent: number;
  eventsPerSecond: number[];
  /** Bytes in use for each thread more, after a collection of garbage; and of what the system has given. */
  idleThread: number;
  idleThreadRss: number;
  runningThread: number;
  runningThreadRss: number;
  /** Of the process, with everything at work. */
  rss: number;
}

/**
 * Puts the same load on each server, one after the other in each step, so that what slows the machine meets all. The
 * others are halted meanwhile.
 */
export async function measureLoad(
  servers: readonly LoadedServer[],
  sizes: LoadSizes,
  progress: (text: string) => void,
): Promise<LoadFigures[]> {
  const loads = servers.map((server) => new Load(server, sizes));
  // One of them works even when nobody asks anything of it: it writes all its threads to a file, again and again.
  const inTurn = async (order: readonly Load[], work: (load: Load) => Promise<void>): Promise<void> => {
    for (const load of order) {
      for (const other of loads) other.server.halt(other !== load);
      await sleep(SETTLE_MS);
      await work(load);
    }
  };
  progress("warming up");
  await inTurn(loads, (load) => load.warmUp());
  for (let batch = 0; batch < sizes.batches; batch += 1) {
    progress(`idle threads, batch ${batch + 1} of ${sizes.batches}`);
    await inTurn(batch % 2 === 0 ? loads : loads.toReversed(), (load) => load.idleBatch());
  }
  await inTurn(loads, (load) => load.idleEnd());
  progress(`${sizes.running} running threads`);
  await inTurn(loads, (load) => load.running());
  await inTurn(loads, (load) => load.alone());
  return loads.map((load) => load.figures());
}

/** What a server has put off while it was halted is done in this time. */
const SETTLE_MS = 1000;

/** Runs one after the other. */
const ALONE = 20;

/** What a process takes when it is left alone. */
interface Looked extends Omit<Figures, "cpuMs"> {
  cpuMs: { first: number; last: number };
}

/** So often a process is looked at, and with so many milliseconds between. */
const LOOKS = { count: 6, ms: 400 };

class Load {
  readonly server: LoadedServer;
  readonly #sizes: LoadSizes;
  readonly #rates: number[] = [];
  readonly #firsts: number[] = [];
  readonly #firstsAlone: number[] = [];
  #eventRates: number[] = [];
  #before!: Looked;
  #idle!: Looked;
  #held!: Looked;

  constructor(server: LoadedServer, sizes: LoadSizes) {
    this.server = server;
    this.#sizes = sizes;
  }

  /** As many runs at once as there will be, until the code is as fast as it gets: what a process takes once is not a thread's. */
  async warmUp(): Promise<void> {
    const { warmUp, events } = this.#sizes;
    await this.#runs(warmUp, events);
    this.#before = await this.#look();
  }

  async idleBatch(): Promise<void> {
    const { idle, batches, events } = this.#sizes;
    const runs = Math.round(idle / batches);
    const start = performance.now();
    const seen = await this.#runs(runs, events);
    this.#rates.push((runs / (performance.now() - start)) * 1000);
    this.#firsts.push(...seen.map(({ first }) => first));
  }

  async alone(): Promise<void> {
    for (let run = 0; run < ALONE; run += 1) {
      this.#firstsAlone.push((await speak(this.server, { events: this.#sizes.events })).first);
    }
  }

  async idleEnd(): Promise<void> {
    this.#idle = await this.#look();
  }

  /** Runs that are all in their middle, then all at work at the same time. */
  async running(): Promise<void> {
    const { running, runningEvents: events } = this.#sizes;
    await control(this.server, "shut");
    let halfway = 0;
    let onAll = (): void => {};
    const all = new Promise<void>((resolve) => {
      onAll = resolve;
    });
    const onHalf = (): void => {
      halfway += 1;
      if (halfway === running) onAll();
    };
    const runs = Promise.all(
      Array.from({ length: running }, () => speak(this.server, { events, held: true, onHalf })),
    );
    await Promise.race([all, runs]);
    this.#held = await this.#look();
    const start = performance.now();
    await control(this.server, "open");
    await runs;
    this.#eventRates = [((running * events) / 2 / (performance.now() - start)) * 1000];
  }

  figures(): LoadFigures {
    const { idle, running } = this.#sizes;
    const made = Math.round(idle / this.#sizes.batches) * this.#sizes.batches;
    return {
      // A look at its memory has thrown away what code was compiled for objects that were not there at the moment.
      runsPerSecond: this.#rates.slice(1),
      cpuPerRun: (this.#idle.cpuMs.first - this.#before.cpuMs.last) / made,
      firstEventAlone: spreadOf(this.#firstsAlone).median,
      firstEvent: spreadOf(this.#firsts).median,
      eventsPerSecond: this.#eventRates,
      idleThread: (this.#idle.used - this.#before.used) / made,
      idleThreadRss: (this.#idle.rss - this.#before.rss) / made,
      runningThread: (this.#held.used - this.#idle.used) / running,
      runningThreadRss: (this.#held.rss - this.#idle.rss) / running,
      rss: this.#held.rss,
    };
  }

  /** The least of several looks: what a server holds while it writes all its threads to a file belongs to no thread. */
  async #look(): Promise<Looked> {
    const looks = [await control(this.server)];
    while (looks.length < LOOKS.count) {
      await sleep(LOOKS.ms);
      looks.push(await control(this.server));
    }
    const { rss, used } = looks.toSorted((a, b) => a.used - b.used)[0]!;
    return { rss, used, cpuMs: { first: looks[0]!.cpuMs, last: looks.at(-1)!.cpuMs } };
  }

  /** So many runs, as many at a time as run at the same time. */
  async #runs(count: number, events: number): Promise<SeenRun[]> {
    const seen: SeenRun[] = [];
    let begun = 0;
    const work = async (): Promise<void> => {
      while (begun < count) {
        begun += 1;
        seen.push(await speak(this.server, { events }));
      }
    };
    await Promise.all(Array.from({ length: Math.min(count, this.#sizes.running) }, work));
    return seen;
  }
}
