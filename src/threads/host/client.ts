import type { MessageContent } from "@langchain/core/messages";
import type { Todo } from "../../plan/index.ts";
import type { RequestOptions } from "../edit/mailbox.ts";
import type { RunEvent } from "../events/events.ts";
import type { Question } from "../events/questions.ts";
import type { PlanEdit } from "../plan/merged-plan.ts";
import type { RunSettings } from "../prepare/settings.ts";
import { Thread, type ThreadContent } from "../thread/thread.ts";
import { copyThread } from "../undo/copy-thread.ts";
import { undoLast, type Undone } from "../undo/undo-last.ts";
import type { HostedRun } from "./hosted-run.ts";
import type { HostEvent, HostPort, StartOptions, ThreadNote } from "./port.ts";
import type { RunRequest } from "./request/request.ts";
import type { Entry } from "./stream/event-log.ts";
import type { StampedEvent } from "./stream/live-events.ts";

/** A host as surfaces use it. */
export interface Host extends HostPort {
  /** A thread to talk to, whether or not it is there yet. */
  thread: (id: string) => HostThread;
}

export interface StartThreadOptions extends Omit<RunRequest, "graph" | "input" | "command">, StartOptions {}

/** A thread of a host: surfaces read it, start runs in it, and send commands to the run at work. */
export class HostThread {
  readonly id: string;
  readonly #host: HostPort;

  constructor(host: HostPort, id: string) {
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

  /** Continues with what is left; undefined where the thread is finished. */
  async goOn(options?: StartThreadOptions): Promise<Run | undefined> {
    const words = await (await this.read()).nextInput();
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
    return new Run(this.#host, await this.#host.start(this.id, { graph, ...request, ...what }, started));
  }

  /** The run that the thread is at. */
  async active(): Promise<Run | undefined> {
    const active = await this.#host.active(this.id);
    return active && new Run(this.#host, active);
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
  editPlan(edit: PlanEdit, options?: RequestOptions): Promise<Todo[]> {
    return this.#host.editPlan(this.id, edit, options);
  }

  /** Takes off the plan what is not done. */
  async clearPlan(options?: RequestOptions): Promise<Todo[]> {
    const { todos: base } = await this.plan();
    const todos = base.filter(({ status }) => status === "completed");
    return this.editPlan({ todos, base }, options);
  }

  /** Takes back the last message; undefined where there is none. Throws `thread-busy`. */
  async undo(): Promise<Undone | undefined> {
    const thread = await this.read();
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
    await (await this.read()).changeSettings(change);
    await this.#host.noteMove(this.id);
  }

  /** Copies the thread, up to a checkpoint, to another one. */
  async fork(
    to: string,
    { checkpoint, note }: { checkpoint?: string | undefined; note?: ThreadNote } = {},
  ): Promise<void> {
    await copyThread(this.#host.checkpointer, { from: this.id, to, checkpoint });
    if (note) await this.#host.noteThread(to, note);
  }
}

type RunEnd = Extract<RunEvent, { type: "run-end" }>;

/** A run as surfaces see it, in whichever process it works. */
export class Run {
  readonly #host: HostPort;
  readonly #hosted: HostedRun;

  constructor(host: HostPort, hosted: HostedRun) {
    this.#host = host;
    this.#hosted = hosted;
  }

  get id(): string {
    return this.#hosted.id;
  }

  get thread(): string {
    return this.#hosted.thread;
  }

  get isOver(): boolean {
    return this.#hosted.isOver;
  }

  /** Whether it waits for a person. */
  get hasAsked(): boolean {
    return this.#hosted.hasAsked;
  }

  /** Resolves when the run has ended, however it ended. */
  get done(): Promise<void> {
    return this.#hosted.done;
  }

  /** Gives the agent a message, which it reads at its next call. Throws `run-ended` where none comes. */
  say(content: MessageContent): Promise<void> {
    return this.#host.say(this.thread, content);
  }

  /** Stops the run; finished work stays. Returns whether there was something to stop. */
  stop(): Promise<boolean> {
    return this.#host.cancel(this.id);
  }

  /** Shows whoever attends the run a notice. */
  notify(text: string): void {
    this.#hosted.notify(text);
  }

  /** The last event; undefined before it, and where the run was stopped before it began. */
  get end(): RunEnd | undefined {
    return this.#hosted.live.all().findLast((event) => event.type === "run-end");
  }

  /** Resolves to the last event. Throws what kept an attended run from beginning. */
  async ended(): Promise<RunEnd | undefined> {
    await this.done;
    if (this.#hosted.failure !== undefined) throw this.#hosted.failure;
    return this.end;
  }

  /** Gives the events after a number: those so far, then those to come, until the run has ended. */
  async *events(after = 0, signal?: AbortSignal): AsyncGenerator<StampedEvent, void> {
    const { events } = this.#host;
    let at = events.last;
    yield* this.#hosted.live.all().filter(({ n = 0 }) => n > after);
    const over = new AbortController();
    void this.done.then(() => over.abort());
    const until = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
    for await (const entries of events.read(at, { signal: until })) {
      yield* this.#own(entries);
      at = entries.at(-1)!.n;
    }
    // The end of the run may come before its last events are read.
    if (signal?.aborted !== true) yield* this.#own(events.since(at));
  }

  #own(entries: readonly Entry<HostEvent>[]): StampedEvent[] {
    return entries.flatMap((entry) =>
      "event" in entry && entry.event.kind === "run" && entry.event.event.run === this.id
        ? [entry.event.event]
        : [],
    );
  }
}
