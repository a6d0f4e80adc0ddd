import { HarnessError } from "../../errors.ts";
import type { Todo } from "../../plan/index.ts";
import type { HostedThread, Ledger, ThreadStore } from "../../storage/index.ts";
import { editedPlan, editEvent, requestEdit, type RequestOptions } from "../edit/index.ts";
import {
  forgetThread,
  Host,
  type CancelOptions,
  type StartOptions,
  EndedRuns,
  KEPT_MS,
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

export interface ClusterHostOptions {
  db: ClusterDatabase;
  store: ThreadStore;
  graphs: ReadonlyMap<string, HostedGraph>;
}

const SWEEP_MS = 60_000;
/** Lets workers run threads that share a database with it, and shows any run of theirs as if it were its own. */
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
  /** Threads that are about to be followed. */
  readonly #joining = new Map<string, Promise<void>>();
  readonly #ended = new EndedRuns((run) => this.#feeds.get(run.thread)?.drop(run));
  readonly #sweep: NodeJS.Timeout;
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
        // Somebody watches everything.
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
      for (const [thread, feed] of this.#feeds) void this.#lookAgain(thread, feed).catch(() => {});
    });
    this.#sweep = setInterval(() => this.#forgetOld(), SWEEP_MS).unref();
  }

  async run(id: string): Promise<Run | undefined> {
    const job = await this.jobs.find(id);
    const cached = [...this.#feeds.values()].find(({ runs }) => runs.has(id));
    if (!job) return cached?.runs.get(id);
    const feed = await this.#follow(job.thread);
    // One that ended long ago is only in the ledger.
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
    // One that was for a single run leaves its words behind, and they are not for who takes its name.
    await this.jobs.forgetWords(id);
    const thread = await this.ledger.changeThread(id, (before) => notedThread(id, { before, more, graphs }));
    this.tellThread(thread!);
    return thread!;
  }

  async start(thread: string, given: RunRequest, { note = {}, attendance }: StartOptions = {}): Promise<Run> {
    if (attendance) throw new HarnessError("invalid-options", "Nobody attends a run of another process.");
    // Nobody knows who watches the thread on another server.
    const request = inAllModes(given);
    const graph = this.graph(request.graph);
    await graph.checkThread?.(thread);
    if (this.#isStopping) throw stopping();
    const hosted = await this.noteThread(thread, { ...note, graph: request.graph });
    const { owner } = hosted;
    const limits = await limitKeys(graph, { thread, owner, request });
    const record = newRecord(thread, { ...request, limits });
    const feed = await this.#follow(thread, hosted);
    if ((request.strategy ?? "reject") === "reject") {
      // A client may know that a run has asked, and answer, before its end is written down.
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
    const found = await this.thread(thread).read();
    const isRunning = (await this.active(thread)) !== undefined;
    const { before, todos } = await editedPlan(found, () => requestEdit(found, edit, options));
    if (!isRunning) await this.tellEdit(thread, editEvent(edit, { before, todos }));
    return todos;
  }

  async remove(thread: string): Promise<void> {
    const known = identityOf(await this.ledger.thread(thread));
    // What is deleted first must not be gone in vain.
    if ((await this.checkpointer.getThread(thread))?.state === "running") throw atWork(thread);
    await forgetThread(this.schedules, thread);
    // As long as the ledger has the thread, nobody else can have its name, and read what is left.
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
  async recover(): Promise<void> {}

  /** Runs go on: they are not this process's. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#sweep);
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
    // Of those that ended before nobody will tell.
    await this.#settle(thread);
    feed.isLive = true;
    return feed;
  }

  /** Follows a thread that another server has begun to work on, and says so. */
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
    // It may be there again, and be followed already.
    if (feed?.isOf(known)) this.#forget(thread);
    this.#tellRemoval({ thread, known });
  }

  async #tellGone(removal: Removal): Promise<void> {
    // It may have been begun and be gone before anything of it was read.
    await this.#joining.get(removal.thread);
    await this.#settle(removal.thread).catch(() => {});
    this.#tellRemoval(removal);
  }

  #tellRemoval({ thread, known }: Pick<Removal, "thread" | "known">): void {
    this.events.push({ kind: "removed", thread, owner: known?.owner });
  }

  /** Finds out what became of a thread while nothing could be heard. */
  async #lookAgain(thread: string, feed: ThreadFeed): Promise<void> {
    const identity = await this.ledger.thread(thread).catch(() => feed.identity);
    if (!feed.isOf(identity)) this.#noteRemoval({ thread, known: feed.identity });
    await this.#settle(thread);
    if (!identity && feed.identity) this.#noteRemoval({ thread, known: feed.identity });
  }

  #mirror(job: Job): Run {
    const feed = this.#feeds.get(job.thread);
    const run = feed?.runs.get(job.id) ?? new Run(job, { host: this, owner: feed?.identity?.owner });
    // That it has ended is said by `#settle`, once all is read that it said.
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

  /** Ends the runs of a thread that have ended, once all is read that they said. */
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
      // What was rolled back never was; a thread that was for one run took its record along.
      if (!job && !run.request.isTemporary) this.#ended.forget(run);
    }
    const { owner } = (await this.ledger.thread(thread)) ?? {};
    this.tellThread({ id: thread, ...(owner !== undefined && { owner }) });
  }

  #forgetOld(): void {
    // A thread that nobody asks for is followed as long as its runs are kept.
    const old = Date.now() - KEPT_MS;
    for (const [thread, feed] of this.#feeds) if (!feed.isUsed && feed.usedAt < old) this.#forget(thread);
  }

  /** Ends whatever is read of a thread here. */
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

/** A run that is heard of before it is looked up. */
function unknownRecord(id: string, thread: string): Job {
  const now = Date.now();
  const times = { createdAt: now, updatedAt: now };
  const nothing = { attempt: 1, request: {}, queue: QUEUE, keys: [] };
  return { id, thread, status: "running", ...times, ...nothing, dueIn: 0 };
}
