import type { MessageContent } from "@langchain/core/messages";
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import { HarnessError } from "../../errors.ts";
import type { Todo } from "../../plan/index.ts";
import type { HostedThread, Ledger, Moment, RunRecord, ThreadStore } from "../../storage/index.ts";
import { isForLater } from "../../storage/store/index.ts";
import type { RequestOptions } from "../edit/index.ts";
import type { RunEvent } from "../events/index.ts";
import type { PlanEdit } from "../plan/index.ts";
import { isAsking } from "../thread/index.ts";
import type { Traces } from "../traces/index.ts";
import { Host, type CancelOptions, type StartOptions } from "./client.ts";
import { EndedRuns } from "./ended-runs.ts";
import { execute } from "./execute.ts";
import { checkThread, type HostedGraph } from "./graphs.ts";
import { Run } from "./hosted-run.ts";
import { deliverKept } from "./kept-messages.ts";
import {
  alreadyRunning,
  atWork,
  dueTime,
  firstNumber,
  ifStillAt,
  isTakenByAnother,
  newRecord,
  notedThread,
  stopping,
  type ThreadNote,
} from "./records.ts";
import type { Attendance } from "./request/attendance.ts";
import type { RunRequest, Strategy } from "./request/request.ts";
import { inAllModes } from "./request/stream-modes.ts";
import { forgetThread, ownerFor } from "./schedules/schedule.ts";
import { StoredSchedules, type Due } from "./schedules/stored-schedules.ts";
import { EventLog } from "./stream/event-log.ts";
import type { StampedEvent } from "./stream/live-events.ts";
import type { ThreadEvent } from "./stream/thread-protocol.ts";
import { ThreadQueue } from "./thread-queue.ts";

export interface RunHostOptions {
  graphs: ReadonlyMap<string, HostedGraph>;
  checkpointer: BaseCheckpointSaver;
  ledger: Ledger;
  traces?: Traces;
}

/** The interval of checks for due runs, and for threads that another process has released. */
const LOOK_MS = 1000;

/** Runs threads in this process, one run per thread at a time. */
export class RunHost extends Host {
  readonly checkpointer: BaseCheckpointSaver;
  readonly ledger: Ledger;
  readonly schedules: StoredSchedules;
  readonly #traces: Traces | undefined;
  readonly #queues = new Map<string, ThreadQueue>();
  readonly #runs = new Map<string, Run>();
  /** Delayed runs with a `Run` in this process. They do not block their thread. */
  readonly #later = new Set<Run>();
  readonly #ended = new EndedRuns((run) => {
    this.#runs.delete(run.id);
    this.#clear(run.thread);
  });
  /** The ids of runs that start here once another process releases their thread. */
  readonly #held = new Set<string>();
  #warned = "";
  #isStopping = false;
  #clock: NodeJS.Timeout | undefined;

  constructor({ graphs, checkpointer, ledger, traces }: RunHostOptions) {
    super(graphs);
    this.checkpointer = checkpointer;
    this.ledger = ledger;
    this.schedules = new StoredSchedules(ledger);
    this.#traces = traces;
  }

  run(id: string): Run | undefined {
    return this.#runs.get(id);
  }

  active(thread: string): Run | undefined {
    return this.#queues.get(thread)?.active;
  }

  isBusy(thread: string): boolean {
    return this.#queues.get(thread)?.isBusy === true;
  }

  async protocol(thread: string): Promise<EventLog<ThreadEvent>> {
    return this.#queue(thread, await this.ledger.thread(thread)).protocol;
  }

  async noteThread(id: string, more: ThreadNote): Promise<HostedThread> {
    return (await this.#noteThread(id, more))!;
  }

  /** Returns undefined if another server has taken the schedule's `moment` first. */
  async #noteThread(
    id: string,
    more: ThreadNote,
    run?: RunRecord,
    moment?: Moment,
  ): Promise<HostedThread | undefined> {
    const { graphs } = this;
    const change = (before?: HostedThread): HostedThread => notedThread(id, { before, more, graphs });
    const thread = await this.ledger.changeThread(id, change, run, moment);
    if (thread) this.tellThread(thread);
    return thread;
  }

  async start(
    thread: string,
    request: RunRequest,
    { note = {}, attendance }: StartOptions = {},
  ): Promise<Run> {
    const graph = this.graph(request.graph);
    const record = this.#newRecord(thread, request);
    const { strategy = "reject" } = request;
    if (strategy !== "enqueue") {
      // No await between the last check and joining the queue: another request could get in between.
      while (this.isBusy(thread)) await this.#clearTheWay(thread, strategy);
    }
    if (this.#isStopping) throw stopping();
    if (attendance) return this.#enqueue(record, undefined, attendance);
    return this.#inTurn(thread, async (queue) => {
      await checkThread(graph, thread);
      await this.#findQuestion(queue, record);
      return this.#enqueue(record, await this.#noteThread(thread, { ...note, graph: request.graph }, record));
    });
  }

  #newRecord(thread: string, request: RunRequest): RunRecord {
    return newRecord(thread, this.#queues.get(thread)?.protocol.isRead ? inAllModes(request) : request);
  }

  /** Does work on a thread's queue, in the order of the calls. The thread counts as busy from the call on. */
  #inTurn<T>(thread: string, work: (queue: ThreadQueue) => Promise<T>): Promise<T> {
    const queue = this.#queue(thread);
    queue.arriving += 1;
    const result = queue.arrival
      .then(() => work(queue))
      .finally(() => {
        queue.arriving -= 1;
        this.#clear(thread);
      });
    queue.arrival = result.catch(() => {});
    return result;
  }

  async cancel(id: string, { isRolledBack = false }: CancelOptions = {}): Promise<boolean> {
    const run = this.#runs.get(id);
    if (!run || this.#later.has(run)) return this.#cancelLater(id, { isRolledBack });
    if (run.isOver) {
      // The thread is free once the end of the run is saved.
      await run.done;
      return false;
    }
    const queue = this.#queue(run.thread);
    run.isRolledBack = isRolledBack;
    if (queue.active === run) {
      run.abort();
      await run.done;
    } else {
      queue.waiting = queue.waiting.filter((other) => other !== run);
      run.settle("interrupted");
      this.#close(run, await this.#saveEnd(run));
    }
    if (isRolledBack) await this.removeRun(id);
    return true;
  }

  /** Cancels a delayed run, whichever server accepted it. */
  async #cancelLater(id: string, { isRolledBack }: Required<CancelOptions>): Promise<boolean> {
    const record = await this.ledger.changeRun(id, (saved) =>
      isForLater(saved) ? { ...saved, status: "interrupted", updatedAt: Date.now() } : undefined,
    );
    if (!record) return false;
    const { thread } = record;
    const run =
      this.#runs.get(id) ?? new Run(record, { host: this, owner: (await this.ledger.thread(thread))?.owner });
    this.#later.delete(run);
    run.record = record;
    this.#close(run, await this.#saveEnd(run));
    if (isRolledBack) await this.removeRun(id);
    if (run.request.isTemporary) await this.#discard(thread);
    return true;
  }

  async cancelAll(thread: string, options: CancelOptions = {}): Promise<boolean> {
    await this.#queues.get(thread)?.arrival;
    const { active, waiting = [] } = this.#queues.get(thread) ?? {};
    // Waiting runs first: otherwise each would start when the one before it ends.
    const all = [...waiting.toReversed(), ...(active ? [active] : [])];
    const stopped = await Promise.all(all.map((run) => this.cancel(run.id, options)));
    return stopped.includes(true);
  }

  async removeRun(id: string): Promise<void> {
    this.#runs.delete(id);
    await this.ledger.removeRun(id);
  }

  async editPlan(thread: string, edit: PlanEdit, options?: RequestOptions): Promise<Todo[]> {
    try {
      const active = this.active(thread);
      if (active) return await active.edits.submit(edit);
    } catch (error) {
      if (HarnessError.from(error)?.code !== "run-ended") throw error;
    }
    return this.editStored(thread, edit, options);
  }

  override async say(thread: string, content: MessageContent, options?: RequestOptions): Promise<void> {
    await (this.active(thread)?.edits.say(content) ?? super.say(thread, content, options));
  }

  async remove(thread: string): Promise<void> {
    if (this.isBusy(thread)) throw atWork(thread);
    await this.#inTurn(thread, async (queue) => {
      if (queue.isAtWork) throw atWork(thread);
      const owner = (await this.ledger.thread(thread))?.owner;
      // First: it is refused for a thread that another process runs.
      await this.checkpointer.deleteThread(thread);
      await forgetThread(this.schedules, thread);
      await this.ledger.forget(thread);
      queue.protocol.close();
      this.#queues.delete(thread);
      for (const run of queue.waiting) this.#drop(run);
      for (const run of this.#later) if (run.thread === thread) this.#drop(run);
      this.events.push({ kind: "removed", thread, owner });
    });
  }

  isReady(): boolean {
    return !this.#isStopping;
  }

  async recover(): Promise<void> {
    await this.#takeUp((await this.ledger.unfinished()).filter((run) => !isForLater(run)));
    await deliverKept(this);
    void this.#lookAgain();
  }

  async #lookAgain(): Promise<void> {
    await this.look().catch((error: unknown) => this.#warn(error));
    if (!this.#isStopping) this.#clock = setTimeout(() => void this.#lookAgain(), LOOK_MS).unref();
  }

  /** Starts what has become due, here or in a process that has died. The host calls it every second. */
  async look(): Promise<void> {
    const now = Date.now();
    const heldIds = new Set(this.#held);
    this.#held.clear();
    if (heldIds.size > 0)
      await this.#takeUp((await this.ledger.unfinished()).filter(({ id }) => heldIds.has(id)));
    const later = (await this.ledger.forLater()).filter((run) => dueTime(run) <= now);
    await this.#takeUp(later);
    const waitingIds = new Set(later.map(({ id }) => id));
    for (const run of this.#later) {
      // Another server has started it, or it was deleted.
      if (dueTime(run.record) <= now && !waitingIds.has(run.id)) this.#drop(run);
    }
    for (const [thread, queue] of this.#queues) await this.#releaseWaiting(thread, queue);
    const due = await this.schedules.due((error) => this.#warn(error));
    await Promise.all(due.map((one) => this.#startDue(one).catch((error: unknown) => this.#warn(error))));
  }

  /** Finds out whether a run has to wait for the answer to a question that this process did not see. */
  async #findQuestion(queue: ThreadQueue, { thread, request }: RunRecord): Promise<void> {
    if (queue.active || (request as RunRequest).waitsForAnswer !== true) return;
    queue.isAsking = await isAsking(this.checkpointer, thread);
  }

  /** Starts runs that waited for an answer, once the question was answered elsewhere or taken back. */
  async #releaseWaiting(thread: string, queue: ThreadQueue): Promise<void> {
    const isIdle = (): boolean => !queue.isBusy && queue.waiting.length > 0;
    if (!isIdle() || (await this.#isHeldElsewhere(queue, thread))) return;
    if ((await isAsking(this.checkpointer, thread)) || !isIdle()) return;
    queue.isAsking = false;
    void this.#work(thread);
  }

  /** Forgets a run that another process does. */
  #drop(run: Run): void {
    this.#later.delete(run);
    this.#runs.delete(run.id);
    run.end();
  }

  /** Starts the run of a due schedule. A failure is retried until the schedule's moment has passed. */
  async #startDue({ schedule, moment }: Due): Promise<void> {
    const { request, thread = crypto.randomUUID() } = schedule;
    if (!this.#canBegin(request)) return;
    const record = this.#newRecord(thread, { ...request, strategy: "enqueue" });
    const note = { ...ownerFor(schedule), graph: request.graph };
    await this.#inTurn(thread, async (queue) => {
      const noted = await this.#noteThread(thread, note, record, moment);
      if (noted && (await this.#isHeldElsewhere(queue, thread))) this.#held.add(record.id);
      else if (noted) this.#enqueue(record, noted);
    });
  }

  /** Queues runs of the ledger. A run whose thread another process holds is checked again later. */
  async #takeUp(runs: readonly RunRecord[]): Promise<void> {
    for (const run of runs) {
      if (!this.#canBegin(run.request as RunRequest)) continue;
      const { thread } = run;
      await this.#inTurn(thread, async (queue) => {
        const isHeld = await this.#isHeldElsewhere(queue, thread);
        const record = isHeld ? undefined : await this.#claim(run);
        await this.#findQuestion(queue, run);
        if (record) this.#enqueue(record, await this.ledger.thread(thread));
        else if (isHeld && !isForLater(run)) this.#held.add(run.id);
      }).catch((error: unknown) => this.#warn(error));
    }
  }

  /** False for a graph that only another server has. */
  #canBegin({ graph }: RunRequest): boolean {
    return !this.#isStopping && this.graphs.has(graph);
  }

  /** Claims a run of the ledger for this server. Returns undefined if another has taken it. */
  #claim(run: RunRecord): Promise<RunRecord | undefined> {
    return this.ledger.changeRun(run.id, (now) => {
      if (now.updatedAt !== run.updatedAt || now.status !== run.status) return undefined;
      const { delay: _, ...request } = now.request as RunRequest;
      const attempt = now.status === "running" ? now.attempt + 1 : now.attempt;
      return { ...now, request, attempt, updatedAt: Math.max(Date.now(), now.updatedAt + 1) };
    });
  }

  #warn(error: unknown): void {
    const { message } = error as Error;
    if (this.#isStopping || message === this.#warned) return;
    this.#warned = message;
    process.emitWarning(`A scheduled run could not start: ${message}`);
  }

  async #isHeldElsewhere(queue: ThreadQueue, thread: string): Promise<boolean> {
    if (queue.isAtWork) return false;
    const index = this.checkpointer as Partial<Pick<ThreadStore, "getThread">>;
    return (await index.getThread?.(thread))?.state === "running";
  }

  /** Stops every run; finished work stays, and the next process starts what is queued. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#clock);
    this.#later.clear();
    const active = [...this.#queues.values()].flatMap((queue) => queue.active ?? []);
    for (const queue of this.#queues.values()) queue.waiting = [];
    await Promise.all(
      active.map((run) => {
        run.abort();
        return run.done;
      }),
    );
    this.events.close();
    await this.#traces?.close();
  }

  async #clearTheWay(thread: string, strategy: Strategy): Promise<void> {
    if (strategy === "reject") return this.#awaitEnd(thread);
    await this.cancelAll(thread, { isRolledBack: strategy === "rollback" });
  }

  /** Waits for a run that is about to end, as a client may answer its question before that. Throws if there is more to do. */
  async #awaitEnd(thread: string): Promise<void> {
    const { active, waiting, arriving } = this.#queue(thread);
    const next = waiting.filter(({ request }) => !request.waitsForAnswer).length + arriving;
    // A temporary thread is deleted with its run.
    const isEnding = active && !active.request.isTemporary && (active.isOver || active.isAsking);
    if (!isEnding || next > 0 || !(await active.endsSoon())) throw alreadyRunning();
  }

  #enqueue(record: RunRecord, thread: HostedThread | undefined, attendance?: Attendance): Run {
    const run =
      this.#runs.get(record.id) ?? new Run(record, { host: this, owner: thread?.owner, attendance });
    run.record = record;
    run.noted = thread;
    this.#runs.set(run.id, run);
    if (isForLater(record)) {
      this.#later.add(run);
      return run;
    }
    this.#later.delete(run);
    this.#queue(run.thread, thread).waiting.push(run);
    void this.#work(run.thread);
    return run;
  }

  #queue(thread: string, { createdAt }: Partial<HostedThread> = {}): ThreadQueue {
    const queue = this.#queues.get(thread) ?? new ThreadQueue(() => this.#clear(thread));
    this.#queues.set(thread, queue);
    queue.noteCreation(createdAt);
    return queue;
  }

  /** Does the queued runs of a thread, one after the other. Never throws: a run reports its own failure. */
  async #work(thread: string): Promise<void> {
    const queue = this.#queue(thread);
    if (queue.active || this.#isStopping) return;
    for (let run = queue.next(); run; run = queue.next()) {
      queue.active = run;
      if (run.noted) this.tellThread(run.noted);
      let n = firstNumber(run.record);
      const { updatedAt: claimedAt } = run.record;
      const { isLeft } = await execute(run, {
        graph: this.graph(run.request.graph),
        chunks: { push: (chunk) => run.push(chunk, n++) },
        protocol: queue.protocol,
        emit: (event) => this.#emit(run, event),
        traces: this.#traces,
        save: async (change) => {
          run.record = { ...run.record, ...change, updatedAt: Math.max(Date.now(), claimedAt + 1) };
          // Without a base checkpoint the ledger keeps it as pending, and the next process starts it from the beginning.
          if (change.base === undefined || run.attendance) return true;
          // Another server may have claimed it before this one held its thread.
          return (await this.ledger.changeRun(run.id, ifStillAt(claimedAt, run.record))) !== undefined;
        },
        isTriedAgain: (failure) =>
          !run.attendance && isTakenByAnother(failure, { ledger: this.ledger, id: run.id, claimedAt }),
      });
      const hosted = isLeft ? undefined : await this.#saveEnd(run);
      queue.active = undefined;
      queue.isAsking = run.lastEvent?.outcome === "waiting";
      if (isLeft) this.#drop(run);
      else this.#close(run, hosted);
      if (!isLeft && run.request.isTemporary) await this.#discard(thread);
    }
  }

  /** Deletes a temporary thread; ignores failures. */
  async #discard(thread: string): Promise<void> {
    if (!this.isBusy(thread) && !this.#isStopping) await this.remove(thread).catch(() => {});
  }

  #emit(run: Run, event: RunEvent): void {
    const stamped: StampedEvent = { ...event, run: run.id };
    stamped.n = this.events.push({ kind: "run", thread: run.thread, owner: run.owner, event: stamped });
    run.live.push(stamped);
  }

  /** Saves how a run ended. Returns the record of its thread; undefined if there is none. */
  async #saveEnd(run: Run): Promise<HostedThread | undefined> {
    const { thread: id, record, isRolledBack, noted, attendance } = run;
    if (attendance) return undefined;
    const change = (saved: HostedThread | undefined): HostedThread | undefined => {
      // A thread that was rolled back to nothing can still be run.
      const before = saved ?? (isRolledBack ? noted : undefined);
      return before && { ...before, updatedAt: Date.now(), hasFailed: record.status === "error" };
    };
    try {
      return await this.ledger.changeThread(id, change, record);
    } catch {
      // For example a full disk: the next process takes the run for unfinished, and finds nothing left to do.
      return undefined;
    }
  }

  /** Publishes the end of a run. Its thread may be at the next run already. */
  #close(run: Run, thread: HostedThread | undefined): void {
    run.end();
    if (thread) this.tellThread(thread);
    this.#ended.add(run);
  }

  /** Forgets a thread without runs and readers, unless an ended run can still be read. */
  #clear(thread: string): void {
    const { protocol, waiting = [] } = this.#queues.get(thread) ?? {};
    const isUsed = this.isBusy(thread) || waiting.length > 0 || protocol?.isRead === true;
    if (!isUsed && !this.#ended.hasAny(thread)) this.#queues.delete(thread);
  }
}
