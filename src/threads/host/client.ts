import type { MessageContent } from "@langchain/core/messages";
import type { Todo } from "../../plan/index.ts";
import type { RequestOptions } from "../edit/mailbox.ts";
import type { Question } from "../events/questions.ts";
import type { PlanEdit } from "../plan/merged-plan.ts";
import type { RunSettings } from "../prepare/settings.ts";
import { Thread, type ThreadContent } from "../thread/thread.ts";
import { copyThread } from "../undo/copy-thread.ts";
import { undoLast, type Undone } from "../undo/undo-last.ts";
import type { Run } from "./hosted-run.ts";
import type { HostPort, StartOptions, ThreadNote } from "./port.ts";
import type { RunRequest } from "./request/request.ts";

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
  async undo(): Promise<Undone | undefined> {
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
    await (await new HostThread(this.#host, to).read()).noteFork();
  }
}
