import type { MessageContent } from "@langchain/core/messages";
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import { HarnessError } from "../../errors.ts";
import type { Todo } from "../../plan/index.ts";
import type { HostedThread, Ledger } from "../../storage/index.ts";
import { editedPlan, editEvent, requestEdit, requestSay, type RequestOptions } from "../edit/index.ts";
import type { RunEventBody } from "../events/index.ts";
import type { PlanEdit } from "../plan/index.ts";
import type { RunSettings } from "../prepare/index.ts";
import type { Question } from "../questions/index.ts";
import { Thread, type ThreadContent } from "../thread/index.ts";
import { copyThread, undoLast, type UndoResult } from "../undo/index.ts";
import { checkThread, type HostedGraph } from "./graphs.ts";
import type { Run } from "./hosted-run.ts";
import { leaveMessage } from "./kept-messages.ts";
import { risingNumber, type ThreadNote } from "./records.ts";
import type { Attendance } from "./request/attendance.ts";
import type { RunRequest } from "./request/request.ts";
import type { Schedules } from "./schedules/schedule.ts";
import { EventLog } from "./stream/event-log.ts";
import type { HostEvent, StampedEvent } from "./stream/live-events.ts";
import type { ThreadEvent } from "./stream/thread-protocol.ts";

type Awaitable<T> = T | Promise<T>;

export interface StartOptions {
  note?: ThreadNote;
  /** The user at the run; only for a host that runs threads itself. */
  attendance?: Attendance;
}

export interface CancelOptions {
  /** Whether the thread returns to its state before the run. */
  isRolledBack?: boolean;
}

/** The number of host events to keep: fewer if no page has read them for a while. */
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

  /** Creates or updates the record of a thread. Throws `not-found` if it has another owner. */
  abstract noteThread(id: string, more: ThreadNote): Promise<HostedThread>;
  /** Deletes a thread. Throws `thread-busy` while it is at work. */
  abstract remove(thread: string): Promise<void>;
  /**
   * Replaces the plan of a thread by the user's list: at once, or between two steps of the run at work, in whichever
   * process. Throws what `writePlan` throws.
   */
  abstract editPlan(thread: string, edit: PlanEdit, options?: RequestOptions): Promise<Todo[]>;
  abstract removeRun(id: string): Promise<void>;
  /** A run that is at work, or was a moment ago. */
  abstract run(id: string): Awaitable<Run | undefined>;
  /** The running run of a thread. */
  abstract active(thread: string): Awaitable<Run | undefined>;
  abstract isBusy(thread: string): Awaitable<boolean>;
  /** The events of a thread's runs in LangGraph's newer protocol. */
  abstract protocol(thread: string): Awaitable<EventLog<ThreadEvent>>;
  /**
   * Starts a run, or queues it behind the runs of its thread, whose record gets `note`. Throws `thread-busy` if the
   * strategy is `reject`, and `not-found` if the thread has another owner.
   */
  abstract start(thread: string, request: RunRequest, options?: StartOptions): Promise<Run>;
  /** Stops a run. Finished work stays, unless it is rolled back. Returns whether there was something to stop. */
  abstract cancel(id: string, options?: CancelOptions): Promise<boolean>;
  /** Stops all runs of a thread. */
  abstract cancelAll(thread: string, options?: CancelOptions): Promise<boolean>;
  /** Whether it takes runs now. */
  abstract isReady(): Awaitable<boolean>;
  /** Continues the unfinished runs of killed processes, and from then on starts delayed runs when they are due. */
  abstract recover(): Promise<void>;
  /** Ends this host's part. No work is lost. */
  abstract stop(): Promise<void>;

  /** A handle of a thread, which need not exist yet. */
  thread(id: string): HostThread {
    return new HostThread(this, id);
  }

  /** Throws `invalid-request` for an unknown name. */
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

  /** The same for a record of the ledger. */
  graphName(thread: Pick<HostedThread, "graph"> | undefined): string {
    const name = thread?.graph;
    return name !== undefined && this.graphs.has(name) ? name : [...this.graphs.keys()][0]!;
  }

  /** Publishes that more of a thread is saved than its events tell. */
  async noteMove(thread: string): Promise<void> {
    const owner = await this.tellThreadId(thread);
    this.events.push({ kind: "moved", thread, owner });
  }

  /**
   * Sends a message to the agent at work on a thread, in whichever process; it reads it at its next model call. Throws
   * `run-ended` if none is at work: then the message is the next task.
   */
  async say(thread: string, content: MessageContent, options?: RequestOptions): Promise<void> {
    await requestSay(await this.thread(thread).read(), content, options);
  }

  /** Publishes that something about a thread has changed. */
  protected tellThread({ id: thread, owner }: Pick<HostedThread, "id" | "owner">): void {
    this.events.push({ kind: "thread", thread, owner });
  }

  /** Edits the plan in the store, and publishes the edit unless a run does. */
  protected async editStored(
    id: string,
    edit: PlanEdit,
    options?: RequestOptions,
    isRunning = false,
  ): Promise<Todo[]> {
    const thread = await this.thread(id).read();
    const { before, todos } = await editedPlan(thread, () => requestEdit(thread, edit, options));
    if (!isRunning) await this.#tellEdit(id, editEvent(edit, { before, todos }));
    return todos;
  }

  async #tellEdit(thread: string, body: RunEventBody): Promise<void> {
    const owner = (await this.ledger.thread(thread))?.owner;
    const event = { ...body, version: 1, at: Date.now(), thread } as StampedEvent;
    event.n = this.events.push({ kind: "run", thread, owner, event });
    await this.tellThreadId(thread);
  }

  /** Publishes that a thread has changed, and returns its owner. */
  protected async tellThreadId(thread: string): Promise<string | undefined> {
    const { owner } = (await this.ledger.thread(thread)) ?? {};
    this.tellThread({ id: thread, ...(owner !== undefined && { owner }) });
    return owner;
  }
}

export interface StartThreadOptions extends Omit<RunRequest, "graph" | "input" | "command">, StartOptions {}

/** A thread of a host, for surfaces: reading, starting runs, and commands to the run at work. */
export class HostThread {
  readonly id: string;
  readonly #host: Host;

  constructor(host: Host, id: string) {
    this.#host = host;
    this.id = id;
  }

  /** The thread, for reading, and for changes while no one runs it. */
  async read(): Promise<Thread> {
    return new Thread(await (await this.#graph()).reader(this.id), this.id);
  }

  async #graph(): Promise<HostedGraph> {
    return this.#host.graph(await this.#host.graphOf(this.id));
  }

  async plan(): Promise<Pick<ThreadContent, "todos" | "rules">> {
    return (await this.read()).plan();
  }

  async questions(): Promise<Question[]> {
    return (await this.read()).questions();
  }

  /** Starts a run with a message; null continues where the thread stopped. */
  start(message: MessageContent | null, options?: StartThreadOptions): Promise<Run> {
    const input = message === null ? null : { messages: [{ role: "user", content: message }] };
    return this.#start({ input }, options);
  }

  /** The thread, for changes. Throws `invalid-request` if it is another program's. */
  async #own(): Promise<Thread> {
    await this.checkOwn();
    return this.read();
  }

  async checkOwn(): Promise<void> {
    await checkThread(await this.#graph(), this.id);
  }

  /** Continues with what is left; undefined if the thread is finished. */
  async goOn(options?: StartThreadOptions): Promise<Run | undefined> {
    const input = await (await this.#own()).nextInput();
    return input === undefined ? undefined : this.start(input, options);
  }

  /** Continues with answers, by the ids of their questions. */
  answer(answers: Record<string, unknown>, options?: StartThreadOptions): Promise<Run> {
    return this.#start({ command: { resume: answers } }, options);
  }

  async #start(
    content: Pick<RunRequest, "input" | "command">,
    { note, attendance, ...request }: StartThreadOptions = {},
  ): Promise<Run> {
    const graph = await this.#host.graphOf(this.id);
    const options = { ...(note && { note }), attendance };
    return this.#host.start(this.id, { graph, ...request, ...content }, options);
  }

  async active(): Promise<Run | undefined> {
    return this.#host.active(this.id);
  }

  /** Sends a message to the agent at work. Throws `run-ended` if there is none. */
  say(content: MessageContent, options?: RequestOptions): Promise<void> {
    return this.#host.say(this.id, content, options);
  }

  /**
   * Stores a message for the agent at work, and returns before the agent reads it. False if none is at work: then the
   * message is the next task.
   */
  async leave(content: MessageContent): Promise<boolean> {
    await this.checkOwn();
    return leaveMessage(this.#host, this.id, content);
  }

  stop(): Promise<boolean> {
    return this.#host.cancelAll(this.id);
  }

  /** Replaces the plan by the user's list. Throws what `Thread.writePlan` throws. */
  async editPlan(edit: PlanEdit, options?: RequestOptions): Promise<Todo[]> {
    await this.checkOwn();
    return this.#host.editPlan(this.id, edit, options);
  }

  /** Removes the items that are not completed. */
  async clearPlan(options?: RequestOptions): Promise<Todo[]> {
    const { todos: base } = await this.plan();
    const todos = base.filter(({ status }) => status === "completed");
    return this.editPlan({ todos, base }, options);
  }

  /** Takes back the last message; undefined if there is none. Throws `thread-busy`. */
  async undo(): Promise<UndoResult | undefined> {
    const thread = await this.#own();
    const { run } = (await thread.state()).values as { run?: RunSettings };
    const { copies } = await this.#graph();
    const result = await undoLast(thread, copies?.(this.id, run?.dir));
    if (result) await this.#host.noteMove(this.id);
    return result;
  }

  /** Saves a new thread with its settings, so that another process can open it. */
  async create(settings: RunSettings): Promise<void> {
    await (await this.read()).create(settings);
  }

  /** Changes the settings in the thread, for its next runs. Throws `thread-busy`. */
  async changeSettings(change: Partial<RunSettings>): Promise<void> {
    await (await this.#own()).changeSettings(change);
    await this.#host.noteMove(this.id);
  }

  /** Copies the thread, up to a checkpoint, to another one. */
  async fork(
    to: string,
    { checkpoint, note }: { checkpoint?: string; note?: ThreadNote } = {},
  ): Promise<void> {
    await this.checkOwn();
    await copyThread(this.#host.checkpointer, { from: this.id, to, checkpoint });
    if (note) await this.#host.noteThread(to, note);
    await (await this.#host.thread(to).read()).noteFork();
  }
}
