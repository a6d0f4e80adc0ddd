import type { MessageContent } from "@langchain/core/messages";
import type { RunControl } from "@langchain/langgraph";
import { HarnessError } from "../../errors.ts";
import type { Todo } from "../../plan/index.ts";
import type { PlanEdit } from "./merged-plan.ts";

/** Gets the plan that is about to be written, and may throw to call the edit off. */
export type BeginEdit = (todos: readonly Todo[]) => void | Promise<void>;

/** Carries out edits and messages while no step runs. */
interface Hands {
  write: (edit: PlanEdit, begin: BeginEdit | undefined) => Promise<Todo[]>;
  say: (message: Said, begin: (() => Promise<void>) | undefined) => Promise<void>;
  /** Gives words to the sub-agent at work that they are for, at once; false where they are for none. */
  sayToHelper: (content: MessageContent) => boolean;
}

/** A person's message to the agent at work. */
export interface Said {
  id: string;
  content: MessageContent;
}

interface SayOptions {
  id?: string;
  begin?: () => Promise<void>;
}

interface Waiting {
  make: (hands: Hands) => Promise<void>;
  reject: (error: unknown) => void;
}

/**
 * People's plan edits and messages to the agent of a running thread. Make one for each run, give it to `runThread`,
 * and submit at any time: each takes effect between two steps, and the model reads it at its next call. Plans of
 * working sub-agents cannot be edited.
 */
export class PlanEdits {
  #waiting: Waiting[] = [];
  #hands: Hands | undefined;
  #control: RunControl | undefined;
  #isInStep = false;
  #isLeaving = false;
  #isOver = false;
  #work: Promise<void> = Promise.resolve();

  /**
   * Resolves to the plan with the edit in it. Rejects, and leaves the plan and the run as they are, with the errors of
   * `writePlan`, and with `run-ended` after the run: then `writePlan` itself is the way.
   */
  submit(edit: PlanEdit, begin?: BeginEdit): Promise<Todo[]> {
    return this.#queue(({ write }) => write(edit, begin));
  }

  /**
   * Tells the agent something, or the sub-agent at work that it begins with (`@title …`). Resolves when it is in the thread, behind the results of the turn, and rejects with
   * `run-ended` where the model is not called again: then it is the next task. The same `id` is said once. `begin` is
   * called before, and may throw to call it off.
   */
  async say(content: MessageContent, { id = crypto.randomUUID(), begin }: SayOptions = {}): Promise<void> {
    if (this.#hands?.sayToHelper(content)) return;
    return this.#queue(({ say }) => say({ id, content }, begin));
  }

  #queue<T>(work: (hands: Hands) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const make = async (hands: Hands): Promise<void> => resolve(await work(hands));
      this.#waiting.push({ make, reject });
      if (!this.#control) void this.settle();
      else if (this.#isInStep) this.#control.requestDrain("edit");
    });
  }

  /** Asks the run to stop at the end of the step that is under way; another process goes on from there. */
  leave(): void {
    this.#isLeaving = true;
    if (this.#isInStep) this.#control?.requestDrain("leave");
  }

  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** @internal The run begins: what waits is made by these hands from now on. */
  open(hands: Hands): void {
    this.#hands = hands;
    void this.settle();
  }

  /** @internal Steps are about to run, which `control` can ask to stop. */
  async enter(control: RunControl): Promise<void> {
    for (let work: unknown; work !== this.#work;) {
      work = this.#work;
      await work;
    }
    this.#control = control;
  }

  /** @internal A step is under way. Before the first one a run that stops would lose the answers it goes on with. */
  noteStep(): void {
    if (!this.#control || this.#isInStep) return;
    this.#isInStep = true;
    if (this.#waiting.length > 0 || this.#isLeaving) this.#control.requestDrain("edit");
  }

  /** @internal No step runs. */
  exit(): void {
    this.#control = undefined;
    this.#isInStep = false;
  }

  /** @internal Makes the edits that wait, each once. One that the turn is in the way of waits for its end. */
  settle(): Promise<void> {
    this.#work = this.#work.then(() => this.#tryAll());
    return this.#work;
  }

  /** @internal The run is over: whatever waits is made now, or refused. */
  async close(): Promise<void> {
    this.#isOver = true;
    await this.settle();
    this.#hands = undefined;
  }

  async #tryAll(): Promise<void> {
    // Those that come before the run begins wait for it.
    if (!this.#hands && !this.#isOver) return;
    const later: Waiting[] = [];
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      try {
        if (!this.#hands) throw ended();
        await next.make(this.#hands);
      } catch (error) {
        if (!this.#isOver && HarnessError.from(error)?.code === "turn-unfinished") later.push(next);
        else next.reject(error);
      }
    }
    this.#waiting = later;
  }
}

function ended(): HarnessError {
  return new HarnessError("run-ended", "The run has ended: nothing was changed. Change it in the thread.");
}
