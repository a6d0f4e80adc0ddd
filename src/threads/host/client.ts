import type { MessageContent } from "@langchain/core/messages";
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import { HarnessError } from "../../errors.ts";
import type { Todo } from "../../plan/index.ts";
import type { HostedThread, Ledger } from "../../storage/index.ts";
import { requestSay, type RequestOptions } from "../edit/index.ts";
import type { RunEventBody } from "../events/index.ts";
import type { PlanEdit } from "../plan/index.ts";
import type { RunSettings } from "../prepare/index.ts";
import type { Question } from "../questions/index.ts";
import { Thread, type ThreadContent } from "../thread/index.ts";
import { copyThread, undoLast, type UndoResult } from "../undo/index.ts";
import type { HostedGraph } from "./graphs.ts";
import type { Run } from "./hosted-run.ts";
import { risingNumber, type ThreadNote } from "./records.ts";
import type { Attendance } from "./request/attendance.ts";
import type { RunRequest } from "./request/request.ts";
import type { Schedules } from "./schedules/schedule.ts";
import { EventLog } from "./stream/event-log.ts";
import type { HostEvent, StampedEvent } from "./stream/live-events.ts";
import type { ThreadEvent } from "./stream/thread-protocol.ts";

/** A value of this process, or a promise for one of another. */
type Awaitable<T> = T | Promise<T>;

export interface StartOptions {
  note?: ThreadNote;
  /** The person at the run; only where the host runs threads itself. */
  attendance?: Attendance | undefined;
}

export interface CancelOptions {
  /** Whether the thread goes back to where it was before the run. */
  isRolledBack?: boolean;
}

/** The last of the host's events to keep: fewer where no page has read them for a while. */
const MOST_EVENTS = { most: 20_000, mostUnread: 1000 };

/**
 * Takes runs and lets surfaces watch them: `RunHost` runs them in this process, `ClusterHost` leaves them to workers
 * that share a database with it. One run per thread at a time. A run belongs to the host and not to the connection
 * that asked for it.
 */
export abstract class Host {
  readonly graphs: ReadonlyMap<string, HostedGraph>;
  /** All events. Numbers keep rising after a restart. */
  readonly events = new EventLog<HostEvent>({ first: risingNumber(), ...MOST_EVENTS });
  abstract readonly checkpointer: BaseCheckpointSaver;
  abstract readonly ledger: Ledger;
  abstract readonly schedules: Schedules;
  /** Metrics of all workers in Prometheus' text format; only on a cluster. */
  readonly metrics?: () => Promise<string>;

  constructor(graphs: ReadonlyMap<string, HostedGraph>) {
    this.graphs = graphs;
  }

  /** Makes a thread known, or adds to what is known of it. Throws `not-found` where it has another owner. */
  abstract noteThread(id: string, more: ThreadNote): Promise<HostedThread>;
  /** Deletes a thread. Throws `thread-busy` while it is at work. */
  abstract remove(thread: string): Promise<void>;
  /**
   * Puts a person's list in the place of a thread's plan: at once, or between two steps of the run at work, in whichever
   * process that is. Throws what `writePlan` throws.
   */
  abstract editPlan(thread: string, edit: PlanEdit, options?: RequestOptions): Promise<Todo[]>;
  abstract removeRun(id: string): Promise<void>;
  /** A run that is at work, or was a moment ago. */
  abstract run(id: string): Awaitable<Run | undefined>;
  /** The run that a thread is at, if it is at any. */
  abstract active(thread: string): Awaitable<Run | undefined>;
  abstract isBusy(thread: string): Awaitable<boolean>;
  /** The events of a thread's runs in LangGraph's newer protocol. */
  abstract protocol(thread: string): Awaitable<EventLog<ThreadEvent>>;
  /**
   * Begins a run, or puts it behind those that its thread is at, of which `note` is said. Throws `thread-busy` where
   * that was asked for, and `not-found` where the thread has another owner.
   */
  abstract start(thread: string, request: RunRequest, options?: StartOptions): Promise<Run>;
  /** Stops a run. What has finished stays, unless it is rolled back. Returns whether there was something to stop. */
  abstract cancel(id: string, options?: CancelOptions): Promise<boolean>;
  /** Stops everything of a thread. */
  abstract cancelAll(thread: string, options?: CancelOptions): Promise<boolean>;
  /** Whether it takes runs now. */
  abstract isReady(): Awaitable<boolean>;
  /** Goes on with what a killed process left unfinished, and begins what is for later when its time has come. */
  abstract recover(): Promise<void>;
  /** Ends its part, where nothing is lost. */
  abstract stop(): Promise<void>;

  /** A thread to talk to, whether or not it is there yet. */
  thread(id: string): HostThread {
    return new HostThread(this, id);
  }

  /** Throws `invalid-request` where there is none of this name. */
  graph(name: string): HostedGraph {
    const graph = this.graphs.get(name);
    if (graph) return graph;
    const names = [...this.graphs.keys()].join(", ");
    const message = `There is no graph ${JSON.stringify(name)}; there are: ${names}.`;
    throw new HarnessError("invalid-request", message);
  }

  /** The name of the graph that runs a thread. */
  async graphOf(thread: string): Promise<string> {
    return this.graphName(await this.ledger.thread(thread));
  }

  /** The same, where it is known already what the ledger says. */
  graphName(thread: Pick<HostedThread, "graph"> | undefined): string {
    const name = thread?.graph;
    return name !== undefined && this.graphs.has(name) ? name : [...this.graphs.keys()][0]!;
  }

  /** Tells everybody that a thread has gone on in another process. */
  async noteMove(thread: string): Promise<void> {
    const owner = await this.#tellOwner(thread);
    this.events.push({ kind: "moved", thread, owner });
  }

  /**
   * Gives a message to the agent at work on a thread, in whichever process; it reads it at its next call. Throws
   * `run-ended` where none is: then the message is the next task.
   */
  async say(thread: string, content: MessageContent, options?: RequestOptions): Promise<void> {
    await requestSay(await this.thread(thread).read(), content, options);
  }

  /** Tells everybody that something about a thread has changed. */
  protected tellThread({ id: thread, owner }: Pick<HostedThread, "id" | "owner">): void {
    this.events.push({ kind: "thread", thread, owner });
  }

  /** Publishes an edit that was made while no run was at work. */
  protected async tellEdit(thread: string, news: RunEventBody): Promise<void> {
    const owner = (await this.ledger.thread(thread))?.owner;
    const event = { ...news, version: 1, at: Date.now(), thread } as StampedEvent;
    event.n = this.events.push({ kind: "run", thread, owner, event });
    await this.#tellOwner(thread);
  }

  async #tellOwner(thread: string): Promise<string | undefined> {
    const { owner } = (await this.ledger.thread(thread)) ?? {};
    this.tellThread({ id: thread, ...(owner !== undefined && { owner }) });
    return owner;
  }
}

export interface StartThreadOptions extends Omit<RunRequest, "graph" | "input" | "command">, StartOptions {}

/** A thread of a host: surfaces read it, start runs in it, and send commands to the run at work. */
export class HostThread {
  readonly id: string;
  readonly #host: Host;

  constructor(host: Host, id: string) {
    this.#host = host;
    this.id = id;
  }

  /** The thread to read, and to change while nobody runs it. */
  async read(): Promise<Thread> {
    const graph = this.#host.graph(await this.#host.graphOf(this.id));
    return new Thread(await graph.reader(this.id), this.id);
  }

  async plan(): Promise<Pick<ThreadContent, "todos" | "rules">> {
    return (await this.read()).plan();
  }

  async questions(): Promise<Question[]> {
    return (await this.read()).questions();
  }

  /** Begins a run with a message; null continues where the thread stopped. */
  start(message: MessageContent | null, options?: StartThreadOptions): Promise<Run> {
    const input = message === null ? null : { messages: [{ role: "user", content: message }] };
    return this.#start({ input }, options);
  }

  /** The thread to change, where its graph is this host's. Throws `invalid-request` where it is another program's. */
  async #own(): Promise<Thread> {
    await this.checkOwn();
    return this.read();
  }

  async checkOwn(): Promise<void> {
    await this.#host.graph(await this.#host.graphOf(this.id)).checkThread?.(this.id);
  }

  /** Continues with what is left; undefined where the thread is finished. */
  async goOn(options?: StartThreadOptions): Promise<Run | undefined> {
    const words = await (await this.#own()).nextInput();
    return words === undefined ? undefined : this.start(words, options);
  }

  /** Continues with answers, by the ids of their questions. */
  answer(answers: Record<string, unknown>, options?: StartThreadOptions): Promise<Run> {
    return this.#start({ command: { resume: answers } }, options);
  }

  async #start(
    what: Pick<RunRequest, "input" | "command">,
    { note, attendance, ...request }: StartThreadOptions = {},
  ): Promise<Run> {
    const graph = await this.#host.graphOf(this.id);
    const started = { ...(note && { note }), attendance };
    return this.#host.start(this.id, { graph, ...request, ...what }, started);
  }

  /** The run that the thread is at. */
  async active(): Promise<Run | undefined> {
    return this.#host.active(this.id);
  }

  /** Gives a message to the agent at work. Throws `run-ended` where none is. */
  say(content: MessageContent, options?: RequestOptions): Promise<void> {
    return this.#host.say(this.id, content, options);
  }

  /** Stops everything that the thread is at. */
  stop(): Promise<boolean> {
    return this.#host.cancelAll(this.id);
  }

  /** Puts a person's list in the place of the plan. Throws what `Thread.writePlan` throws. */
  async editPlan(edit: PlanEdit, options?: RequestOptions): Promise<Todo[]> {
    await this.checkOwn();
    return this.#host.editPlan(this.id, edit, options);
  }

  /** Takes off the plan what is not done. */
  async clearPlan(options?: RequestOptions): Promise<Todo[]> {
    const { todos: base } = await this.plan();
    const todos = base.filter(({ status }) => status === "completed");
    return this.editPlan({ todos, base }, options);
  }

  /** Takes back the last message; undefined where there is none. Throws `thread-busy`. */
  async undo(): Promise<UndoResult | undefined> {
    const thread = await this.#own();
    const { run } = (await thread.state()).values as { run?: RunSettings };
    const graph = this.#host.graph(await this.#host.graphOf(this.id));
    const undone = await undoLast(thread, graph.copies?.(this.id, run?.dir));
    if (undone) await this.#host.noteMove(this.id);
    return undone;
  }

  /** Saves a new thread with its settings, for another process to open. */
  async create(settings: RunSettings): Promise<void> {
    await (await this.read()).create(settings);
  }

  /** Changes settings that the thread keeps, from its next run on. Throws `thread-busy`. */
  async changeSettings(change: Partial<RunSettings>): Promise<void> {
    await (await this.#own()).changeSettings(change);
    await this.#host.noteMove(this.id);
  }

  /** Copies the thread, up to a checkpoint, to another one. */
  async fork(
    to: string,
    { checkpoint, note }: { checkpoint?: string | undefined; note?: ThreadNote } = {},
  ): Promise<void> {
    await this.checkOwn();
    await copyThread(this.#host.checkpointer, { from: this.id, to, checkpoint });
    if (note) await this.#host.noteThread(to, note);
    await (await this.#host.thread(to).read()).noteFork();
  }
}
