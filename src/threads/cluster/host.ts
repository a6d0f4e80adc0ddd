import { HarnessError } from "../../errors.ts";
import type { Todo } from "../../plan/index.ts";
import type { HostedThread, Ledger, ThreadStore } from "../../storage/index.ts";
import type { RequestOptions } from "../edit/index.ts";
import {
  forgetThread,
  Host,
  type CancelOptions,
  type StartOptions,
  EndedRuns,
  KEPT_MS,
  checkThread,
  deliverKept,
  type HostedGraph,
  Run,
  atWork,
  newRecord,
  notedThread,
  stopping,
  type ThreadNote,
  type RunRequest,
  inAllModes,
  EventLog,
  type StampedEvent,
  type ThreadEvent,
} from "../host/index.ts";
import type { PlanEdit } from "../plan/index.ts";
import type { ClusterDatabase } from "./database/database.ts";
import { Feed, type FeedEvent } from "./feed/feed.ts";
import { withJobs } from "./ledger.ts";
import { limitKeys } from "./limit-keys.ts";
import type { Job } from "./queue/job-table.ts";
import { Jobs, QUEUE } from "./queue/jobs.ts";
import { Reaper } from "./registry.ts";
import { ClusterSchedules } from "./schedules.ts";
import { prometheusText, readStatus } from "./status.ts";
import {
  ThreadFeed,
  identityOf,
  readRemoval,
  tellRemoval,
  type Removal,
  type ThreadIdentity,
} from "./thread-feed.ts";

interface ClusterHostOptions {
  db: ClusterDatabase;
  store: ThreadStore;
  graphs: ReadonlyMap<string, HostedGraph>;
}

const SWEEP_MS = 60_000;

/** Leaves runs to the workers that share its database, and shows them as if they were its own. */
export class ClusterHost extends Host {
  readonly checkpointer: ThreadStore;
  readonly ledger: Ledger;
  readonly jobs: Jobs;
  readonly schedules: ClusterSchedules;
  override readonly metrics: () => Promise<string>;
  readonly #id = crypto.randomUUID();
  readonly #db: ClusterDatabase;
  readonly #feed: Feed;
  readonly #reaper: Reaper;
  readonly #feeds = new Map<string, ThreadFeed>();
  /** Threads that this host is about to follow. */
  readonly #joining = new Map<string, Promise<void>>();
  readonly #ended = new EndedRuns((run) => this.#feeds.get(run.thread)?.drop(run));
  readonly #pass: NodeJS.Timeout;
  #isStopping = false;

  constructor({ db, store, graphs }: ClusterHostOptions) {
    super(graphs);
    this.checkpointer = store;
    this.#db = db;
    this.jobs = new Jobs(db);
    this.schedules = new ClusterSchedules(db);
    this.metrics = async () => prometheusText(await readStatus(db));
    this.ledger = withJobs(store.ledger, this.jobs);
    this.#reaper = new Reaper(db);
    this.#feed = new Feed(db, {
      onEvent: (event) => this.#take(event),
      onOther: (thread) => {
        // Someone watches all threads.
        if (this.events.isRead) void this.#join(thread);
      },
    });
    db.signals.on("ended", (thread) => void this.#settle(thread).catch(() => {}));
    db.signals.on("removed", (payload) => {
      const removal = readRemoval(payload);
      if (removal.isEnding) void this.#tellGone(removal);
      else if (removal.by !== this.#id) this.#noteRemoval(removal);
    });
    db.signals.onReturn(() => {
      for (const [thread, feed] of this.#feeds) void this.#resync(thread, feed).catch(() => {});
    });
    this.#pass = setInterval(() => this.#forgetOld(), SWEEP_MS).unref();
  }

  async run(id: string): Promise<Run | undefined> {
    const job = await this.jobs.find(id);
    const cached = [...this.#feeds.values()].find(({ runs }) => runs.has(id));
    if (!job) return cached?.runs.get(id);
    const feed = await this.#follow(job.thread);
    // A run that ended long ago is only in the ledger.
    if (!isOpen(job) && !feed.runs.has(id)) return undefined;
    return this.#mirror(job);
  }

  async active(thread: string): Promise<Run | undefined> {
    const running = (await this.jobs.open(thread)).find(({ status }) => status === "running");
    if (!running) return undefined;
    await this.#follow(thread);
    return this.#mirror(running);
  }

  isBusy(thread: string): Promise<boolean> {
    return this.jobs.isBusy(thread);
  }

  async protocol(thread: string): Promise<EventLog<ThreadEvent>> {
    return (await this.#follow(thread)).protocol;
  }

  async noteThread(id: string, more: ThreadNote): Promise<HostedThread> {
    const { graphs } = this;
    // A temporary thread leaves its events behind: a new thread of the same name must not get them.
    await this.jobs.forgetOldEvents(id);
    const thread = await this.ledger.changeThread(id, (before) => notedThread(id, { before, more, graphs }));
    this.tellThread(thread!);
    return thread!;
  }

  async start(
    thread: string,
    original: RunRequest,
    { note = {}, attendance }: StartOptions = {},
  ): Promise<Run> {
    if (attendance) throw new HarnessError("invalid-options", "A run of another process cannot be attended.");
    // A reader on another server may want any mode.
    const request = inAllModes(original);
    const graph = this.graph(request.graph);
    await checkThread(graph, thread);
    if (this.#isStopping) throw stopping();
    const hosted = await this.noteThread(thread, { ...note, graph: request.graph });
    const { owner } = hosted;
    const limits = await limitKeys(graph, { thread, owner, request });
    const record = newRecord(thread, { ...request, limits });
    const feed = await this.#follow(thread, hosted);
    if ((request.strategy ?? "reject") === "reject") {
      // A client may answer a run's question before the end of that run is saved.
      const asking = [...feed.runs.values()].filter(({ isAsking, isOver }) => isAsking && !isOver);
      await Promise.all(asking.map((other) => other.endsSoon()));
      if (this.#isStopping) throw stopping();
    }
    const run = new Run(record, { host: this, owner });
    feed.runs.set(run.id, run);
    feed.asked.add(run.id);
    try {
      await this.jobs.enqueue(record);
    } catch (error) {
      feed.runs.delete(run.id);
      throw error;
    } finally {
      feed.asked.delete(run.id);
    }
    return run;
  }

  async cancel(id: string, { isRolledBack = false }: CancelOptions = {}): Promise<boolean> {
    const run = await this.run(id);
    if (!run || run.isOver) return false;
    const isStopped = await this.jobs.stop([id], isRolledBack ? "rollback" : "interrupt");
    await this.#settle(run.thread);
    if (isStopped) await run.done;
    return isStopped;
  }

  async cancelAll(thread: string, options: CancelOptions = {}): Promise<boolean> {
    const open = await this.jobs.open(thread);
    const stopped = await Promise.all(open.toReversed().map(({ id }) => this.cancel(id, options)));
    return stopped.includes(true);
  }

  async removeRun(id: string): Promise<void> {
    for (const { runs } of this.#feeds.values()) {
      const run = runs.get(id);
      if (run) this.#ended.forget(run);
      runs.delete(id);
    }
    await this.jobs.remove(id);
  }

  async editPlan(thread: string, edit: PlanEdit, options?: RequestOptions): Promise<Todo[]> {
    return this.editStored(thread, edit, options, (await this.active(thread)) !== undefined);
  }

  async remove(thread: string): Promise<void> {
    const known = identityOf(await this.ledger.thread(thread));
    // Checked before anything is deleted.
    if ((await this.checkpointer.getThread(thread))?.state === "running") throw atWork(thread);
    await forgetThread(this.schedules, thread);
    // As long as the ledger has the thread, no one else can take its name, and read its events.
    await this.jobs.forget(thread);
    await this.checkpointer.deleteThread(thread);
    const removal = { thread, known, by: this.#id };
    this.#noteRemoval(removal);
    await tellRemoval(this.#db.pool, removal);
  }

  async isReady(): Promise<boolean> {
    return (
      !this.#isStopping &&
      this.#db.pool.query("SELECT 1").then(
        () => true,
        () => false,
      )
    );
  }

  /** Workers find what is unfinished by themselves. */
  recover(): Promise<void> {
    return deliverKept(this);
  }

  /** Leaves runs alone: workers do them. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#pass);
    this.#reaper.stop();
    for (const { protocol, runs } of this.#feeds.values()) {
      protocol.close();
      for (const run of runs.values()) run.chunks.close();
    }
    this.events.close();
  }

  async #follow(thread: string, identity?: ThreadIdentity): Promise<ThreadFeed> {
    const feed = this.#feedOf(thread, identity ?? (await this.ledger.thread(thread)));
    feed.usedAt = Date.now();
    if (feed.isLive) return feed;
    await this.#feed.follow(thread);
    // No signal comes for runs that have ended before.
    await this.#settle(thread);
    feed.isLive = true;
    return feed;
  }

  /** Follows a thread in which another server has started a run, and publishes that it has moved on. */
  async #join(thread: string): Promise<void> {
    const joining = this.#follow(thread)
      .then(() => this.noteMove(thread))
      .catch(() => {});
    this.#joining.set(thread, joining);
    await joining;
    if (this.#joining.get(thread) === joining) this.#joining.delete(thread);
  }

  #feedOf(thread: string, identity: ThreadIdentity | undefined): ThreadFeed {
    const before = this.#feeds.get(thread);
    if (before?.isOf(identity)) {
      before.identity = identity ?? before.identity;
      return before;
    }
    this.#forget(thread);
    const feed = new ThreadFeed(identity);
    this.#feeds.set(thread, feed);
    return feed;
  }

  #noteRemoval({ thread, known }: Pick<Removal, "thread" | "known">): void {
    const feed = this.#feeds.get(thread);
    // A new thread of the same name may be followed already.
    if (feed?.isOf(known)) this.#forget(thread);
    this.#tellRemoval({ thread, known });
  }

  async #tellGone(removal: Removal): Promise<void> {
    // The thread may have come and gone before any of its events were read.
    await this.#joining.get(removal.thread);
    await this.#settle(removal.thread).catch(() => {});
    this.#tellRemoval(removal);
  }

  #tellRemoval({ thread, known }: Pick<Removal, "thread" | "known">): void {
    this.events.push({ kind: "removed", thread, owner: known?.owner });
  }

  /** Catches up on a thread after a time without signals. */
  async #resync(thread: string, feed: ThreadFeed): Promise<void> {
    const identity = await this.ledger.thread(thread).catch(() => feed.identity);
    if (!feed.isOf(identity)) this.#noteRemoval({ thread, known: feed.identity });
    await this.#settle(thread);
    if (!identity && feed.identity) this.#noteRemoval({ thread, known: feed.identity });
  }

  #mirror(job: Job): Run {
    const feed = this.#feeds.get(job.thread);
    const run = feed?.runs.get(job.id) ?? new Run(job, { host: this, owner: feed?.identity?.owner });
    // Only `#settle` marks it as ended, after its last event was read.
    if (!run.isOver && isOpen(job)) run.record = { ...job };
    feed?.runs.set(job.id, run);
    return run;
  }

  #take({ thread, run: id, attempt, n, event }: FeedEvent): void {
    const feed = this.#feeds.get(thread);
    if (!feed) return;
    const run =
      feed.runs.get(id) ?? new Run(unknownRecord(id, thread), { host: this, owner: feed.identity?.owner });
    feed.runs.set(id, run);
    switch (event.kind) {
      case "begin":
        run.record = { ...run.record, attempt, ...(!run.isOver && { status: "running" }) };
        run.head = event.head;
        break;
      case "chunk":
        run.push(event.chunk, n);
        break;
      case "protocol":
        feed.protocol.push(event.event, n);
        break;
      case "event": {
        const stamped: StampedEvent = { ...event.event, run: id };
        if (feed.isLive)
          stamped.n = this.events.push({ kind: "run", thread, owner: run.owner, event: stamped });
        run.live.push(stamped);
        break;
      }
      case "end":
        run.result = event.result;
        if (!run.isOver) feed.endings.set(id, event.status);
        break;
    }
  }

  /** Marks finished runs of a thread as ended, after all their events were read. */
  async #settle(thread: string): Promise<void> {
    const feed = this.#feeds.get(thread);
    if (!feed) {
      if (this.events.isRead) await this.noteMove(thread);
      return;
    }
    await this.#feed.catchUp(thread);
    const open = [...feed.runs.values()].filter(({ id, isOver }) => !isOver && !feed.asked.has(id));
    const jobs = await this.jobs.named(open.map(({ id }) => id));
    for (const run of open) {
      const { id } = run;
      const job = jobs.get(id);
      if (run.isOver || (job && isOpen(job))) continue;
      if (job) run.record = { ...job };
      const reason = job?.reason;
      run.result ??= {
        values: {},
        interrupts: [],
        ...(reason !== undefined && { error: { name: "RunError", message: reason } }),
      };
      run.settle(job?.status ?? feed.endings.get(id) ?? "interrupted");
      run.end();
      this.#ended.add(run);
      // A run without a record was rolled back, or went with its temporary thread.
      if (!job && !run.request.isTemporary) this.#ended.forget(run);
    }
    await this.tellThreadId(thread);
  }

  #forgetOld(): void {
    // A thread that no one reads is followed as long as its ended runs are kept.
    const old = Date.now() - KEPT_MS;
    for (const [thread, feed] of this.#feeds) if (!feed.isUsed && feed.usedAt < old) this.#forget(thread);
  }

  /** Stops following a thread, and ends its readers. */
  #forget(thread: string): void {
    const feed = this.#feeds.get(thread);
    if (!feed) return;
    this.#feed.forget(thread);
    this.#feeds.delete(thread);
    for (const run of feed.runs.values()) this.#ended.forget(run);
    feed.close();
  }
}

function isOpen({ status }: Job): boolean {
  return status === "pending" || status === "running";
}

/** The record of a run whose events come before its row is read. */
function unknownRecord(id: string, thread: string): Job {
  const now = Date.now();
  const times = { createdAt: now, updatedAt: now };
  const nothing = { attempt: 1, request: {}, queue: QUEUE, keys: [] };
  return { id, thread, status: "running", ...times, ...nothing, dueIn: 0 };
}
