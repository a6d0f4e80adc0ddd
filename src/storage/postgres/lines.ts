import { busy } from "../leases.ts";
import { Recent } from "../recent.ts";
import { changed } from "../thread-errors.ts";
import type { FreshBlob, NamedBlob, RecentBlobs } from "./blobs.ts";
import type { Database, Statement } from "./database.ts";
import { openDesk, type Desk } from "./desk.ts";
import { isAlive, type Leases } from "./leases.ts";

/** A write to a thread, to be encoded for the desk as it is then. */
export interface Job {
  threadId: string;
  /** The lease that the run writes by, where its config says so. */
  token: string | undefined;
  /** Whether all is known that it takes to encode it, and what reads it where it is not. Default: it is. */
  isReady?: (desk: Desk) => boolean;
  prepare?: (desk: Desk) => Promise<void>;
  /** Makes the statement, and brings the desk to where it is after it. May throw. Undefined: there is nothing to do. */
  encode: (desk: Desk, token: string | undefined) => Encoded | undefined;
  /** The checkpoint that was to be added is there already. */
  onKnown?: (seq: number) => void;
}

export interface Encoded {
  statement: Statement;
  fresh: readonly FreshBlob[];
}

interface Sending extends Encoded {
  desk: Desk;
  /** The revision that it is made for. */
  revision: number;
}

/** What was saved of a thread, in the order of the calls. */
interface Line {
  desk: Desk | undefined;
  last: Promise<unknown>;
  /** How many have not ended, and how many of these are not encoded yet. */
  open: number;
  waiting: number;
}

const MAX_LINES = 256;
const MOST_TRIES = 20;

/**
 * Writes to threads, those of one thread one after the other. What is to be written is encoded when it is handed over,
 * as soon as the thread is known: values may change afterwards. When somebody else was faster, all is encoded anew.
 */
export class Lines {
  readonly #database: Database;
  readonly #leases: Leases;
  readonly #lines = new Map<string, Line>();
  readonly recent: RecentBlobs = new Recent<string, NamedBlob>();

  constructor(database: Database, leases: Leases) {
    this.#database = database;
    this.#leases = leases;
  }

  /** Resolves when all that was handed over before is saved, or has failed. */
  async settled(threadId: string): Promise<void> {
    await this.#lines.get(threadId)?.last;
  }

  /** The desk of a thread that was read as of a revision; one that is behind is replaced. */
  async deskAt(threadId: string, revision: number): Promise<Desk> {
    const line = this.#line(threadId);
    if (line.desk && (line.open > 0 || line.desk.revision === revision)) return line.desk;
    const desk = await openDesk(threadId, this.#database, this.recent);
    // Somebody may have begun to write meanwhile.
    if (line.open === 0) line.desk = desk;
    return desk;
  }

  /** Forgets a thread that is gone. */
  forget(threadId: string): void {
    const line = this.#lines.get(threadId);
    if (line) line.desk = undefined;
  }

  async write(job: Job): Promise<void> {
    const line = this.#line(job.threadId);
    const { desk } = line;
    let sending: Sending | undefined;
    if (line.waiting === 0 && desk && job.isReady?.(desk) !== false) {
      sending = this.#encode(job, desk, line);
      if (!sending) return;
    } else line.waiting += 1;
    line.open += 1;
    const sent = line.last.then(() => this.#send(job, line, sending)).finally(() => void (line.open -= 1));
    line.last = sent.catch(() => {});
    await sent;
  }

  async #send(job: Job, line: Line, first: Sending | undefined): Promise<void> {
    let sending = first;
    let isWaiting = first === undefined;
    try {
      for (let tries = 1; ; tries++) {
        if (!sending || sending.desk !== line.desk) {
          const desk = line.desk ?? (await openDesk(job.threadId, this.#database, this.recent));
          if (job.isReady?.(desk) === false) await job.prepare?.(desk);
          sending = this.#encode(job, desk, line);
          if (isWaiting) line.waiting -= 1;
          isWaiting = false;
          if (!sending) return;
        }
        if (await this.#isDone(job, sending)) return;
        if (line.desk === sending.desk) line.desk = undefined;
        if (tries === MOST_TRIES) throw changed(job.threadId);
      }
    } catch (error) {
      // Whatever it would have changed on the desk is not in the database.
      if (line.desk === sending?.desk) line.desk = undefined;
      throw error;
    } finally {
      if (isWaiting) line.waiting -= 1;
    }
  }

  #encode(job: Job, desk: Desk, line: Line): Sending | undefined {
    const { revision } = desk;
    try {
      const encoded = job.encode(desk, job.token ?? this.#leases.tokenOf(job.threadId));
      line.desk = desk;
      if (!encoded) return undefined;
      desk.revision += 1;
      return { ...encoded, desk, revision };
    } catch (error) {
      // Some blobs have been put that will not be written.
      line.desk = undefined;
      throw error;
    }
  }

  /** Whether a write is in the database. Throws `thread-busy` when it may not be there. */
  async #isDone(
    { threadId, token, onKnown }: Job,
    { statement, fresh, desk, revision }: Sending,
  ): Promise<boolean> {
    const [outcome] = await this.#database.query(statement);
    const isDone = outcome?.["done"] === 1 || (await this.#isApplied(desk, revision));
    if (isDone) desk.blobs.keep(desk.key, fresh);
    else if (outcome?.["held"] === 0) await this.#makeFree(threadId, token);
    else if (typeof outcome?.["known"] === "number") onKnown?.(outcome["known"]);
    return isDone;
  }

  /** A statement that was sent again because its answer was lost finds that it was done the first time. */
  async #isApplied(desk: Desk, revision: number): Promise<boolean> {
    const rows = await this.#database.query(
      `SELECT 1 FROM ${this.#database.schema}.threads WHERE key = $1 AND revision = $2 AND writer = $3`,
      [desk.key, revision + 1, desk.writer],
    );
    return rows.length > 0;
  }

  /** Throws unless nobody has the thread, and it can be tried again. */
  async #makeFree(threadId: string, token: string | undefined): Promise<void> {
    const lease = await this.#leases.find(threadId);
    const isHeldHere = token !== undefined || this.#leases.tokenOf(threadId) !== undefined;
    if (isHeldHere || (lease && isAlive(lease))) throw busy(threadId, lease);
    await this.#leases.clear(threadId, lease);
  }

  #line(threadId: string): Line {
    const known = this.#lines.get(threadId);
    const line = known ?? { desk: undefined, last: Promise.resolve(), open: 0, waiting: 0 };
    // The last used are at the end.
    this.#lines.delete(threadId);
    this.#lines.set(threadId, line);
    if (!known && this.#lines.size > MAX_LINES) this.#dropOldest();
    return line;
  }

  #dropOldest(): void {
    for (const [threadId, { open }] of this.#lines) {
      if (open > 0) continue;
      this.#lines.delete(threadId);
      return;
    }
  }
}
