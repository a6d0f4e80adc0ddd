import { Recent } from "../../codec/index.ts";
import { busy, changed } from "../../store/index.ts";
import { isAway, type Database } from "../database/index.ts";
import { isAlive, type Leases } from "../leases.ts";
import { Batch, type Change } from "./batch.ts";
import type { NamedBlob, RecentBlobs } from "./blobs.ts";
import { Statements } from "./statements.ts";
import { openDesk, type Desk } from "./thread-cache.ts";

/** A write to a thread, to be encoded for the desk as it is then. */
export interface Job {
  threadId: string;
  /** The lease that the run writes by, where its config says so. */
  token: string | undefined;
  /** What is not urgent is encoded and sent at the end of the turn of the event loop, or with what is. */
  isUrgent: boolean;
  /** Whether all is known that it takes to encode it, and what reads it where it is not. Default: it is. */
  isReady?: (desk: Desk) => boolean;
  prepare?: (desk: Desk) => Promise<void>;
  /** Brings the desk to where it is after it. May throw. Undefined: there is nothing to do. */
  encode: (desk: Desk) => Change | undefined;
  /** What was encoded is not sent, and is encoded anew. */
  onUndone?: (desk: Desk) => void;
  /** The checkpoint that was to be added is there already. */
  onKnown?: (seq: number) => void;
}

/** A job that has not ended. */
interface Entry {
  job: Job;
  /** What it is sent with; undefined while it is not encoded. */
  batch?: Batch | undefined;
  /** Whether it is sent alone, after it was sent with others and one of them has failed. */
  isAlone: boolean;
  tries: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** What is to be saved of a thread, in the order of the calls. */
interface Line {
  desk: Desk | undefined;
  /** What has not been sent. */
  waiting: Entry[];
  /** How many have not ended. */
  open: number;
  /** Resolves when all have. */
  last: Promise<unknown>;
  isAtWork: boolean;
  /** Ends the wait for more to send. */
  hurry: () => void;
}

const MAX_LINES = 256;
const MOST_TRIES = 20;

/**
 * Writes to threads, one statement of a thread after the other. What is urgent is encoded when it is handed over, as soon
 * as the thread is known: values may change afterwards. When somebody else was faster, all is encoded anew.
 *
 * LangGraph waits for a checkpoint before it saves the next one, and for what tasks have written it does not: so that
 * is one statement with the checkpoint that follows it. It is encoded with it too: a message that is named when it is
 * merged into the state is then stored once.
 */
export class Lines {
  readonly #database: Database;
  readonly #leases: Leases;
  readonly #statements: Statements;
  readonly #lines = new Map<string, Line>();
  readonly recent: RecentBlobs = new Recent<string, NamedBlob>();

  constructor(database: Database, leases: Leases) {
    this.#database = database;
    this.#leases = leases;
    this.#statements = new Statements(database.schema);
  }

  /** Resolves when all that was handed over before, for one thread or for all, is saved, or has failed. */
  async settled(threadId?: string): Promise<void> {
    if (threadId !== undefined) await this.#lines.get(threadId)?.last;
    else await Promise.all([...this.#lines.values()].map(({ last }) => last));
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

  /** Resolves when it is saved. */
  async write(job: Job): Promise<void> {
    const line = this.#line(job.threadId);
    const ended = new Promise<void>((resolve, reject) => {
      line.waiting.push({ job, isAlone: false, tries: 0, resolve, reject });
    });
    line.open += 1;
    line.last = ended.catch(() => {});
    if (job.isUrgent) {
      if (line.desk) this.#encodeReady(line, line.desk);
      line.hurry();
    }
    if (!line.isAtWork) void this.#work(line);
    await ended;
  }

  /** Sends all that waits. */
  async #work(line: Line): Promise<void> {
    line.isAtWork = true;
    while (line.waiting.length > 0) {
      if (!line.waiting.some(({ job }) => job.isUrgent)) await turn(line);
      await this.#sendNext(line);
    }
    line.isAtWork = false;
  }

  async #sendNext(line: Line): Promise<void> {
    const first = line.waiting[0]!;
    if (!first.batch || first.batch.desk !== line.desk) await this.#encodeWaiting(line);
    const { batch } = first;
    // It has ended, or one after it has failed and all are encoded once more.
    if (!batch || batch.desk !== line.desk) return;
    const sent = line.waiting.filter((entry) => entry.batch === batch);
    line.waiting.splice(0, sent.length);
    try {
      if (await this.#isDone(sent, batch)) for (const entry of sent) end(line, entry);
      else this.#sendAgain(line, sent, batch);
    } catch (error) {
      // One of several is to blame, unless the server is not there for any of them.
      if (sent.length > 1 && !isAway(error)) return this.#sendAgain(line, sent, batch);
      forget(line, batch);
      for (const entry of sent) end(line, entry, error);
    }
  }

  /** They come first again; of several, each by itself. */
  #sendAgain(line: Line, sent: readonly Entry[], batch: Batch): void {
    forget(line, batch);
    const left: Entry[] = [];
    for (const entry of sent) {
      entry.tries += 1;
      entry.isAlone ||= sent.length > 1;
      if (entry.tries < MOST_TRIES) left.push(entry);
      else end(line, entry, changed(entry.job.threadId));
    }
    line.waiting.unshift(...left);
  }

  /** Encodes what waits; what it takes to encode the first is read. */
  async #encodeWaiting(line: Line): Promise<void> {
    const first = line.waiting[0]!;
    const { job } = first;
    try {
      const desk = line.desk ?? (await openDesk(job.threadId, this.#database, this.recent));
      if (!isReady(job, desk)) await job.prepare?.(desk);
      this.#encodeReady(line, desk);
    } catch (error) {
      // It may have become ready while this was read.
      if (line.waiting[0] !== first || (first.batch && first.batch.desk === line.desk)) return;
      line.waiting.shift();
      end(line, first, error);
    }
  }

  /** Encodes what waits, up to what takes more to be known. One that fails ends. */
  #encodeReady(line: Line, desk: Desk): void {
    for (const entry of line.waiting) {
      if (!entry.batch || entry.batch.desk === desk) continue;
      entry.job.onUndone?.(entry.batch.desk);
      entry.batch = undefined;
    }
    for (let at = 0; at < line.waiting.length;) {
      const entry = line.waiting[at]!;
      if (!entry.batch && !isReady(entry.job, desk)) return;
      try {
        if (!entry.batch) this.#encode(entry, { line, desk, before: line.waiting[at - 1] });
        if (entry.batch) at += 1;
        else end(line, line.waiting.splice(at, 1)[0]!);
      } catch (error) {
        line.waiting.splice(at, 1);
        return end(line, entry, error);
      }
    }
  }

  /** Where there is nothing to do it gets no batch. */
  #encode(entry: Entry, { line, desk, before }: { line: Line; desk: Desk; before: Entry | undefined }): void {
    const { job, isAlone } = entry;
    try {
      const change = job.encode(desk);
      line.desk = desk;
      if (!change) return;
      const token = job.token ?? this.#leases.tokenOf(job.threadId);
      const isJoined = !isAlone && !before?.isAlone && before?.batch?.isOpen(desk, token);
      entry.batch = isJoined ? before!.batch! : new Batch(desk, token);
      entry.batch.add(change);
    } catch (error) {
      // Some blobs have been put that will not be written.
      line.desk = undefined;
      throw error;
    }
  }

  /** Whether a batch is in the database. Throws `thread-busy` when it may not be there. */
  async #isDone(sent: readonly Entry[], batch: Batch): Promise<boolean> {
    const [outcome] = await this.#database.query(this.#statements.of(batch));
    if (outcome?.["done"] === 1 || (await this.#isApplied(batch))) {
      batch.desk.blobs.keep(batch.desk.key, batch.fresh);
      return true;
    }
    // A checkpoint is the last of its batch.
    const { threadId, token, onKnown } = sent.at(-1)!.job;
    if (typeof outcome?.["known"] === "number") onKnown?.(outcome["known"]);
    // Of several, each hears of it when it is sent by itself.
    else if (outcome?.["held"] === 0 && sent.length === 1) await this.#makeFree(threadId, token);
    return false;
  }

  /** A statement that was sent again because its answer was lost finds that it was done the first time. */
  async #isApplied({ desk, revision }: Batch): Promise<boolean> {
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
    const line = known ?? newLine();
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

function newLine(): Line {
  const last = Promise.resolve();
  return { desk: undefined, waiting: [], open: 0, last, isAtWork: false, hurry: () => {} };
}

function isReady({ isReady: isKnown }: Job, desk: Desk): boolean {
  return isKnown?.(desk) !== false;
}

/** Resolves at the end of the turn of the event loop, or when something urgent comes. */
function turn(line: Line): Promise<void> {
  return new Promise((resolve) => {
    line.hurry = resolve;
    setImmediate(resolve);
  });
}

/** What a batch would have changed on the desk is not in the database. */
function forget(line: Line, { desk }: Batch): void {
  if (line.desk === desk) line.desk = undefined;
}

function end(line: Line, entry: Entry, error?: unknown): void {
  line.open -= 1;
  if (error === undefined) entry.resolve();
  else entry.reject(error);
}
