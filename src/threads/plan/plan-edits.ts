import type { MessageContent } from "@langchain/core/messages";
import type { RunControl } from "@langchain/langgraph";
import { HarnessError } from "../../errors.ts";
import type { Todo } from "../../plan/index.ts";
import type { PlanEdit } from "./merged-plan.ts";

/** Called with the plan before it is written; may throw to cancel the edit. */
export type BeginEdit = (todos: readonly Todo[]) => void | Promise<void>;

/** Carries out edits and messages while no step runs. */
interface Executor {
  write: (edit: PlanEdit, begin: BeginEdit | undefined) => Promise<Todo[]>;
  say: (message: Said, begin: (() => Promise<void>) | undefined) => Promise<void>;
  /** Sends a message to the running sub-agent that it names, at once; false if it names none. */
  sayToHelper: (content: MessageContent) => boolean;
}

/** The user's message to the agent at work. */
export interface Said {
  id: string;
  content: MessageContent;
}

interface SayOptions {
  id?: string;
  begin?: () => Promise<void>;
}

interface Waiting {
  make: (executor: Executor) => Promise<void>;
  reject: (error: unknown) => void;
}

/**
 * Users' plan edits and messages to the agent of a running thread. Create one for each run, pass it to `runThread`, and
 * submit at any time: each takes effect between two steps, and the model reads it at its next call. Plans of running
 * sub-agents cannot be edited.
 */
export class PlanEdits {
  /** Whether the run is to stop at the end of the current step. */
  isLeaving = false;
  #waiting: Waiting[] = [];
  #executor: Executor | undefined;
  #control: RunControl | undefined;
  #isInStep = false;
  #isOver = false;
  #work: Promise<void> = Promise.resolve();

  /**
   * Resolves to the edited plan. Rejects with the errors of `writePlan`, and with `run-ended` after the run: use `writePlan`
   * then. A rejection changes nothing.
   */
  submit(edit: PlanEdit, begin?: BeginEdit): Promise<Todo[]> {
    return this.#queue(({ write }) => write(edit, begin));
  }

  /**
   * Sends a message to the agent, or to the running sub-agent that it starts with (`@title …`). Resolves when the message is
   * in the thread, behind the results of the turn. Rejects with `run-ended` if no model call follows: then it is the next
   * task. A repeated `id` is sent once. `begin` is called before, and may throw to cancel.
   */
  async say(content: MessageContent, { id = crypto.randomUUID(), begin }: SayOptions = {}): Promise<void> {
    if (this.#executor?.sayToHelper(content)) return;
    return this.#queue(({ say }) => say({ id, content }, begin));
  }

  #queue<T>(work: (executor: Executor) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const make = async (executor: Executor): Promise<void> => resolve(await work(executor));
      this.#waiting.push({ make, reject });
      if (!this.#control) void this.settle();
      else if (this.#isInStep) this.#control.requestDrain("edit");
    });
  }

  /** Asks the run to stop at the end of the current step; another process continues from there. */
  leave(): void {
    this.isLeaving = true;
    if (this.#isInStep) this.#control?.requestDrain("leave");
  }

  /** @internal Call at the start of the run: `executor` carries out what waits and what comes. */
  open(executor: Executor): void {
    this.#executor = executor;
    void this.settle();
  }

  /** @internal Call before steps run, which `control` can stop. */
  async enter(control: RunControl): Promise<void> {
    for (let work: unknown; work !== this.#work;) {
      work = this.#work;
      await work;
    }
    this.#control = control;
  }

  /** @internal Call when a step runs. A stop before the first one would lose the answers that the run continues with. */
  noteStep(): void {
    if (!this.#control || this.#isInStep) return;
    this.#isInStep = true;
    if (this.#waiting.length > 0 || this.isLeaving) this.#control.requestDrain("edit");
  }

  /** @internal Call when no more steps run. */
  exit(): void {
    this.#control = undefined;
    this.#isInStep = false;
  }

  /** @internal Carries out what waits, each once. An edit that conflicts with the current turn waits for its end. */
  settle(): Promise<void> {
    this.#work = this.#work.then(() => this.#tryAll());
    return this.#work;
  }

  /** @internal Call at the end of the run: what waits is carried out now, or refused. */
  async close(): Promise<void> {
    this.#isOver = true;
    await this.settle();
    this.#executor = undefined;
  }

  async #tryAll(): Promise<void> {
    // Requests before the start of the run wait for it.
    if (!this.#executor && !this.#isOver) return;
    const later: Waiting[] = [];
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      try {
        if (!this.#executor) {
          throw new HarnessError(
            "run-ended",
            "The run has ended: nothing was changed. Change it in the thread.",
          );
        }
        await next.make(this.#executor);
      } catch (error) {
        if (!this.#isOver && HarnessError.from(error)?.code === "turn-unfinished") later.push(next);
        else next.reject(error);
      }
    }
    this.#waiting = later;
  }
}
