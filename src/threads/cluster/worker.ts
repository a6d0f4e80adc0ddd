import type { HostedThread, RunStatus, ThreadStore } from "../../storage/index.ts";
import {
  type Schedule,
  execute,
  type HostedGraph,
  Run,
  type RunHome,
  isBusy,
  EventLog,
} from "../host/index.ts";
import { tracesFrom } from "../traces/index.ts";
import { APPLICATION, SILENT, type ClusterDatabase } from "./database/database.ts";
import { Publisher, type RunStream } from "./feed/publisher.ts";
import type { Job, Stop } from "./queue/job-table.ts";
import { Jobs, MOST_ATTEMPTS, QUEUE, TURN, type Limits } from "./queue/jobs.ts";
import { isTransient, pause } from "./queue/transient-failure.ts";
import { Membership, Reaper } from "./registry.ts";
import { SCHEDULED, startScheduled } from "./schedules.ts";
import { identityOf, tellRemoval, type ThreadIdentity } from "./thread-feed.ts";

export interface WorkerOptions {
  db: ClusterDatabase;
  store: ThreadStore;
  graphs: ReadonlyMap<string, HostedGraph>;
  /** The concurrent runs per queue. DBOS keeps one number for all workers of a queue: the last one's. Default 10. */
  slots?: number;
  /** The queues to take runs from. Default `["runs"]`, the queue of runs that name none. */
  queues?: readonly string[];
  limits?: Limits;
  /**
   * Called when others have declared this worker dead: its process was stopped or cut off for too long. Its runs are
   * stopped and continue elsewhere. This worker can start nothing more, and the process should end.
   */
  onLost: () => void;
}

const POLL_MS = 100;
const SLOTS = 10;

/** Takes turns of threads from the queue, and does their runs. One per process, as DBOS allows no more. */
export class ClusterWorker {
  readonly #options: WorkerOptions;
  readonly #jobs: Jobs;
  readonly #membership: Membership;
  readonly #publisher: Publisher;
  readonly #traces = tracesFrom(process.env);
  readonly #reaper: Reaper;
  readonly #running = new Map<string, { run: Run; job: Job; stream: RunStream }>();
  readonly #stops = new Map<string, Stop>();
  #isDraining = false;
  #isLost = false;
  #onLost!: () => void;
  readonly #lost = new Promise<void>((resolve) => (this.#onLost = resolve));

  private constructor(options: WorkerOptions, membership: Membership) {
    const { db } = options;
    this.#options = options;
    this.#jobs = new Jobs(db);
    this.#membership = membership;
    this.#publisher = new Publisher(db, membership.id);
    this.#reaper = new Reaper(db);
    db.signals.on("stop", (payload) => {
      const { id, how } = JSON.parse(payload) as { id: string; how: Stop };
      // Kept, as it may be for a run that this worker is about to start.
      this.#stops.set(id, how);
      if (this.#stops.size > MAX_STOPS) this.#stops.delete(this.#stops.keys().next().value!);
      this.#stop(id, how);
    });
    db.signals.onReturn(() => void this.#checkStops());
  }

  static async start(options: WorkerOptions): Promise<ClusterWorker> {
    const { db, slots = SLOTS, queues = [QUEUE] } = options;
    const { DBOS } = await import("@dbos-inc/dbos-sdk");
    const membership = await Membership.join(db, { slots, queues, onLost: () => worker.#lose() });
    const worker = new ClusterWorker(options, membership);
    await db.signals.listening();
    DBOS.setConfig({
      name: APPLICATION.name,
      applicationVersion: APPLICATION.version,
      systemDatabaseUrl: db.url,
      systemDatabasePool: db.pool,
      executorID: membership.id,
      listenQueues: [...queues],
      runMigrations: false,
      useListenNotify: false,
      schedulerPollingIntervalMs: 1000,
      logger: SILENT,
    });
    DBOS.registerWorkflow((thread: string) => worker.#turn(thread), {
      name: TURN,
      maxRecoveryAttempts: 1_000_000,
    });
    DBOS.registerWorkflow((at: Date, schedule: Schedule) => startScheduled(options, at, schedule), {
      name: SCHEDULED,
    });
    await DBOS.launch();
    for (const queue of queues) {
      await DBOS.registerQueue(queue, {
        workerConcurrency: slots,
        minPollingIntervalMs: POLL_MS,
        onConflict: "always_update",
      });
    }
    return worker;
  }

  get id(): string {
    return this.#membership.id;
  }

  get running(): number {
    return this.#running.size;
  }

  /**
   * Takes no more turns, and stops every run at the end of its current step: other workers continue from there without
   * repeating anything. Resolves when all runs are back in the queue.
   */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#membership.drain();
    for (const { run } of this.#running.values()) run.edits.leave();
    // Runs of a worker that was declared dead never end here.
    await Promise.race([this.#lost, this.#stopTurns(LONGEST_STEP_MS)]);
    this.#reaper.stop();
    await this.#membership.leave();
    await this.#traces?.close();
  }

  /** Takes no more turns, and waits for the current ones up to a time limit. */
  async #stopTurns(workflowCompletionTimeoutMS: number): Promise<void> {
    const { DBOS } = await import("@dbos-inc/dbos-sdk");
    await DBOS.shutdown({ deregister: true, workflowCompletionTimeoutMS });
  }

  /** One turn of a thread: its next run, up to its end. Does not throw, so that DBOS retries nothing. */
  async #turn(thread: string): Promise<void> {
    const { queues = [QUEUE], limits = {} } = this.#options;
    const claimant = { worker: this.#membership.id, queues, limits };
    const job = await this.#retried(() => this.#jobs.claim(thread, claimant));
    if (!job) return;
    if (job.status === "error") {
      await this.#noteEnd(job.thread, "error");
      return;
    }
    if (this.#isDraining) {
      await this.#retried(() => this.#jobs.putBack(job));
      return;
    }
    const run = new Run(job, { host: UNREAD });
    const { isTemporary } = run.request;
    const record = isTemporary ? await this.#recordOf(thread) : undefined;
    let stream: RunStream | undefined;
    try {
      stream = await this.#retried(() => this.#publisher.open(job, () => run.abort()));
      this.#running.set(job.id, { run, job, stream });
      const stop = job.stop ?? this.#stops.get(job.id);
      if (stop) this.#stop(job.id, stop);
      await this.#run(run, job, stream);
    } catch (error) {
      // Other workers take over only from dead ones.
      await this.#end(run, job, { status: "error", reason: (error as Error).message });
    } finally {
      this.#running.delete(job.id);
      if (stream) await this.#publisher.close(stream);
    }
    if (isTemporary) await this.#tellRemoval(thread, identityOf(record));
  }

  async #run(run: Run, job: Job, stream: RunStream): Promise<void> {
    const { graphs } = this.#options;
    const graph = graphs.get(run.request.graph);
    if (!graph) {
      const names = [...graphs.keys()].join(", ");
      const reason = `The worker has no graph ${JSON.stringify(run.request.graph)}; it has: ${names}.`;
      await this.#end(run, job, { status: "error", reason });
      return;
    }
    const record = await this.#recordOf(job.thread);
    const { status, isLeft, failure } = await execute(run, {
      graph,
      chunks: { push: (chunk) => stream.push({ kind: "chunk", chunk }) },
      protocol: { push: (event) => stream.push({ kind: "protocol", event }) },
      emit: (event) => stream.push({ kind: "event", event }),
      save: async (change) => {
        if (change.base !== undefined && change.base === run.record.base) return true;
        run.record = { ...run.record, ...change };
        if (change.base !== undefined) await this.#jobs.note(job, { base: change.base });
        stream.push({ kind: "begin", head: run.head });
        return true;
      },
      traces: this.#traces,
      isTakenOver: job.isTakenOver === true,
      isTriedAgain: (error) => isBusy(error) || (isTransient(error) && job.attempt < MOST_ATTEMPTS),
    });
    // Other workers have taken over the runs of a worker that was declared dead: its events must not be read.
    if (this.#isLost) return NEVER;
    if (!isLeft) stream.push({ kind: "end", status, result: run.result });
    await this.#publisher.close(stream);
    if (stream.failure && status === "interrupted") throw stream.failure;
    const reason = run.result?.error?.message;
    if (!isLeft) await this.#end(run, job, { status, reason, record });
    else if (failure === undefined) await this.#retried(() => this.#jobs.putBack(job));
    else {
      const again = isBusy(failure)
        ? { delay: busyPause(job) }
        : { delay: pause(job.attempt), attempt: job.attempt + 1 };
      await this.#retried(() => this.#jobs.putBack(job, { ...again, reason: reason ?? "It failed." }));
    }
  }

  async #end(
    run: Run,
    job: Job,
    { status, reason, record }: { status: RunStatus; reason?: string; record?: HostedThread },
  ): Promise<void> {
    const stop = run.isRolledBack ? ("rollback" as const) : undefined;
    const isMine = await this.#retried(() =>
      this.#jobs.end({ ...job, ...(stop && { stop }) }, status, reason),
    );
    if (!isMine) return;
    // A thread that was rolled back to nothing can still be run.
    await this.#noteEnd(job.thread, status, run.isRolledBack ? record : undefined);
    if (run.request.isTemporary && !(await this.#jobs.isBusy(job.thread))) await this.#discard(job.thread);
  }

  async #noteEnd(thread: string, status: RunStatus, deleted?: HostedThread): Promise<void> {
    const hasFailed = status === "error";
    await this.#options.store.ledger
      .changeThread(thread, (record = deleted) => record && { ...record, updatedAt: Date.now(), hasFailed })
      .catch(() => {});
  }

  async #recordOf(thread: string): Promise<HostedThread | undefined> {
    return this.#options.store.ledger.thread(thread).catch(() => undefined);
  }

  /** Deletes a temporary thread, but not its events: servers may still have to read them. Ignores failures. */
  async #discard(thread: string): Promise<void> {
    const { store } = this.#options;
    await store.deleteThread(thread).catch(() => {});
    await store.ledger.forget(thread).catch(() => {});
    await this.#jobs.forget(thread, { keepsEvents: true }).catch(() => {});
  }

  /** Notifies servers that a temporary thread was deleted, after the last event of its run. */
  async #tellRemoval(thread: string, known: ThreadIdentity | undefined): Promise<void> {
    const { db, store } = this.#options;
    const removal = { thread, known, by: this.#membership.id, isEnding: true };
    try {
      if (!(await store.ledger.thread(thread))) await tellRemoval(db.pool, removal);
    } catch {
      // Servers find out when they read the thread.
    }
  }

  #stop(id: string, how: Stop): void {
    const { run } = this.#running.get(id) ?? {};
    // The result of a run that has just ended stays.
    if (!run || run.isOver) return;
    run.isRolledBack = how === "rollback";
    run.abort();
  }

  async #checkStops(): Promise<void> {
    const jobs = await this.#jobs.stopped(this.#membership.id).catch(() => []);
    for (const { id, stop } of jobs) this.#stop(id, stop!);
  }

  #lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    for (const { run, stream } of this.#running.values()) {
      stream.giveUp();
      run.abort();
    }
    // Otherwise it would take more turns, and could not do their runs.
    void this.#stopTurns(0).then(this.#onLost, this.#onLost);
    this.#options.onLost();
  }

  /** Repeats work until the database answers; does nothing more once other workers have taken over. */
  async #retried<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      if (this.#isLost) return NEVER;
      try {
        return await work();
      } catch (error) {
        if (!isTransient(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }
}

/** Surfaces read and stop a worker's runs through servers. */
const UNREAD: RunHome = { events: new EventLog(), say: async () => {}, cancel: async () => false };
const RETRY_MS = 250;
const MAX_STOPS = 1000;
const LONGEST_STEP_MS = 24 * 60 * 60 * 1000;
const NEVER: Promise<never> = new Promise(() => {});

/** The seconds until the next attempt: more for an older run. */
function busyPause({ createdAt }: Job): number {
  const seconds = (Date.now() - createdAt) / 1000;
  return Math.max(1, Math.min(15, seconds / 4));
}
